"""What processes have open, asked of the adapter only when it changed; what a look may and may not conclude."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from headcount.agents.codex.adapter import Codex
from headcount.agents.interface import Hosted
from headcount.bounded_thread import BoundedThreads
from headcount.core.state.world import World
from headcount.core.values.process import OpenFile, OpenFiles, ProcessFacts
from headcount.core.values.session import EndKind, Session
from headcount.daemon.engine.loop import Loop
from headcount.daemon.identity.host_paths import HostPaths
from headcount.daemon.identity.reporting_process import Anchors
from headcount.daemon.intake.ask_adapters import Adapters
from headcount.daemon.intake.census import Census
from headcount.daemon.intake.open_conversations import OpenConversations
from headcount.system.clock import SystemClock
from tests.rig.core_values import bound, report
from tests.rig.daemon.loop_without_daemon import Nothing
from tests.rig.kernel.fake_kernel import FakeKernel

A, B = "01a1e22b-5ead-7421-bca6-1cce74188e07", "01a1e22b-b56d-7463-b57a-4f677c9d4a5a"


class Asked(Codex):
    """Codex, and what happens while it is asked."""

    def __init__(self) -> None:
        self.times = 0
        self.meanwhile = lambda: None

    def hosted(self, facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...]:
        self.times += 1
        self.meanwhile()
        return super().hosted(facts, files)


class Room:
    """A census over the fake kernel, with one app server in it."""

    def __init__(self) -> None:
        self.kernel, clock = FakeKernel(), SystemClock()
        processes = self.kernel.processes(None)
        self.world = World(processes.place())
        self.loop = Loop(
            self.world,
            Nothing(),
            clock,
            start_effects=lambda effects: None,
            tell=lambda events, world: None,
            prove=lambda process: processes.prove(process, self.world.place.machine),
        )
        anchors, self.adapters = (
            Anchors(processes, clock, self.world.find_process),
            Adapters(self.loop.counts),
        )
        spaces = HostPaths(self.loop, BoundedThreads("look"), clock)
        hosting = OpenConversations(self.loop, processes, anchors, clock, self.adapters, spaces)
        self.codex = Asked()
        hosting.open({"codex": self.codex}, {}, Path("/home/dev"))
        self.census = Census(
            self.loop, processes, anchors, clock, self.adapters, hosting, {"codex": self.codex}
        )
        self.server = self.kernel.spawn(
            comm="codex", argv=("codex", "app-server"), exe="/opt/codex", uid=os.getuid()
        )

    def holds(self, *conversations: str, locked: bool = True) -> None:
        one = self.kernel.find(self.server.pid)
        assert one is not None
        one.files = tuple(
            OpenFile(f"/home/dev/.codex/thread-writer-locks/{each}.lock", locked) for each in conversations
        )

    def of(self, conversation: str) -> list[Session]:
        return [each for each in self.world.sessions.values() if each.conversation == conversation]


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    made = Room()
    running = asyncio.create_task(made.loop.run())
    yield made
    running.cancel()


async def test_a_process_whose_files_are_the_same_is_not_asked_again(room: Room) -> None:
    room.holds(A)
    for _ in range(5):
        await room.census.take()
    assert room.codex.times == 1 and len(room.of(A)) == 1
    room.holds(A, B)
    await room.census.take()
    assert room.codex.times == 2 and room.of(B)[0].is_open


async def test_locks_are_read_once_a_look_however_many_processes_there_are(room: Room) -> None:
    for _ in range(29):
        room.kernel.spawn(comm="codex", argv=("codex", "app-server"), exe="/opt/codex", uid=os.getuid())
    await room.census.take()
    assert room.codex.times == 30 and room.kernel.locks_read == 1


async def test_what_the_census_finds_after_the_first_is_a_miss_and_what_a_hint_finds_is_not(
    room: Room,
) -> None:
    room.holds(A)
    await room.census.take()
    assert room.loop.counts["census_caught"] == 0  # at the start nobody could have told
    room.holds(A, B)
    room.census.hinted()
    await room.census.take()
    assert room.loop.counts["census_caught"] == 0
    room.holds(B)
    await room.census.take()
    assert room.loop.counts["census_caught"] == 1


async def test_a_server_that_holds_nothing_is_no_session(room: Room) -> None:
    room.holds(A, locked=False)
    await room.census.take()
    assert room.world.sessions == {}


async def test_a_closed_conversation_ends_and_the_others_do_not(room: Room) -> None:
    room.holds(A, B)
    await room.census.take()
    room.holds(B)
    await room.census.take()
    ended = room.of(A)[0].ended
    assert ended is not None and ended.kind is EndKind.CLOSED and room.of(B)[0].is_open
    assert room.world.find_process(room.server) == room.server


async def test_a_look_that_could_not_be_made_closes_nothing(room: Room) -> None:
    """The control: an unreadable process, and one whose adapter fails, are seen without any of their files."""
    room.holds(A)
    await room.census.take()
    one = room.kernel.find(room.server.pid)
    assert one is not None
    one.denied = True
    await room.census.take()
    assert room.of(A)[0].is_open
    one.denied = False
    room.codex.meanwhile = lambda: 1 / 0
    room.holds()
    await room.census.take()
    assert room.of(A)[0].is_open and room.adapters.faults == {"codex": "failed: ZeroDivisionError"}
    room.codex.meanwhile = lambda: None
    await room.census.take()
    assert not room.of(A)[0].is_open and room.adapters.faults == {}


async def test_what_was_opened_while_the_look_went_on_is_not_closed_by_it(room: Room) -> None:
    room.holds(A)
    await room.census.take()
    event_loop = asyncio.get_running_loop()

    def opened_meanwhile() -> None:
        word = report(at=SystemClock().now(), conversation=B, anchor=bound(room.server))
        said = replace(word, agent="codex", beside=True)
        asyncio.run_coroutine_threadsafe(room.loop.ask(said), event_loop).result(5)

    room.codex.meanwhile = opened_meanwhile
    room.holds(A, "00000000-0000-4000-8000-000000000000")
    await room.census.take()
    assert room.of(B)[0].is_open
