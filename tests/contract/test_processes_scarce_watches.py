"""Watches where descriptors are scarce, on the real kernel: what is kept free is free, and every death is still told."""

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from headcount import times
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.verdict import Exit, Standing, Verdict
from headcount.system.log_throttle import Seldom
from headcount.system.processes import descriptor_limits
from headcount.system.processes.linux import LinuxProcesses
from tests.rig.agents.crowd import Crowd, Member
from tests.rig.kernel.few_descriptors import limit

SIZE = 80
WITHIN = 10.0


def is_full() -> bool:
    try:
        os.close(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        assert error.errno == errno.EMFILE
        return True
    return False


class Scene:
    def __init__(self, crowd: Crowd) -> None:
        self.crowd = crowd
        self.processes = LinuxProcesses(asyncio.get_running_loop())
        self.told: dict[int, Verdict] = {}
        for member in self.crowd.members:
            seen = self.processes.look(member.pid)
            assert isinstance(seen, ProcessFacts)
            assert self.processes.watch(seen.identity, self._on_death).standing is Standing.ALIVE

    def _on_death(self, identity: ProcessIdentity, verdict: Verdict) -> None:
        assert identity.pid not in self.told, "each death is told once"
        self.told[identity.pid] = verdict

    def kill(self, member: Member) -> None:
        self.crowd.members.remove(member)
        member.kill()
        member.reap()

    async def until_polled(self, count: int) -> None:
        async with asyncio.timeout(WITHIN):
            while self.processes.polled() != count:
                await asyncio.sleep(0.01)

    async def until_told(self, *pids: int) -> None:
        async with asyncio.timeout(WITHIN):
            while self.told.keys() != set(pids):
                await asyncio.sleep(0.01)


class Uncounted(type(Path())):  # type: ignore[misc]
    """The directory as it was before 6.2: its size said nothing."""

    def stat(self, **_: object) -> SimpleNamespace:
        return SimpleNamespace(st_size=0)


@pytest.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    monkeypatch.setattr(times, "POLL_EVERY", 0.05)
    with Crowd(tmp_path, SIZE) as crowd:
        made = Scene(crowd)
        yield made
        made.processes.close()


@pytest.mark.parametrize(
    "own",
    [
        descriptor_limits.OWN,
        Uncounted("/proc/self/fd"),
        Path("/nowhere/fd"),
    ],
    ids=["counted by the kernel", "a kernel before 6.2", "a foreign proc"],
)
async def test_a_lowered_limit_takes_from_the_watches_and_a_raised_one_gives_back(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, own: Path
) -> None:
    monkeypatch.setattr(descriptor_limits, "OWN", own)
    assert scene.processes.polled() == 0 and not scene.processes.is_short()
    with limit(left=0):
        assert is_full(), "the control: watches that nobody gives up leave nothing for a caller"
        given_up = scene.processes.make_room(none_left=True)
        assert given_up == descriptor_limits.kept_free() == scene.processes.polled()
        assert scene.processes.is_short() and scene.processes.watched() == SIZE
        assert not is_full() and scene.processes.make_room() == 0, "once is enough"
        first, *_, last = scene.crowd.members
        scene.kill(first)
        scene.kill(last)
        await scene.until_told(first.pid, last.pid)
        assert scene.told[first.pid].exit == Exit(signal=9), "the oldest kept its watch"
        assert not is_full()
    await scene.until_polled(0)
    assert not scene.processes.is_short() and scene.processes.watched() == SIZE - 2
    here, stranger = scene.processes.place(), scene.crowd.members[0].pid
    scene.processes.watch(ProcessIdentity(here.boot, here.namespace, stranger), lambda *_: None)
    assert scene.processes.polled() == 1 and not scene.processes.is_short(), "in doubt for another reason"
    survivor = scene.crowd.members[-1]
    scene.kill(survivor)
    await scene.until_told(first.pid, last.pid, survivor.pid)
    assert scene.told[survivor.pid].exit == Exit(signal=9), (
        "watched again, so that its end is the kernel's word"
    )


async def test_it_is_noticed_without_anybody_who_found_none(scene: Scene) -> None:
    with limit(left=descriptor_limits.KEPT_FREE_LEAST // 4):
        assert scene.processes.make_room() > 0
        assert descriptor_limits.count_free() >= descriptor_limits.kept_free()


async def test_a_limit_below_what_is_open_takes_all_that_it_needs_at_once(scene: Scene) -> None:
    """Pidfds whose numbers are above the limit stay open, and to give one of them up is no gain."""
    with limit(left=-SIZE // 4):
        scene.processes.make_room(none_left=True)
        assert not is_full() and descriptor_limits.count_free() >= descriptor_limits.kept_free()


async def test_a_caller_who_comes_and_goes_moves_no_watch(scene: Scene) -> None:
    """Between half and all of what is kept free nothing is given up, and nothing returns."""
    with limit(left=0):
        scene.processes.make_room(none_left=True)
        polled = scene.processes.polled()
        callers = [os.open("/dev/null", os.O_RDONLY) for _ in range(descriptor_limits.kept_free() // 3)]
        assert scene.processes.make_room() == 0
        for caller in callers:
            os.close(caller)
        await asyncio.sleep(times.POLL_EVERY * 4)  # some looks, at each of which one might return
        assert scene.processes.polled() == polled


async def test_whoever_has_ended_is_not_given_up_and_keeps_the_kernels_word(scene: Scene) -> None:
    newest = scene.crowd.members[-1]
    scene.kill(newest)
    with limit(left=0):
        assert scene.processes.make_room(none_left=True) > 0  # before the loop could hear of it
        await scene.until_told(newest.pid)
    assert scene.told[newest.pid].exit == Exit(signal=9)


async def test_a_watch_that_would_take_what_is_kept_free_is_not_made(scene: Scene, tmp_path: Path) -> None:
    late = Crowd(tmp_path, 3)
    try:
        with limit(left=descriptor_limits.KEPT_FREE_LEAST // 2 + 4):
            for member in late.members:
                seen = scene.processes.look(member.pid)
                assert isinstance(seen, ProcessFacts)
                verdict = scene.processes.watch(seen.identity, lambda *_: None)
                assert verdict.standing is Standing.ALIVE and "few descriptors" in verdict.because
            assert scene.processes.polled() == 3 and scene.processes.is_short()
        await scene.until_polled(0)
    finally:
        late.__exit__()


def test_what_goes_on_is_said_when_it_begins() -> None:
    now = [0.0]
    thing = Seldom(lambda: now[0], apart=60.0)
    said = []
    for now[0] in (0.0, 1.0, 59.0, 118.0, 177.0, 240.0):
        said.append(thing.is_new())
    assert said == [True, False, False, False, False, True], "it went on from 0 to 177"


async def test_who_found_no_descriptor_at_all_is_short_too_until_it_is_watched(scene: Scene) -> None:
    member = scene.crowd.members[0]
    identity = next(each for each in scene.processes._on_death if each.pid == member.pid)
    scene.processes.unwatch(identity)
    with limit(left=0):
        verdict = scene.processes.watch(identity, lambda *_: None)
        assert verdict.standing is not Standing.DEAD
        assert scene.processes.polled() == 1 and scene.processes.is_short()
    await scene.until_polled(0)
    assert not scene.processes.is_short()
