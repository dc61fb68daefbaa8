"""Small things that were lost: a thread that could not start, a second reader of a transcript, what ran below a dead
one, a timer that never rests."""

import asyncio
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from headcount.bounded_thread import BoundedThreads
from headcount.core.state.world import World
from headcount.core.values.evidence import Judged
from headcount.core.values.leftover import Find, Leftover, LeftoverId, LeftoverKind, process_key
from headcount.core.values.verdict import unknown
from headcount.daemon.engine.deaths import Deaths
from headcount.daemon.engine.loop import NotStored
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.identity.host_paths import HostPaths
from headcount.daemon.identity.reporting_process import Anchors
from headcount.daemon.intake.ask_adapters import Adapters
from headcount.daemon.intake.census import Census
from headcount.daemon.intake.mailbox import Mailbox
from headcount.daemon.intake.open_conversations import OpenConversations
from headcount.daemon.observers.terminals import Terminals
from headcount.daemon.observers.transcripts import TranscriptWatch
from headcount.daemon.routes.stop_close_reap import _meant
from headcount.daemon.routes.terminals import _host
from headcount.store.interface import StoreFault
from headcount.system.clock import SystemClock
from headcount.system.files import IN_MODIFY, FileEvent
from tests.rig.core_values import Scene, bound, process, report, start
from tests.rig.daemon.loop_without_daemon import lone_loop
from tests.rig.kernel.fake_kernel import FakeKernel

# --- adapters ------------------------------------------------------------------------------------------


async def test_an_adapter_whose_thread_could_not_start_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    adapters = Adapters(Counter())
    with monkeypatch.context() as scarce:
        scarce.setattr(threading.Thread, "start", refuse)
        assert await adapters.ask("codex", lambda: 7) is None
    assert await adapters.ask("codex", lambda: 7) == 7
    assert adapters.faults == {}


# --- following -----------------------------------------------------------------------------------------


class Watched:
    """What file events are to a follower."""

    def __init__(self) -> None:
        self.tell: dict[Path, Any] = {}

    def watch(self, path: Path, mask: int, tell: Any) -> Any:
        self.tell[path] = tell
        return lambda: self.tell.pop(path)


def test_the_first_reader_of_a_transcript_is_followed_after_the_end_of_a_second() -> None:
    scene, files, wanted = Scene(), Watched(), []
    path = "/home/dev/t/x.jsonl"
    for pid, name in ((100, "a"), (200, "b")):
        scene.hear(start(conversation=name, anchor=bound(process(pid))))
    one, two = (_with(scene.of(name)[0], path) for name in "ab")
    transcripts = SimpleNamespace(want=lambda session, after: wanted.append(session.id))
    agents = {one.agent: SimpleNamespace(follows=True)}
    follow = TranscriptWatch(agents, SimpleNamespace(world=scene.world), files, transcripts)  # type: ignore[arg-type]
    follow.see(one)
    follow.see(two)
    wanted.clear()
    changed = [FileEvent(mask=IN_MODIFY, name="x.jsonl")]
    files.tell[Path("/home/dev/t")](changed)
    assert sorted(wanted) == sorted([one.id, two.id])
    follow.see(_with(two, None))
    wanted.clear()
    files.tell[Path("/home/dev/t")](changed)
    assert wanted == [one.id]
    follow.see(_with(one, None))
    assert files.tell == {}


def _with(session: Any, transcript: str | None) -> Any:
    return replace(session, transcript=transcript)


# --- the mailbox ---------------------------------------------------------------------------------------


async def test_a_closed_mailbox_watches_nothing(tmp_path: Path) -> None:
    files = Watched()
    unused: Any = None
    claude = SimpleNamespace(name="claude-code")
    mailbox = Mailbox(tmp_path / "mailbox", claude, unused, unused, files, unused, unused, unused)  # type: ignore[arg-type]
    mailbox.open()
    assert list(files.tell) == [tmp_path / "mailbox"]
    mailbox.close(for_good=True)
    assert files.tell == {}


# --- terminals -----------------------------------------------------------------------------------------


async def test_while_one_look_at_terminals_hangs_no_timer_wakes(monkeypatch: pytest.MonkeyPatch) -> None:
    scene, kernel = Scene(), FakeKernel()
    scene.hear(start(conversation="a", anchor=bound(kernel.spawn())))
    session = scene.only()
    terminals = Terminals(SimpleNamespace(world=scene.world), kernel.processes(), SystemClock(), {})  # type: ignore[arg-type]
    looks, free = [], asyncio.Event()

    async def look(wanted: dict[Any, Any]) -> dict[Any, Any]:
        looks.append(set(wanted))
        await free.wait()
        return {}

    monkeypatch.setattr(terminals, "_look", look)
    terminals.want(session)
    terminals._start()
    await asyncio.sleep(0)
    terminals.want(session)
    terminals._start()
    terminals.want(session)
    assert terminals._timer is None and len(looks) == 1
    free.set()
    async with asyncio.timeout(10):
        while len(looks) < 2:
            await asyncio.sleep(0)
    assert looks[1] == {session.id}
    terminals.close()


# --- reap ----------------------------------------------------------------------------------------------


def _leftover(id: str) -> Leftover:
    return Leftover(LeftoverId(id), LeftoverKind.PROCESS, None, None, "node vite", (), 0.0)


def test_the_beginning_of_several_ids_means_none_of_them() -> None:
    left = [_leftover("a1b2"), _leftover("a1b2c3"), _leftover("ff00")]
    assert _meant(left, "f").id == "ff00" and _meant(left, "a1b2").id == "a1b2"
    for wanted, status, code in (
        ("a", 400, "ambiguous"),
        ("e", 404, "no-such-leftover"),
        ("", 404, "no-such-leftover"),
    ):
        with pytest.raises(HttpRefusal) as refused:
            _meant(left, wanted)
        assert (refused.value.status, refused.value.body.error.code) == (status, code)


# --- deaths that were asked for ------------------------------------------------------------------------


class FullFor:
    """A store that takes nothing for so many commits."""

    def __init__(self) -> None:
        self.left = 0

    async def commit(self, *_: object) -> None:
        if self.left:
            self.left -= 1
            raise StoreFault("full", "no room: this is a test")


@pytest.mark.parametrize("fails", [0, 1], ids=["stored", "not stored at first"])
@pytest.mark.parametrize("who", ["census", "resume"])
async def test_a_death_that_was_asked_for_is_told_with_what_ran_below(who: str, fails: int) -> None:
    kernel, clock = FakeKernel(), SystemClock()
    processes = kernel.processes(None)
    world, store = World(processes.place()), FullFor()
    loop = lone_loop(store, world, lambda process: processes.prove(process, world.place.machine))
    running = asyncio.create_task(loop.run())
    try:
        agent, child = kernel.spawn(comm="bot"), kernel.spawn(comm="vite")
        below = Find(LeftoverKind.PROCESS, process_key(child), "vite", ("child seen 13:58",), child)
        await loop.ask(report(at=clock.now(), anchor=bound(agent)))
        await loop.ask(Judged(agent, unknown("no descriptor is left"), clock.now()))
        kernel.exit(agent.pid)
        anchors, adapters = Anchors(processes, clock, world.find_process), Adapters(loop.counts)
        once = [below]  # what ran below a process is collected once
        deaths = Deaths(processes, clock, loop.put, left_by=lambda process: (once.pop(),) if once else ())
        hosting = OpenConversations(
            loop, processes, anchors, clock, adapters, HostPaths(loop, BoundedThreads("look"), clock)
        )
        census = Census(loop, processes, anchors, clock, adapters, hosting, judged=deaths.judged)
        (session,) = world.sessions.values()
        store.left = fails
        if who == "census":
            await census.take()
        else:
            parts = SimpleNamespace(loop=loop, census=census, processes=processes, clock=clock)
            call: Any = SimpleNamespace(parts=parts)
            if fails:
                with pytest.raises(NotStored):
                    await _host(call, session)
            else:
                assert await _host(call, session) is None
        async with asyncio.timeout(20):
            while not list(world.remains.there()):
                await asyncio.sleep(0.01)
        assert [each.process for each in world.remains.there()] == [child]
    finally:
        running.cancel()
