"""Two thousand hostile strings in every displayed field of the command line: none is interpreted."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headcount.cli.commands import claims, doctor, show, status, whoami
from headcount.cli.doctor.findings import Finding
from headcount.present import event_lines, explanation, holders, session_words, table
from headcount.present.screen import Screen
from tests.present.sample_rows import NOW, SCREEN, at
from tests.present.sample_rows import session as a_session
from tests.rig.agents.commands_inside import command, environment
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.security.hostile_strings import COUNT, FAMILIES, filled, hostile, traces, word_of

PIPE = Screen(columns=None, colour=False, unicode=True)
NARROW = Screen(columns=80, colour=False, unicode=True)
TAME = "w0000"

ROW: dict[str, Any] = {
    **a_session(),
    **{name: "x" for name in ("conversation", "doing", "name", "role", "cwd", "title", "model", "where", "repo",
                              "branch", "entrypoint", "permission_mode", "parent", "predecessor", "failure",
                              "waiting_on", "resume")},
    "groups": ["x"], "claims": ["x"], "alarms": ["x"], "background": [{"id": "x", "kind": "x", "label": "x"}],
}  # fmt: skip
ENDED = {**ROW, "liveness": "ended", "ended": {"at": "x", "because": "x", "kind": "x", "exit_code": None,
                                               "signal": None, "away": False, "successor": "x"}}  # fmt: skip
LINE = {"says": "x", "because": "x", "source": "x", "at": "x", "stands": False, "why_not": "x"}
BELIEF = {"value": "x", "because": "x", "source": "x", "at": "x", "evidence": [LINE]}
EXPLANATION = {"session": ROW, "liveness": BELIEF, "activity": BELIEF, "binding": BELIEF, "agree": False,
               "would_change": ["x"]}  # fmt: skip
CLAIM = {"item": "x", "fence": 1, "holder": {"session": "x", "conversation": "x", "pid": 1, "name": "x"},
         "since": "x", "note": "x"}  # fmt: skip
ME = {"kind": "x", "session": "x", "agent": "x", "conversation": "x", "pid": 1, "resolved_by": "x", "name": "x",
      "role": "x", "groups": ["x"], "above": ["x"], "rungs": [{"rung": "x", "taken": True, "why": "x", "session": "x"}]}  # fmt: skip
STATUS = {"pid": 1, "version": "x", "uptime_s": 1.0, "socket": "x", "mailbox": "x", "url": "x", "sessions": 1,
          "counts": {"x": 1}, "processes": "x", "watched": 1, "polled": 1, "store": {"path": "x"}, "warnings": ["x"]}  # fmt: skip


def kept(row: dict[str, Any], string: str, *fixed: str) -> dict[str, Any]:
    """Every field hostile but those that choose how a row is drawn."""
    return {**filled(row, string), **{name: row[name] for name in fixed}}


def told(kind: str, string: str, row: dict[str, Any]) -> list[str]:
    event = {"type": kind, "at": "x", "seq": 1, "session": row, **filled(CLAIM, string), "because": string}
    return event_lines.lines_of(event, PIPE, NOW)


DRAWINGS: dict[str, Callable[[str], list[str]]] = {
    "ps, a pipe": lambda s: table.draw(session_words.rows_of([kept(ROW, s, "liveness", "activity", "id")], NOW), PIPE),
    "ps, 80 columns": lambda s: table.draw(session_words.rows_of([kept(ROW, s, "liveness", "id")], NOW), NARROW),
    "ps, ended": lambda s: table.draw(session_words.rows_of([kept(ENDED, s, "liveness")], NOW), PIPE),
    "ps, all hostile": lambda s: table.draw(session_words.rows_of([filled(ROW, s)], NOW), PIPE),
    "show": lambda s: show.lines_of(filled(ROW, s), NOW),
    "show, ended": lambda s: show.lines_of(kept(ENDED, s, "liveness"), NOW),
    "explain": lambda s: explanation.lines_of(filled(EXPLANATION, s), NOW),
    "watch, started": lambda s: told("session.started", s, kept(ROW, s, "liveness")),
    "watch, activity": lambda s: told("session.activity", s, kept(ROW, s, "liveness")),
    "watch, ended": lambda s: told("session.ended", s, kept(ENDED, s, "liveness")),
    "watch, a claim": lambda s: told("claim.granted", s, filled(ROW, s)),
    "watch, a release": lambda s: told("claim.released", s, filled(ROW, s)),
    "watch, unknown": lambda s: event_lines.lines_of({"type": s, "facts": {"because": s}}, PIPE, NOW),
    "claims": lambda s: claims.table([filled(CLAIM, s)], {s: s}, NOW, NARROW),
    "claims, a pipe": lambda s: claims.table([filled(CLAIM, s)], {}, NOW, PIPE),
    "claims, history": lambda s: claims.history_lines({"item": s, "history": []}, s, NOW),
    "a refusal": lambda s: [holders.name_of(filled(CLAIM["holder"], s)), holders.waiting(s), holders.since(s),
                            holders.state_of({"liveness": s, "activity": s})],
    "whoami": lambda s: whoami.lines_of(filled(ME, s), explain=True),
    "status": lambda s: status.lines_of({**filled(STATUS, s), "counts": {s: 1}}),
    "doctor": lambda s: doctor.lines_of([Finding("x", "finding", s, s)], PIPE),
}  # fmt: skip


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_no_hostile_string_is_interpreted_or_makes_a_line_of_its_own(drawing: str) -> None:
    draw = DRAWINGS[drawing]
    tame = len(draw(TAME))
    for string in hostile():
        lines = draw(string)
        assert traces("\n".join(lines)) == [] and not any("\n" in line for line in lines), repr(string)
        assert len(lines) == tame, repr(string)


def test_the_naive_way_is_caught_by_the_same_look() -> None:
    fooled = [string for string in hostile() if traces(f"{string}")]
    assert len(fooled) > COUNT / 3


def test_the_corpus_is_as_large_as_it_says_with_every_payload_of_every_family() -> None:
    strings = hostile()
    assert len(set(strings)) == COUNT
    assert all(any(each in string for string in strings) for family in FAMILIES.values() for each in family)
    assert len({word_of(string) for string in strings}) == COUNT


def test_the_documented_screen_is_left_as_it_is() -> None:
    assert traces("\n".join(table.draw(session_words.rows_of(SCREEN, NOW), PIPE))) == []
    assert at(0)


def test_hostile_reports_of_a_real_agent_are_shown_and_obeyed_by_nobody(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    one = agent()
    one.hook(daemon.mailbox, "SessionStart", source="startup")
    sample = [each for each in hostile() if "\x00" not in each][::50]
    for string in sample:
        text = string.encode("utf-8", "replace").decode()
        one.hook(daemon.mailbox, "PreToolUse", tool_name="Bash", tool_use_id=word_of(string), tool_input={"command": text})  # fmt: skip
    last = word_of(sample[-1])
    row = eventually(lambda: next((r for r in daemon.sessions(conversation=one.conversation) if last in str(r["doing"])), None))  # fmt: skip
    for words in (["ps"], ["show", row["id"]], ["explain", row["id"]], ["log"], ["ps", "--json"]):
        done = subprocess.run(command(*words), env=environment(daemon), capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        out = done.stdout.decode()
        assert traces(out) == [], words
        if "--json" in words:
            assert json.loads(out)["sessions"]
