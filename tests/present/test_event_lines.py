"""Events in the words of people; waiting and explaining too."""

import time
from pathlib import Path

import pytest

from headcount.cli.commands.show import lines_of as shown
from headcount.cli.commands.wait import is_over, is_reached
from headcount.present.event_lines import is_told, lines_of
from headcount.present.explanation import lines_of as explained
from headcount.present.screen import Screen
from headcount.present.time_text import clock
from tests.present.sample_rows import NOW, at, session

PLAIN = Screen(None, False, True)
DEAD = session(
    "02b7aaaa", name="i18n", liveness="ended", started_at=at(7560), resume="claude --resume x",
    ended={"at": at(0), "kind": "killed", "because": "killed (SIGKILL)", "signal": 9, "exit_code": None},
)  # fmt: skip


def test_a_death_is_told_as_documented() -> None:
    event = {"seq": 1, "at": at(0), "type": "session.ended", "session": DEAD}
    told = clock(NOW, NOW)
    assert lines_of(event, PLAIN, NOW) == [
        f"{told} ✗ 02b7 i18n killed (SIGKILL) after 2h06m",
        f"{' ' * len(told)} resume: claude --resume x",
    ]


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("session.started", {"cwd": "/nowhere/api"}, "● 7f3a n started: claude in api"),
        (
            "session.activity",
            {"activity": "waiting", "waiting_on": "permission", "doing": "Bash: x"},
            "▲ 7f3a n permission: Bash: x",
        ),
        ("session.lost", {"liveness": "lost"}, "? 7f3a n unheard 1m"),
        ("session.reopened", {}, "● 7f3a n is back: its end was only reported"),
        ("session.something-new", {"doing": "\x1b[2J"}, "● 7f3a n working: ?[2J"),
    ],
)
def test_each_event_is_one_line(kind: str, fields: dict[str, object], words: str) -> None:
    event = {"seq": 1, "at": at(0), "type": kind, "session": session("7f3aaaaa", name="n", **fields)}
    assert [line.partition(" ")[2] for line in lines_of(event, PLAIN, NOW)] == [words]


def test_events_of_headcount_itself_and_unknown_ones_are_told_too() -> None:
    assert "headcount stopped" in lines_of({"at": at(0), "type": "headcount.stopped"}, PLAIN, NOW)[0]
    assert "odd?[2J" in lines_of({"at": None, "type": "odd\x1b[2J", "facts": {"because": "x"}}, PLAIN, NOW)[0]


def test_signs_of_life_are_not_told_to_people() -> None:
    assert not is_told({"type": "session.heard"})
    assert is_told({"type": "session.ended"})


@pytest.mark.parametrize(
    ("fields", "wanted", "reached"),
    [
        ({"activity": "done"}, "done", True),
        ({"activity": "waiting", "waiting_on": "plan"}, "plan", True),
        ({"activity": "waiting", "waiting_on": "plan"}, "waiting", True),
        ({"activity": "waiting", "waiting_on": "plan"}, "permission", False),
        ({"activity": "failed", "failure": "limit"}, "limit", True),
        ({"activity": "working"}, "alive", True),
        ({"activity": "working", "liveness": "unknown"}, "alive", False),
        ({"activity": "working", "liveness": "unknown"}, "unknown", False),
        ({"activity": "unknown"}, "unknown", True),
        ({"activity": "done", "liveness": "ended"}, "done", False),
        ({"activity": "done", "liveness": "ended"}, "ended", True),
    ],
)
def test_a_state_is_reached_by_the_living_only(fields: dict[str, object], wanted: str, reached: bool) -> None:
    assert is_reached(session(**fields), frozenset({wanted})) is reached
    assert is_over(session(**fields), frozenset({wanted})) is (reached or fields.get("liveness") == "ended")


def test_an_explanation_names_each_source_and_what_lost() -> None:
    def line(
        says: str, because: str, source: str, ago: float, stands: bool = True, why: str | None = None
    ) -> dict[str, object]:
        return {
            "says": says,
            "because": because,
            "source": source,
            "at": at(ago),
            "stands": stands,
            "why_not": why,
        }

    explanation = {
        "session": session(name="auth-refactor", activity="waiting", waiting_on="permission"),
        "liveness": {"evidence": [line("alive", "pidfd of 41022 open", "kernel", 0)]},
        "activity": {
            "evidence": [
                line("waiting", "PermissionRequest Bash", "hook", 252),
                line("working", "status=busy", "registry", 300, False, "older"),
            ]
        },
        "binding": {"value": "pid 41022", "because": "bound by registry", "evidence": []},
        "agree": False,
        "would_change": ["exit", "tool result"],
    }
    assert explained(explanation, NOW) == [
        "auth-refactor is ALIVE, waiting for permission.",
        "  alive    pidfd of 41022 open     kernel    now",
        "  waiting  PermissionRequest Bash  hook      4m12s",
        "  working  status=busy             registry  5m00s",
        "           not taken: older",
        "Process: pid 41022, bound by registry.",
        "Sources disagree; the newest that may speak stands. Would change it: exit, tool result.",
    ]


def test_show_tells_what_is_known_and_leaves_out_what_is_not() -> None:
    text = "\n".join(shown(DEAD, time.time()))
    assert "killed (SIGKILL)" in text and "claude --resume x" in text
    assert "model" not in text and "None" not in text


def test_an_explanation_of_the_ended_speaks_of_no_agreement_and_an_alarm_is_told() -> None:
    ended = session(liveness="ended", ended={"kind": "killed", "because": "killed (SIGKILL)"})
    parts = {"liveness": {}, "activity": {}, "binding": {"value": "pid 9", "because": "bound by x"}}
    lines = explained({"session": ended, **parts, "agree": True, "would_change": []}, NOW)
    assert lines[-1] == "Nothing changes it any more."
    alarmed = session(alarms=["also alive in 77"])
    lines = explained({"session": alarmed, **parts, "agree": True, "would_change": ["exit"]}, NOW)
    assert lines[-2:] == ["! also alive in 77", "Sources agree. Would change it: exit."]


def test_show_names_the_kernel_for_an_end_and_no_repository_without_one(tmp_path: Path) -> None:
    sources = {"activity": {"source": "hook", "at": None}, "ended": {"source": "kernel", "at": None}}
    killed = session(
        liveness="ended", ended={"kind": "killed", "because": "killed (SIGKILL)"}, cwd=str(tmp_path)
    )
    lines = shown({**killed, "repo": None, "sources": sources}, NOW)
    state = next(line for line in lines if line.startswith("  state"))
    assert state.endswith("kernel")
    assert not any(line.startswith("  repository") for line in lines)
    assert any(line.startswith("  directory") for line in lines)
