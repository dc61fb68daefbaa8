"""The contract of the process port, on every adapter, with every feature off, and on the fake kernel."""

import asyncio

import pytest
from msgspec.structs import replace

from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Exit, Proof, Standing
from headcount.system.processes.ancestry import ancestors
from headcount.system.processes.interface import ProcessGone
from tests.rig.kernel.fake_kernel import FakeKernel
from tests.rig.kernel.real_and_fake_processes import FakeWorld, World
from tests.rig.kernel.watch_processes import (
    NEVER_GIVEN,
    Deaths,
    another_incarnation,
    quiet_for_three_passes,
    seen,
    until,
)

OVER = 2_000_000_000  # a number that no process has


# --- looking -------------------------------------------------------------------------------------


def test_a_living_process_is_seen_with_its_identity(world: World) -> None:
    processes, actor = world.adapter(), world.child()
    found = seen(processes, actor.pid)
    here = processes.place()
    assert found.pid == actor.pid
    assert (found.identity.boot, found.identity.namespace) == (here.boot, here.namespace)
    assert found.identity.started is not None
    assert (found.identity.inode is not None) == world.guarantees.inode
    assert found.comm.startswith("python") and found.argv and found.exe
    assert actor.pid in processes.pids()


def test_the_same_process_has_the_same_identity_in_every_look_and_after_a_restart(world: World) -> None:
    actor = world.child()
    before = seen(world.adapter(), actor.pid).identity
    assert seen(world.adapter(), actor.pid).identity == before


@pytest.mark.parametrize("pid", [OVER, 0, -1, 2**31, 2**70])
def test_a_number_that_nothing_has_is_gone(world: World, pid: int) -> None:
    assert world.adapter().look(pid) == ProcessGone()


def test_a_reaped_process_is_gone(world: World) -> None:
    processes, actor = world.adapter(), world.stranger()
    actor.end(0)
    actor.wait_reaped()
    assert processes.look(actor.pid) == ProcessGone()


def test_a_zombie_is_gone(world: World) -> None:
    processes, actor = world.adapter(), world.neglected()
    actor.kill()
    actor.wait_ended()
    assert processes.look(actor.pid) == ProcessGone()


def test_a_process_whose_main_thread_ended_is_alive(world: World) -> None:
    processes, actor = world.adapter(), world.main_thread_gone()
    identity = seen(processes, actor.pid).identity
    assert processes.prove(identity, processes.place().machine).standing is Standing.ALIVE


async def test_a_process_without_its_main_thread_is_watched_until_its_real_end(world: World) -> None:
    processes, actor, deaths = world.adapter(), world.main_thread_gone(), Deaths()
    assert processes.watch(seen(processes, actor.pid).identity, deaths).standing is Standing.ALIVE
    await quiet_for_three_passes()
    assert not deaths.told
    actor.end(4)
    await until(lambda: deaths.told)
    assert deaths.told[0][1].exit in (Exit(code=4), Exit())


async def test_a_stopped_process_is_alive(world: World) -> None:
    processes, actor, deaths = world.adapter(), world.stopped(), Deaths()
    identity = seen(processes, actor.pid).identity
    assert processes.watch(identity, deaths).standing is Standing.ALIVE
    await quiet_for_three_passes()
    assert processes.prove(identity, "").standing is Standing.ALIVE
    assert not deaths.told


# --- being told of a death -----------------------------------------------------------------------


# --- proving after a restart ---------------------------------------------------------------------


def test_a_new_watcher_proves_the_living_alive(world: World) -> None:
    actor = world.child()
    before = world.adapter()
    identity, machine = seen(before, actor.pid).identity, before.place().machine
    before.close()
    assert world.adapter().prove(identity, machine).standing is Standing.ALIVE


def test_a_new_watcher_proves_the_dead_dead_or_doubts_until_it_watched(world: World) -> None:
    actor = world.stranger()
    before = world.adapter()
    identity, machine = seen(before, actor.pid).identity, before.place().machine
    actor.kill()
    actor.wait_reaped()
    verdict = world.adapter().prove(identity, machine)
    if world.guarantees.absence_is_proof:
        assert (verdict.standing, verdict.proof) == (Standing.DEAD, Proof.EXITED)
    else:
        assert verdict.standing is Standing.UNKNOWN


def test_the_pid_of_another_incarnation_is_replaced(world: World) -> None:
    """A remembered process whose pid now belongs to another that started at another time."""
    processes, actor = world.adapter(), world.child()
    now = seen(processes, actor.pid).identity
    verdict = processes.prove(another_incarnation(now), processes.place().machine)
    assert (verdict.standing, verdict.proof) == (Standing.DEAD, Proof.REPLACED)


def test_where_inodes_are_unique_the_same_start_tick_does_not_make_the_same_process(world: World) -> None:
    processes, actor = world.adapter(), world.child()
    now = seen(processes, actor.pid).identity
    if not world.guarantees.inode:
        assert now.inode is None  # nothing is claimed that cannot be known
        return
    assert now.inode is not None
    verdict = processes.prove(replace(now, inode=now.inode + NEVER_GIVEN), processes.place().machine)
    assert (verdict.standing, verdict.proof) == (Standing.DEAD, Proof.REPLACED)


def test_an_identity_of_nothing_but_a_living_pid_stays_unknown(world: World) -> None:
    processes, actor = world.adapter(), world.child()
    bare = replace(seen(processes, actor.pid).identity, started=None, inode=None)
    assert processes.prove(bare, processes.place().machine).standing is Standing.UNKNOWN


def test_another_boot_of_this_machine_is_over(world: World) -> None:
    processes, actor = world.adapter(), world.child()
    remembered = replace(seen(processes, actor.pid).identity, boot="another boot")
    verdict = processes.prove(remembered, processes.place().machine)
    assert (verdict.standing, verdict.proof) == (Standing.DEAD, Proof.REBOOTED)


def test_a_boot_of_another_machine_says_nothing(world: World) -> None:
    processes, actor = world.adapter(), world.child()
    remembered = replace(seen(processes, actor.pid).identity, boot="another boot")
    assert processes.prove(remembered, "another machine").standing is Standing.UNKNOWN


@pytest.mark.parametrize("change", [{"boot": "another boot"}, {"namespace": 1}])
async def test_from_elsewhere_nothing_is_told_ever(world: World, change: dict[str, object]) -> None:
    processes, actor, deaths = world.adapter(), world.stranger(), Deaths()
    elsewhere = replace(seen(processes, actor.pid).identity, **change)  # type: ignore[arg-type]
    assert processes.watch(elsewhere, deaths).standing is Standing.UNKNOWN
    actor.kill()
    actor.wait_reaped()
    await quiet_for_three_passes()
    assert not deaths.told


def test_another_namespace_is_unknown_even_when_nothing_has_the_pid(world: World) -> None:
    processes = world.adapter()
    here = processes.place()
    outside = ProcessIdentity(here.boot, here.namespace + 1, OVER, 5, 77)
    assert processes.prove(outside, here.machine).standing is Standing.UNKNOWN


def test_a_record_with_the_inode_of_another_living_process_is_not_alive(world: World) -> None:
    processes, pids = world.adapter(), world.chain(2)
    one, other = (seen(processes, pid).identity for pid in pids)
    mixed = replace(one, inode=other.inode, started=other.started and other.started + 500)
    assert processes.prove(mixed, processes.place().machine).standing is Standing.DEAD


# --- parents and environments --------------------------------------------------------------------


def test_ancestors_are_named_in_order(world: World) -> None:
    processes, pids = world.adapter(), world.chain(4)
    walked = [facts.pid for facts in ancestors(processes, pids[-1])]
    assert walked[:4] == list(reversed(pids))
    assert 1 not in walked


def test_a_walk_may_start_from_what_was_seen_but_not_from_another_incarnation(world: World) -> None:
    processes, pids = world.adapter(), world.chain(2)
    start = seen(processes, pids[-1])
    assert [facts.pid for facts in ancestors(processes, start)][:2] == [pids[1], pids[0]]
    other = replace(start, identity=another_incarnation(start.identity))
    assert list(ancestors(processes, other)) == []


def test_the_parent_of_another_incarnation_is_not_told(world: World) -> None:
    processes, pids = world.adapter(), world.chain(2)
    identity = seen(processes, pids[1]).identity
    assert processes.parent(identity) == pids[0]
    other = another_incarnation(identity)
    assert processes.parent(other) is None
    assert processes.environ(other, frozenset({"PATH"})) == {}


def test_whoever_got_the_number_of_a_dead_parent_is_no_ancestor() -> None:
    """The parent ends after its child was read, and its pid is given to another at once."""
    kernel = FakeKernel()
    processes = kernel.processes()
    top = kernel.spawn()
    middle = kernel.spawn(parent=top.pid)
    child = kernel.spawn(parent=middle.pid)
    walk = ancestors(processes, child.pid)
    assert next(walk).pid == child.pid
    kernel.reuse(middle.pid)
    assert list(walk) == []


# --- without descriptors (the real ones: test_processes_limits.py) --------------------------------


async def test_without_descriptors_the_fake_doubts_then_finds_the_death() -> None:
    world = FakeWorld(asyncio.get_running_loop())
    processes, actor, deaths = world.adapter(), world.stranger(), Deaths()
    identity = seen(processes, actor.pid).identity
    world.kernel.exhaust_descriptors()
    assert processes.watch(identity, deaths).standing is Standing.UNKNOWN
    assert processes.polled() == 1
    actor.kill()
    await until(lambda: deaths.told)
    world.kernel.free_descriptors()
    assert processes.polled() == processes.watched() == 0
