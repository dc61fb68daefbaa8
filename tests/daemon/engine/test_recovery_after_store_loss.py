"""A store that is lost: set aside, said, and rebuilt from the living. Never silently empty."""

import contextlib
import json
import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headcount.client.faults import ClientFault
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def other_file(path: Path) -> None:
    path.write_text("this is a note, not a database\n" * 200)


def garbled(path: Path) -> None:
    data = bytearray(path.read_bytes())
    noise = random.Random(1)
    for at in range(4096, len(data)):
        data[at] = noise.randrange(256)
    path.write_bytes(data)


def set_aside(daemon: Daemon) -> list[Path]:
    """The damaged files, without the side files that go with them."""
    found = daemon.home.glob("headcount.db.corrupt-*")
    return [each for each in found if not each.name.endswith(("-wal", "-shm"))]


@pytest.mark.parametrize("damage", [zeros, cut, empty, other_file, garbled])
def test_a_damaged_store_is_set_aside_and_said_and_the_living_are_found_again(
    daemon: Daemon, agent: Callable[..., Agent], damage: Callable[[Path], None]
) -> None:
    living, dead = agent(), agent()
    for each in (living, dead):
        each.hook(daemon.mailbox, "SessionStart", source="startup")
        eventually(lambda each=each: daemon.sessions(conversation=each.conversation, liveness="alive"))
    daemon.stop()  # in order, so that all of it is in the one file
    dead.kill()
    store = daemon.home / "headcount.db"
    damage(store)
    damaged = store.read_bytes()
    daemon.ready()
    (aside,) = set_aside(daemon)
    assert aside.read_bytes() == damaged, "kept as it was found"
    (warning,) = [each for each in daemon.get("/v1/status")["warnings"] if "set aside" in each]
    assert str(aside) in warning
    events = daemon.get("/v1/history?limit=1000")["events"]
    assert [each["facts"]["set_aside"] for each in events if each["type"] == "store.lost"] == [str(aside)]
    row = eventually(lambda: daemon.sessions(pid=living.pid))[0]
    assert row["liveness"] == "alive"
    assert daemon.sessions(pid=dead.pid) == []
    living.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    again = eventually(lambda: daemon.sessions(conversation=living.conversation))[0]
    assert (again["id"], again["pid"]) == (row["id"], living.pid)
    daemon.restart()
    assert daemon.session(pid=living.pid)["liveness"] == "alive"
    assert set_aside(daemon) == [aside], "said once, set aside once"


def test_numbers_given_before_the_loss_are_not_given_again(daemon: Daemon) -> None:
    before = daemon.get("/v1/status")["store"]["seq"]
    daemon.kill()
    empty(daemon.home / "headcount.db")
    daemon.ready()
    assert daemon.get("/v1/history?limit=1")["events"][0]["seq"] > before


def say(daemon: Daemon, conversation: str, count: int = 1) -> None:
    for nth in range(count):
        body = {"session_id": conversation, "hook_event_name": "PreToolUse", "tool_name": f"T{nth}"}
        (daemon.mailbox / f"9.{nth}").write_text("\n" + json.dumps(body))


def break_schema(store: Path) -> None:
    """By another program, while the daemon has it open: the next commit finds no sound table."""
    with contextlib.closing(sqlite3.connect(store)) as other, other:
        other.execute("PRAGMA writable_schema = ON")
        other.execute("UPDATE sqlite_schema SET rootpage = 99999 WHERE name IN ('sessions', 'events')")
        ((version,),) = other.execute("PRAGMA schema_version").fetchall()
        other.execute(f"PRAGMA schema_version = {version + 1}")


def test_a_commit_that_meets_damage_starts_anew_and_the_living_are_found_again(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    claude = agent()
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    before = eventually(lambda: daemon.sessions(conversation=claude.conversation, liveness="alive"))[0]
    break_schema(daemon.home / "headcount.db")
    claude.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    eventually(lambda: list(daemon.home.glob("headcount.db.corrupt-*")))
    row = eventually(lambda: known(daemon, claude.conversation))
    assert (row["pid"], row["liveness"], row["activity"]) == (claude.pid, "alive", "working")
    assert row["id"] != before["id"], "it is not known any more under which id it was shown"
    assert daemon.get("/healthz")["pid"] == daemon.pid, "the same process"
    assert "set aside" in daemon.get("/v1/status")["warnings"][0]


def known(daemon: Daemon, conversation: str) -> Any:
    """Its row, or nothing while the daemon is on its way."""
    try:
        rows = daemon.sessions(conversation=conversation)
    except (ClientFault, AssertionError):
        return None
    return rows[0] if rows else None


def test_damage_that_only_a_reader_meets_is_said_and_checked_at_the_next_start(daemon: Daemon) -> None:
    say(daemon, "old", 300)
    eventually(lambda: daemon.sessions(conversation="old", doing="T299"))
    daemon.stop()  # all of it is in the file, nothing in the log
    daemon.ready()
    store = daemon.home / "headcount.db"
    with store.open("r+b") as file:  # in place: the daemon has it open
        file.seek(4096)  # the first page holds the schema
        file.write(os.urandom(store.stat().st_size - 4096))
    answer = daemon.call("GET", "/v1/history?limit=10000")
    assert (answer.status, answer.data["error"]["code"]) == (503, "not-readable")
    assert daemon.get("/v1/sessions")["sessions"] is not None, "what is known is still shown"
    daemon.kill()
    daemon.ready()
    assert "set aside" in daemon.get("/v1/status")["warnings"][0]
