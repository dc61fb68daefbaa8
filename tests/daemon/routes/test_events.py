"""The event stream: a snapshot, what follows, and every missed event exactly once after a break."""

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount.client.faults import ClientFault, Refused
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.without_census import lone_daemon
from tests.rig.network.raw_requests import connect, exchange, hook, request


def say(daemon: Daemon, conversation: str, event: str = "Stop", **fields: Any) -> None:
    body = json.dumps({"session_id": conversation, "hook_event_name": event, **fields}).encode()
    assert exchange(daemon.socket, hook(body)).status == 202


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """It takes no census: agents of others would be events between those that are counted."""
    with lone_daemon(tmp_path / "headcount") as running:
        yield running


def about(events: Any, conversation: str) -> Any:
    """Only what is about that conversation: the machine has other agents."""
    for event in events:
        data = json.loads(event.data)
        if (data.get("session") or {}).get("conversation") == conversation:
            yield event, data


def test_a_stream_begins_with_a_snapshot_and_goes_on_with_what_happens(daemon: Daemon) -> None:
    say(daemon, "before")
    with daemon.stream() as events:
        first = next(events)
        snapshot = json.loads(first.data)
        assert first.type == "snapshot" and int(first.id) == snapshot["seq"]
        assert [row["conversation"] for row in snapshot["sessions"] if row["conversation"]] == ["before"]
        say(daemon, "after")
        event, data = next(about(events, "after"))
    assert event.type == data["type"] == "session.started"
    assert int(event.id) == data["seq"] > snapshot["seq"]
    assert data["session"]["conversation"] == "after" and data["at"].endswith("Z")


def test_resuming_gives_what_was_missed_once_and_in_order_and_then_goes_on(daemon: Daemon) -> None:
    say(daemon, "x")
    last = daemon.get("/v1/status")["store"]["seq"]
    for nth in range(5):
        say(daemon, "x", "PreToolUse", tool_name=f"Tool{nth}")
    with daemon.stream(last) as events:
        seen = [data for _, data in itertools.islice(about(events, "x"), 5)]
        say(daemon, "x", "Stop")
        seen.append(next(about(events, "x"))[1])
    assert [each["session"]["doing"] for each in seen[:5]] == [f"Tool{nth}" for nth in range(5)]
    assert seen[5]["session"]["activity"] == "done"
    numbers = [each["seq"] for each in seen]
    assert numbers == sorted(set(numbers)) and numbers[0] > last


@pytest.mark.parametrize("number", [9, 15])
def test_resuming_after_a_restart_misses_nothing(daemon: Daemon, number: int, tmp_path: Path) -> None:
    with Agent(tmp_path / "agents") as claude:
        claude.hook(daemon.mailbox, "SessionStart", source="startup")
        daemon.session(conversation=claude.conversation)
        last = daemon.get("/v1/status")["store"]["seq"]
        say(daemon, "seen-before-the-end")
        daemon.kill(number)
        claude.hook(daemon.mailbox, "UserPromptSubmit", prompt="while it was away")
        daemon.ready()
        eventually(lambda: daemon.sessions(conversation=claude.conversation, activity="working"))
    with daemon.stream(last) as events:
        told = []
        for event in events:
            told.append(json.loads(event.data))
            if (told[-1].get("session") or {}).get("activity") == "working":
                break
    conversations = [(each.get("session") or {}).get("conversation") for each in told]
    assert "seen-before-the-end" in conversations and claude.conversation in conversations
    assert "headcount.started" in [each["type"] for each in told]
    assert [each["seq"] for each in told] == list(range(last + 1, last + 1 + len(told)))


@pytest.mark.parametrize("last", [10**12, 999_999_999_999_999])
def test_a_number_that_was_never_given_gets_a_snapshot(daemon: Daemon, last: int) -> None:
    with daemon.stream(last) as events:
        assert next(events).type == "snapshot"


def test_a_number_that_the_journal_no_longer_has_gets_a_snapshot(tmp_path: Path) -> None:
    """A store that was lost starts its numbers far above the old ones, and has none of those."""
    daemon = Daemon(tmp_path / "headcount").ready()
    try:
        say(daemon, "x")
        old = daemon.get("/v1/status")["store"]["seq"]
        daemon.kill()
        for name in os.listdir(daemon.home):
            if name.startswith("headcount.db"):
                (daemon.home / name).write_bytes(b"garbage")
        daemon.ready()
        assert daemon.get("/v1/status")["store"]["seq"] > old + 1000
        with daemon.stream(old) as events:
            assert next(events).type == "snapshot"
    finally:
        daemon.stop()


def test_the_newest_number_gets_nothing_but_what_happens_next(daemon: Daemon) -> None:
    say(daemon, "x")
    with daemon.stream(daemon.get("/v1/status")["store"]["seq"]) as events:
        say(daemon, "y")
        assert json.loads(next(events).data)["session"]["conversation"] == "y"


def test_a_number_may_come_as_a_parameter(daemon: Daemon) -> None:
    say(daemon, "x")
    with connect(daemon.socket) as sock:
        sock.sendall(request("GET", "/v1/events?after=0"))
        got = b""
        while b"session.started" not in got:
            got += sock.recv(65536)
    assert b"event: snapshot" not in got and b"text/event-stream" in got


@pytest.mark.parametrize("last", ["x", "-1", "1e3"])
def test_nonsense_is_refused(daemon: Daemon, last: str) -> None:
    with pytest.raises(Refused) as refused, daemon.stream(last) as events:  # type: ignore[arg-type]
        next(events)
    assert refused.value.status == 400


def test_what_a_subscriber_is_told_is_on_disk_already(daemon: Daemon) -> None:
    """G6 for the stream: kill -9 at the moment it was told."""
    for nth in range(5):
        with daemon.stream() as events:
            next(events)
            say(daemon, f"round-{nth}")
            _, data = next(about(events, f"round-{nth}"))
            daemon.restart()
        (event,) = daemon.get(f"/v1/history?after={data['seq'] - 1}&limit=1")["events"]
        assert event["session"]["conversation"] == f"round-{nth}"


def test_a_stream_ends_with_the_daemon(daemon: Daemon) -> None:
    with daemon.stream() as events:
        next(events)
        daemon.kill(15)
        with pytest.raises(ClientFault):
            for _ in events:
                pass
