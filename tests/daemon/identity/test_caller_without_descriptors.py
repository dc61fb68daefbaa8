"""Who a caller is while a descriptor is lacking to look at those above it: nobody, and never a person."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from headcount.client.transport.connection import Connection
from tests.rig.agents.commands_inside import inside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="elsewhere no look takes a pidfd")

LACKING = """
import errno, os
pidfd_open, os_open = os.pidfd_open, os.open

def is_lacking(what):
    try:
        with open(os.environ["LACKING"]) as file:
            return file.read().strip() == what
    except OSError:
        return False

def few(pid, flags=0):
    if is_lacking(str(pid)):
        raise OSError(errno.EMFILE, "Too many open files")
    return pidfd_open(pid, flags)

def fewer(path, flags, mode=0o777, *, dir_fd=None):
    if path == "environ" and is_lacking("environ"):
        raise OSError(errno.EMFILE, "Too many open files")
    return os_open(path, flags, mode, dir_fd=dir_fd)

os.pidfd_open, os.open = few, fewer
"""
TAKES_NOT_SEEN_FOR_NOT_THERE = """
from headcount.system.processes import descriptor_limits
descriptor_limits.note = lambda error: None
"""


class Scene:
    def __init__(self, place: Path, way: str = "") -> None:
        site = place / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(LACKING + way)
        self.lacking = place / "lacking"
        path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.daemon = Daemon(place / "home", PYTHONPATH=path, LACKING=str(self.lacking)).ready()
        self.agent = Agent(place / "agent")
        settled(self.agent, self.daemon)

    def rungs(self) -> dict[str, bool]:
        said = inside(self.agent, self.daemon, "whoami", "--explain", "--json")
        told: dict[str, Any] = json.loads(said.out)
        return {rung["rung"]: rung["taken"] for rung in told["rungs"]}

    def close(self) -> None:
        self.agent.close()
        self.daemon.stop()


@pytest.mark.parametrize("way", ["", TAKES_NOT_SEEN_FOR_NOT_THERE], ids=["ours", "control"])
def test_an_agent_that_could_not_be_looked_at_leaves_its_child_nobody(tmp_path: Path, way: str) -> None:
    scene = Scene(tmp_path, way)
    try:
        assert scene.rungs()["peer"]
        scene.lacking.write_text(str(scene.agent.pid))
        rungs = scene.rungs()
        assert not rungs["peer"]
        assert rungs["operator"] is bool(way), "the control takes it for a person"
        scene.lacking.unlink()
        assert scene.rungs()["peer"], "it passes"
    finally:
        scene.close()


def test_marks_that_could_not_be_read_make_no_person(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    try:
        assert _is_operator(scene.daemon), "the test itself is no agent's"
        scene.lacking.write_text("environ")
        assert not _is_operator(scene.daemon)
    finally:
        scene.close()


def _is_operator(daemon: Daemon) -> bool:
    told = daemon.call("GET", "/v1/sessions/me?explain=1").data
    return any(rung["rung"] == "operator" and rung["taken"] for rung in told["rungs"])


def test_a_person_on_a_kept_connection_is_one_only_while_nothing_new_is_said_or_above_it(
    tmp_path: Path,
) -> None:
    """What was found of it is remembered with its connection."""
    daemon = Daemon(tmp_path / "home").ready()
    connection = Connection(str(daemon.socket))
    try:
        me = ("GET", "/v1/sessions/me?explain=1")
        assert [connection.call(*me).data["kind"] for _ in range(2)] == ["operator", "operator"]
        offered = Connection(str(daemon.socket), "Headcount-Session no-such-token")
        offered._socket, offered._reader = connection._socket, connection._reader  # the same line
        offered._opened_by = connection._opened_by
        assert offered.call(*me).data["kind"] == "nobody"
        assert connection.call(*me).data["kind"] == "operator"
        wish = {"agent": "custom", "conversation": "above-it", "pid": os.getpid()}
        assert connection.call("POST", "/v1/sessions/register", wish).status in (200, 201)
        eventually(lambda: connection.call(*me).data["kind"] == "agent")
    finally:
        connection.close()
        daemon.stop()
