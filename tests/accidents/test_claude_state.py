"""Accidents L5, L7 and S1 to S6: what an agent does, by traces of the real CLI. Each with the naive way that did it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headcount.agents.claude_code.reports import EVENTS
from headcount.core.values.activity import Doing
from headcount.core.values.evidence import Evidence
from headcount.core.values.session import Session
from tests.accidents.test_claude_identity import register
from tests.agents.claude_code.test_recorded_traces import (
    TRACES,
    evidence_of,
    process_of,
    session_after,
    truths,
)
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.naive_ways import naive_claude as naive

Make = Callable[..., Agent]
Entry = dict[str, Any]
WATCHED = frozenset(row.name for row in EVENTS.installed)


def until(name: str, stop: Callable[[Entry], bool]) -> list[Entry]:
    """The trace up to and with the first entry that `stop` wants."""
    entries = TRACES[name]["entries"]
    return entries[: next(at for at, each in enumerate(entries) if stop(each)) + 1]


def is_hook(entry: Entry, event: str) -> bool:
    return entry["kind"] == "hook" and entry["payload"]["hook_event_name"] == event


def payloads(entries: list[Entry]) -> list[Entry]:
    return [each["payload"] for each in entries if each["kind"] == "hook"]


def ours(name: str, entries: list[Entry]) -> Session:
    process = process_of(TRACES[name])
    heard: list[Evidence | None] = [evidence_of(each, process) for each in entries]
    return session_after((each for each in heard if each is not None), process)


@pytest.mark.parametrize(
    "name", ["esc-streaming", "esc-tool", "permission-esc", "question-esc", "permission-deny"]
)
def test_L5_esc_which_fires_no_hook_does_not_leave_it_working(name: str) -> None:
    *_, (truth, evidence) = truths(TRACES[name])
    assert truth["activity"] == "idle"
    assert session_after(evidence, process_of(TRACES[name])).activity.doing is Doing.IDLE
    heard = [each for each in TRACES[name]["entries"] if each["at"] <= truth["at"]]
    assert naive.state_by_last_event(payloads(heard)) in ("working", "waiting")


@pytest.mark.parametrize("name", ["tool-turn", "permission-allow", "question", "plan", "background-subagent"])
def test_L5_a_stop_that_was_lost_does_not_leave_it_working(name: str) -> None:
    lost = frozenset({"Stop", "SubagentStop", "SessionEnd"})
    entries = [
        each
        for each in TRACES[name]["entries"]
        if not (each["kind"] == "hook" and each["payload"]["hook_event_name"] in lost)
    ]
    rest = max(at for at, each in enumerate(entries) if each["kind"] == "registry" and each["record"]) + 1
    assert entries[rest - 1]["record"]["status"] == "idle"
    assert ours(name, entries[:rest]).activity.doing is Doing.IDLE
    assert naive.state_by_last_event(payloads(entries[:rest])) == "working"


def test_L7_a_registry_file_that_outlived_its_process_is_nobody(tmp_path: Path, agent: Make) -> None:
    with Daemon(tmp_path / "headcount") as daemon:
        root = daemon.user_home / ".claude"
        claude = agent()
        left = register(root, claude.pid, claude.conversation, status="busy")
        row = daemon.session(conversation=claude.conversation)
        claude.kill()
        over = eventually(lambda: daemon.sessions(id=row["id"], liveness="ended"))[0]
        assert over["ended"]["because"] == "killed (SIGKILL)"
        assert naive.alive_by_file(root / "sessions") == {claude.pid}
        left.write_text(left.read_text())  # somebody touches it
        daemon.restart()
        assert [each["id"] for each in daemon.sessions(conversation=claude.conversation)] == [row["id"]]
        assert daemon.session(id=row["id"])["liveness"] == "ended"
        assert left.exists()  # and it is not ours to remove (K8)
    with Daemon(tmp_path / "another", HOME=str(root.parent)) as fresh:
        assert fresh.sessions(conversation=claude.conversation) == []


def test_S1_a_late_subagent_stop_does_not_set_the_main_activity() -> None:
    name = "background-subagent"
    stop = until(name, lambda each: is_hook(each, "Stop"))
    late = next(each for each in TRACES[name]["entries"] if is_hook(each, "SubagentStop"))
    entries = [*stop, {**late, "at": stop[-1]["at"] + 0.5}]
    assert ours(name, stop).activity.doing is Doing.DONE
    session = ours(name, entries)
    assert (session.activity.doing, session.background) == (Doing.DONE, ())
    assert naive.state_by_last_event(payloads(entries)) == "working"


def test_S2_a_late_tool_does_not_hide_a_running_compaction() -> None:
    entries = until("compaction", lambda each: is_hook(each, "PreCompact"))
    before = entries[-1]["payload"]
    tool = {**before, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "x"}}
    entries = [*entries, {**entries[-1], "at": entries[-1]["at"] + 0.2, "payload": tool}]
    activity = ours("compaction", entries).activity
    assert (activity.doing, activity.label) == (Doing.WORKING, "compacting")
    assert naive.state_by_last_event(payloads(entries)) == "working"
    assert naive.state_by_last_event(payloads(entries[:-1])) == "compacting"


def test_S3_waiting_is_never_shown_as_something_else() -> None:
    """A subagent asks, and the main turn ends while its dialog is open."""
    name = "subagent-asks"
    asked = until(name, lambda each: is_hook(each, "PermissionRequest"))
    rest = TRACES[name]["entries"][len(asked) :]
    answered = next(at for at, each in enumerate(rest) if each["kind"] == "did")
    states = set()
    for count in range(answered + 1):
        entries = [*asked, *rest[:count]]
        states.add(naive.state_by_last_event(payloads(entries), frozenset({"Notification"})))
        if any(
            each["kind"] == "registry" and (each["record"] or {}).get("status") == "waiting"
            for each in entries
        ):
            assert ours(name, entries).activity.doing is Doing.WAITING
    assert "idle" in states


@pytest.mark.parametrize("name", ["permission-noticed", "question-noticed", "plan"])
def test_S4_a_dialog_is_seen_seconds_before_its_notification(name: str) -> None:
    entries = TRACES[name]["entries"]
    noticed = next(each["at"] for each in entries if is_hook(each, "Notification"))
    seen = next(
        entries[at]["at"]
        for at in range(len(entries))
        if entries[at]["kind"] in ("hook", "registry")
        and ours(
            name, [*until(name, lambda each: is_hook(each, "SessionStart")), *entries[: at + 1]]
        ).activity.doing
        is Doing.WAITING
    )
    assert noticed - seen > 2.0
    late = [each for each in entries if each["at"] < noticed]
    assert naive.state_by_last_event(payloads(late), frozenset({"PermissionRequest"})) != "waiting"


def test_S5_a_turn_that_ended_beside_a_running_subagent_shows_both() -> None:
    name = "background-subagent"
    entries = until(name, lambda each: is_hook(each, "Stop"))
    session = ours(name, entries)
    assert session.activity.doing is Doing.DONE
    assert [each.kind for each in session.background] == ["subagent"]
    registry = [
        each["record"]["status"]
        for each in entries
        if each["kind"] == "registry" and each["record"].get("status")
    ]
    assert registry[-1] == "busy"  # one naive way: the registry alone says that it works
    assert naive.state_by_last_event(payloads(entries)) == "idle"  # the other: nothing runs


def test_S6_unknown_events_and_fields_are_counted_and_harmless(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    claude.hook(daemon.mailbox, "UserPromptSubmit")
    row = daemon.session(conversation=claude.conversation)
    strange: list[dict[str, Any]] = [
        {"hook_event_name": "QuantumLeap", "tool_name": {"deep": [1, 2]}},
        {"hook_event_name": "PreToolUse", "tool_name": 7, "tool_input": "no object", "brand_new": {"a": 1}},
        {"hook_event_name": ["a", "list"], "session_title": 3.5},
        {"hook_event_name": "Stop", "background_tasks": {"not": "a list"}},
    ]
    for fields in strange:
        claude.drop(daemon.mailbox, json.dumps({"session_id": claude.conversation, "cwd": "/tmp", **fields}))
    again = eventually(lambda: daemon.sessions(conversation=claude.conversation, activity="done"))[0]
    assert (again["id"], again["liveness"]) == (row["id"], "alive")
    unknown = eventually(lambda: daemon.get("/v1/status")["unknown_events"])
    assert {"event:QuantumLeap", "brand_new"} <= unknown.keys()
    with pytest.raises((KeyError, TypeError)):
        for fields in strange:
            naive.strictly_parsed(fields)
