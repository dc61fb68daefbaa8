"""`watch` over the absence of the daemon: stopped, killed, and asked to end with it."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.commands_inside import command, environment, outside
from tests.rig.daemon.real_daemon import Daemon


class Watching:
    def __init__(self, daemon: Daemon, *words: str) -> None:
        self.process = subprocess.Popen(
            command("watch", "--json", *words),
            env=environment(daemon),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.event()["type"] == "snapshot"

    def event(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def until_told_of(self, conversation: str) -> list[int]:
        """The numbers of all events up to that one."""
        numbers = []
        while True:
            event = self.event()
            numbers.append(event["seq"])
            if (event.get("session") or {}).get("conversation") == conversation:
                return numbers

    def note(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon started by the command line, so that the command line can start it again."""
    there = Daemon(tmp_path / "headcount")
    assert outside(there, "up").code == 0
    yield there
    outside(there, "down")


def report(daemon: Daemon, conversation: str) -> None:
    body = {"session_id": conversation, "hook_event_name": "Stop"}
    assert daemon.call("POST", "/v1/hooks/claude-code", body).status == 202


def test_watch_says_that_the_daemon_was_stopped_and_goes_on_when_it_is_back(office: Daemon) -> None:
    watching = Watching(office)
    try:
        report(office, "before")
        numbers = watching.until_told_of("before")
        assert outside(office, "down").code == 0
        assert "waiting for its return" in watching.note()
        assert not office.socket.exists(), "whoever only watches starts nothing that was stopped"
        assert outside(office, "up").code == 0
        report(office, "after")
        numbers += watching.until_told_of("after")
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), (
            "nothing is missed or told twice"
        )
        assert "is back" in watching.note()
        assert watching.process.poll() is None
    finally:
        watching.close()


def test_watch_starts_a_daemon_that_was_killed_and_goes_on(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "headcount").ready()
    watching = Watching(daemon)
    try:
        daemon.kill()
        assert "starting it again" in watching.note()
        assert "is back" in watching.note()
        report(daemon, "after")
        watching.until_told_of("after")
    finally:
        watching.close()
        outside(daemon, "down")


def test_watch_ends_with_4_when_the_daemon_cannot_be_started_again(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "headcount").ready()
    watching = Watching(daemon)
    try:
        (daemon.home / "config.toml").write_text("nonsense = 1\n")
        daemon.kill()
        assert "starting it again" in watching.note()
        assert watching.process.wait(20) == 4
        assert "unknown setting" in watching.note()
    finally:
        watching.close()


def test_watch_once_ends_with_the_daemon(office: Daemon) -> None:
    watching = Watching(office, "--once")
    try:
        assert outside(office, "down").code == 0
        assert watching.process.wait(20) == 4
        assert "has stopped" in watching.note()
    finally:
        watching.close()
