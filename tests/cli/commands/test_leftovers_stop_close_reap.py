"""leftovers, reap, stop and close: the words that people read."""

from typing import Any

import pytest

from headcount.cli.actions import confirm_and_request
from headcount.cli.commands import close, reap
from headcount.present import event_lines
from headcount.present import leftovers as present_leftovers
from headcount.present.screen import Screen
from tests.rig.agents.callers import bare
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import Make, seated
from tests.rig.leftovers.leave_processes import left_by

PIPE = Screen(columns=None, colour=False, unicode=True)
MB = 1024 * 1024
LEFT = {"session": "02b7aa", "what": "node vite", "leftover": "l1"}


def row(**more: Any) -> dict[str, Any]:
    given = {
        "id": "l1", "kind": "process", "session": "02b7aa", "pid": 41377, "what": "node vite", "ports": [5173],
        "evidence": ["child seen 13:58", "CLAUDE_PID in its environment"], "age_s": 372.0,
        "memory_bytes": 1331 * MB, "found_at": "2026-11-15T14:02:11.000Z", "gone_at": None,
    }  # fmt: skip
    return {**given, **more}


def result(outcome: str, pid: int = 41377, **more: Any) -> dict[str, Any]:
    return {
        "pid": pid,
        "outcome": outcome,
        "seconds": 0.21,
        "because": "it is another user's process",
        **more,
    }


def test_leftovers_are_listed_with_age_memory_and_evidence() -> None:
    second = row(pid=41402, what="bash", ports=[], memory_bytes=4 * MB)
    lines = present_leftovers.table([row(), second], 0.0, PIPE)
    assert lines[1] == (
        "02b7  process  41377 node vite :5173  6m   1.3 GB  child seen 13:58; CLAUDE_PID in its environment"
    )
    assert lines[2].split() == ["02b7", "process", "41402", "bash", "6m", "4", "MB", "same"]
    assert present_leftovers.table([], 0.0, PIPE) == ["Nothing was left behind."]


def test_processor_time_is_told_when_there_is_some() -> None:
    assert present_leftovers.what_of(row(cpu_s=190.0)) == "41377 node vite :5173 cpu 3m"
    assert present_leftovers.what_of(row(cpu_s=0.2)) == "41377 node vite :5173"


def test_foreign_text_in_a_leftover_cannot_drive_the_terminal() -> None:
    lines = present_leftovers.table([row(what="\x1b[2Jnode", evidence=["\x1b]0;x\x07"])], 0.0, PIPE)
    assert "\x1b" not in "".join(lines)


def test_a_dry_run_says_that_nothing_was_done() -> None:
    answer = {"dry": True, "results": [result("would"), result("would", 41402, **LEFT)]}
    assert reap.lines_of(answer, answer["results"]) == [
        "Would send SIGTERM to pid 41377, node vite (pid 41402, left by 02b7). Nothing done; add --yes."
    ]


def test_what_came_of_it_is_a_sentence_each_and_the_exit_code() -> None:
    ended = result("exited", session="7f3aaa", what="auth-refactor", leftover=None)
    results = [ended, result("survived", 41402, **LEFT)]
    assert [event_lines.sentence(each) for each in results] == [
        "7f3a auth-refactor (pid 41377) exited in 0.2 s.",
        "node vite (pid 41402, left by 02b7) ignored SIGTERM and is still alive: --kill-after 5.",
    ]
    assert (
        confirm_and_request.code_of(results),
        confirm_and_request.code_of([result("refused")]),
        confirm_and_request.code_of([result("killed")]),
    ) == (
        1,
        3,
        0,
    )
    assert "not signalled: it is another user's process" in event_lines.sentence(result("refused"))


def test_an_agent_that_survives_is_not_called_closed() -> None:
    lines = close.lines_of({"session": "7f3aaa", "closed": False}, [result("survived", 41022)])
    assert lines[-1] == "7f3a is not closed; nothing else was touched."
    lines = close.lines_of({"session": "7f3aaa", "closed": True, "others": [41877], "resume": ["claude"]}, [])
    assert "still open in process 41877, left alone" in lines[0] and lines[-1] == "7f3a is closed."


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"type": "ending.intended", "facts": {"pid": 7, "what": "bash", "signal": "SIGTERM", "verb": "reap",
                                               "by": "operator"}}, "SIGTERM to 7 bash (reap, by operator)"),
        ({"type": "ending.intended", "facts": {"pid": 7, "what": "bash", "signal": "SIGTERM", "verb": "stop", "by": "7f3aaa",
          "caller": {"chain": [{"pid": 9, "program": "headcount"}, {"pid": 8, "program": "sh"}], "terminal": "pts/3"}}},
         "SIGTERM to 7 bash (stop, by agent 7f3a on pts/3: headcount 9, sh 8)"),
        ({"type": "ending.finished", "facts": {"pid": 7, "outcome": "exited", "seconds": 0.1}}, "pid 7 exited in 0.1 s."),
    ],
)  # fmt: skip
def test_the_audit_is_told_in_watch(event: dict[str, Any], said: str) -> None:
    assert event_lines.lines_of(event, PIPE, 0.0)[0].endswith(said)


def test_reap_by_the_command_line(daemon: Daemon, agent: Make) -> None:
    claude: Agent = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude) as child:
        claude.kill()
        eventually(lambda: child.pid in {each["pid"] for each in daemon.get("/v1/leftovers")["leftovers"]})
        dry = run(daemon, "reap", id[:6])
        assert (dry[0], f"(pid {child.pid}, left by {id[:4]}). Nothing done; add --yes." in dry[1]) == (
            0,
            True,
        ), dry
        assert not child.has_ended()
        done = run(daemon, "reap", id[:6], "--yes")
        assert (done[0], f"(pid {child.pid}, left by {id[:4]}) exited in" in done[1]) == (0, True), done
        stopped = run(daemon, "stop", id[:6])
        assert stopped[0] == 5 and "ended" in stopped[2]


def run(daemon: Daemon, *words: str) -> tuple[int, str, str]:
    """As a person does: below no agent, also when these tests run in one."""
    import subprocess
    import sys

    env = {**bare(), **daemon.env}
    out, err, code = (daemon.home / name for name in ("said", "told", "code"))
    code.unlink(missing_ok=True)
    script = '"$@" >"$OUT" 2>"$ERR"; echo $? >"$CODE.new"; mv "$CODE.new" "$CODE"'
    argv = ["setsid", "-f", "sh", "-c", script, "sh", sys.executable, "-m", "headcount", *words]
    places = {"OUT": str(out), "ERR": str(err), "CODE": str(code)}
    subprocess.run(argv, env={**env, **places}, check=True, stdin=subprocess.DEVNULL)
    eventually(code.exists, within=30)
    return int(code.read_text()), out.read_text(), err.read_text()


def test_close_offers_no_resume_of_a_conversation_that_is_open_elsewhere() -> None:
    answer = {"session": "02b7aa", "closed": True, "others": [77], "resume": ["claude", "--resume", "x"]}
    lines = close.lines_of(answer, [result("exited")])
    assert "The conversation is still open in process 77, left alone: --all ends it too." in lines
    assert "resume" not in " ".join(lines)
    assert close.lines_of({**answer, "others": []}, [])[-1].endswith("To go on: headcount resume 02b7")


def test_closing_again_says_that_it_was_closed_before() -> None:
    answer = {"session": "02b7aa", "closed": True, "others": [], "resume": None, "again": True}
    assert close.lines_of(answer, []) == ["02b7 was closed before; nothing was left to end."]


def test_leftovers_say_that_reap_without_yes_only_shows() -> None:
    last = present_leftovers.table([row()], 0.0, PIPE)[-1]
    assert "headcount reap --yes" in last and "asks" not in last
