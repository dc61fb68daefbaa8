"""A store that is lost: set aside, said, and rebuilt from the living. Never silently empty."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agent import Agent
from tests.rig.daemon import Daemon, eventually


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
    (aside,) = daemon.home.glob("headcount.db.corrupt-*")
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
    assert len(list(daemon.home.glob("headcount.db.corrupt-*"))) == 1, "said once, set aside once"


def test_numbers_given_before_the_loss_are_not_given_again(daemon: Daemon) -> None:
    before = daemon.get("/v1/status")["store"]["seq"]
    daemon.kill()
    empty(daemon.home / "headcount.db")
    daemon.ready()
    assert daemon.get("/v1/history?limit=1")["events"][0]["seq"] > before


def test_a_store_that_is_damaged_in_use_is_set_aside_by_a_new_start(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    """Nobody is told anything that was not stored; the living are there again."""
    claude = agent()
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    eventually(lambda: daemon.sessions(conversation=claude.conversation, liveness="alive"))
    daemon.stop()
    store = daemon.home / "headcount.db"
    sound = store.read_bytes()
    daemon.ready()
    data = bytearray(store.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    with store.open("r+b") as file:  # in place: the daemon has it open
        file.write(data)
    (daemon.home / "headcount.db-wal").write_bytes(b"")
    assert sound
    for nth in range(400):
        body = json.dumps({"session_id": claude.conversation, "hook_event_name": "Stop", "n": nth})
        (daemon.mailbox / f"9.{nth}").write_text("\n" + body)

    def rebuilt() -> bool:
        try:
            return bool(list(daemon.home.glob("*.corrupt-*"))) and bool(daemon.sessions(pid=claude.pid))
        except Exception:
            return False

    eventually(rebuilt, within=30)
