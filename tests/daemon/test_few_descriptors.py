"""A real daemon with more agents than descriptors: callers are answered, every death is told, and it passes."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection
from headcount.system.processes.descriptor_limits import KEPT_FREE_LEAST
from tests.rig.agents.commands_inside import outside
from tests.rig.agents.crowd import Crowd, Member
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.daemon import altered
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.kernel.few_descriptors import lift, lower
from tests.rig.network.raw_requests import connect, read_reply, request

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="elsewhere no watch has a descriptor")

FIRST, LATER = 40, 30
CALLERS = 8
WITHIN = 30.0

TAKES_ALL = """
from headcount.system.processes.pidfds.watches import Watches
Watches.has_room = lambda self: True
Watches.make_room = lambda self, *, none_left: ()
from headcount.daemon.http.listen import HttpServer
HttpServer._room_for_a_caller = lambda self, *, none_left=False: 0
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Daemon]]:
    """A daemon that looks often; `way` is run in it first."""
    with ExitStack() as ends:

        def started(way: str = "") -> Daemon:
            site = tmp_path / "site"
            site.mkdir()
            (site / "sitecustomize.py").write_text(way)
            env = altered.environment(POLL_EVERY=0.1)
            env["PYTHONPATH"] = os.pathsep.join([str(site), env["PYTHONPATH"], str(altered.ROOT / "src")])
            daemon = Daemon(tmp_path / "headcount", **env)
            daemon.wrapper = altered.WRAPPER
            return ends.enter_context(daemon)

        yield started


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[Crowd]:
    with Crowd(tmp_path / "agents", FIRST) as made:
        yield made


class Callers:
    """Who stay."""

    def __init__(self, daemon: Daemon) -> None:
        self._socket = str(daemon.socket)
        self._connections: list[Connection] = []

    def one_more(self, within: float = WITHIN) -> None:
        self._connections.append(Connection(self._socket))
        assert self._connections[-1].call("GET", "/healthz", within=within).data["ok"]

    def are_answered(self) -> bool:
        return all(each.call("GET", "/healthz").data["ok"] for each in self._connections)

    def close(self) -> None:
        for each in self._connections:
            each.close()


def callers_take_all(daemon: Daemon, callers: Callers) -> None:
    """Who only keep their connections have every descriptor, and others are answered all the same."""
    callers.one_more()
    lower(daemon.pid, callers.one_more)
    for _ in range(CALLERS):
        assert daemon.get("/healthz")["ok"]


def introduce(daemon: Daemon, members: list[Member]) -> None:
    for member in members:
        drop(daemon.mailbox, member, payload(member, "SessionStart", source="startup"))


def states(daemon: Daemon, members: list[Member]) -> list[str]:
    rows = {row["conversation"]: row["liveness"] for row in daemon.sessions()}
    return [rows.get(each.conversation, "") for each in members]


def all_are(daemon: Daemon, members: list[Member], state: str) -> bool:
    return set(states(daemon, members)) == {state}


def claim(daemon: Daemon, member: Member, item: str) -> None:
    row = daemon.session(conversation=member.conversation, liveness="alive")
    answer = daemon.call("POST", "/v1/claims", {"item": item, "as": row["id"]})
    assert answer.status == 200 and answer.data["granted"], answer


def held(daemon: Daemon) -> set[str]:
    return {each["item"] for each in daemon.get("/v1/claims")["claims"]}


def test_with_no_descriptor_left_callers_are_answered_and_deaths_told_and_watches_return(
    start: Callable[..., Daemon], crowd: Crowd, tmp_path: Path
) -> None:
    daemon = start()
    introduce(daemon, crowd.members)
    eventually(lambda: all_are(daemon, crowd.members, "alive"), within=WITHIN)
    holder, keeper = crowd.members[0], crowd.members[-1]
    claim(daemon, holder, "task:of-the-dying")
    claim(daemon, keeper, "task:of-the-living")
    eventually(lambda: daemon.get("/v1/status")["polled"] == 0)
    callers = Callers(daemon)

    lower(daemon.pid, callers.one_more)
    for _ in range(CALLERS):
        callers.one_more()
    status = daemon.get("/v1/status")
    assert status["polled"] > 0 and any("few descriptors" in each for each in status["warnings"]), status
    later = Crowd(tmp_path / "agents", LATER)
    try:
        introduce(daemon, later.members)
        eventually(lambda: all_are(daemon, later.members, "alive"), within=WITHIN)
        dead = [holder, *crowd.members[1:-1:2], *later.members[::2]]
        for member in dead:
            (crowd if member in crowd.members else later).members.remove(member)
            member.kill()
            member.reap()
        eventually(lambda: all_are(daemon, dead, "ended"), within=WITHIN)
        assert held(daemon) == {"task:of-the-living"}, (
            "what the dead held is free, what the living hold is not"
        )
        assert all_are(daemon, [*crowd.members, *later.members], "alive")
        found = json.loads(outside(daemon, "doctor", "--json").out)["findings"]
        assert [each for each in found if each["check"] == "watching" and "prlimit" in each["next"]]
        assert callers.are_answered(), "who was let in stays"

        lift(daemon.pid)
        eventually(lambda: daemon.get("/v1/status")["polled"] == 0, within=WITHIN)
        assert not any("descriptors" in each for each in daemon.get("/v1/status")["warnings"])
        assert all_are(daemon, [*crowd.members, *later.members], "alive")
    finally:
        callers.close()
        later.__exit__()
    log = daemon.log()
    assert log.count("few descriptors are left") == 1 and log.count("cannot be taken in") <= 1
    assert "Traceback" not in log and len(log) < 20_000, log[-5_000:]


def test_a_limit_that_was_lowered_is_noticed_also_when_nobody_calls(
    start: Callable[..., Daemon], crowd: Crowd
) -> None:
    """Reports come by file alone: their reader finds no descriptor, and nobody fails to be let in."""
    daemon = start("from headcount import times; times.WATCHDOG_EVERY = 0.2")
    introduce(daemon, crowd.members)
    eventually(lambda: all_are(daemon, crowd.members, "alive"), within=WITHIN)
    eventually(lambda: daemon.get("/v1/status")["polled"] == 0)
    callers = Callers(daemon)
    limit = lower(daemon.pid, callers.one_more)
    eventually(lambda: len(os.listdir(f"/proc/{daemon.pid}/fd")) <= limit - KEPT_FREE_LEAST // 2)
    callers.close()


def test_the_control_a_daemon_that_gives_no_watch_up_is_deaf(
    start: Callable[..., Daemon], crowd: Crowd
) -> None:
    daemon = start(TAKES_ALL)
    introduce(daemon, crowd.members)
    eventually(lambda: all_are(daemon, crowd.members, "alive"), within=WITHIN)
    callers = Callers(daemon)
    lower(daemon.pid, callers.one_more)
    with pytest.raises(ClientFault):
        for _ in range(FIRST):  # what it had open for a moment when the limit was set is free again
            callers.one_more(within=2.0)
    assert daemon.log().count("cannot be taken in") == 1, "but it does not fill its disk by saying so"
    lift(daemon.pid)
    assert daemon.get("/healthz")["ok"]
    callers.close()


def test_callers_who_only_keep_their_connections_make_room_for_one_who_asks(
    start: Callable[..., Daemon],
) -> None:
    daemon = start()
    callers = Callers(daemon)
    try:
        callers_take_all(daemon, callers)
        assert callers.are_answered()  # also by a connection that was closed for another
    finally:
        callers.close()


def test_callers_who_come_all_at_once_are_all_known_and_watches_make_room_for_them(
    start: Callable[..., Daemon], crowd: Crowd
) -> None:
    daemon = start()
    introduce(daemon, crowd.members)
    eventually(lambda: all_are(daemon, crowd.members, "alive"), within=WITHIN)
    eventually(lambda: daemon.get("/v1/status")["polled"] == 0)
    lift(daemon.pid, to=len(os.listdir(f"/proc/{daemon.pid}/fd")) + FIRST + KEPT_FREE_LEAST)
    asked = request("GET", "/v1/sessions/me?explain=1", b"")
    callers = [connect(daemon.socket) for _ in range(FIRST)]
    for each in callers:
        each.sendall(asked)
    answers = [read_reply(each) for each in callers]
    assert [each.data["kind"] for each in answers] == ["operator"] * FIRST
    assert daemon.get("/v1/status")["polled"] > 0
    for each in callers:
        each.close()


def test_a_resting_caller_who_reads_nothing_does_not_stand_in_the_way_of_the_others(
    start: Callable[..., Daemon],
) -> None:
    daemon = start()
    deaf = connect(daemon.socket)
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    deaf.sendall(request("GET", "/openapi.json", b"") * 3)  # never read
    callers = Callers(daemon)
    try:
        callers_take_all(daemon, callers)
    finally:
        callers.close()
        deaf.close()
