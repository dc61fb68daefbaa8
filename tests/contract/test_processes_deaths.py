"""The process port: being told of a death, once, whoever reaps, with how it ended."""

import pytest

from headcount.core.values.verdict import Exit, Proof, Standing
from tests.rig.kernel.real_and_fake_processes import World
from tests.rig.kernel.watch_processes import Deaths, another_incarnation, quiet_for_three_passes, seen, until

OVER = 2_000_000_000  # a number that no process has


async def test_the_death_of_a_stranger_is_told_with_its_exit_code(world: World) -> None:
    processes, actor, deaths = world.adapter(), world.stranger(), Deaths()
    identity = seen(processes, actor.pid).identity
    assert processes.watch(identity, deaths).standing is Standing.ALIVE
    actor.end(7)
    await until(lambda: deaths.told)
    told, verdict = deaths.told[0]
    assert told == identity
    assert (verdict.standing, verdict.proof) == (Standing.DEAD, Proof.EXITED)
    known = world.guarantees.exit_of_reaped
    assert verdict.exit == Exit(code=7) or (not known and verdict.exit == Exit())


@pytest.mark.parametrize("kind", ["stranger", "orphan", "child", "neglected"])
async def test_a_kill_is_told_with_its_signal_whoever_reaps(world: World, kind: str) -> None:
    processes, deaths = world.adapter(), Deaths()
    actor = getattr(world, kind)()
    processes.watch(seen(processes, actor.pid).identity, deaths)
    actor.kill()
    await until(lambda: deaths.told)
    known = world.guarantees.exit_of_zombies and (
        world.guarantees.exit_of_reaped or kind in ("child", "neglected")
    )
    assert deaths.told[0][1].exit == Exit(signal=9) or (not known and deaths.told[0][1].exit == Exit())


async def test_the_exit_of_a_reaped_one_is_known_when_it_was_reaped_before_we_looked(world: World) -> None:
    processes, actor, deaths = world.adapter(), world.stranger(), Deaths()
    processes.watch(seen(processes, actor.pid).identity, deaths)
    actor.end(9)
    actor.wait_reaped()  # the loop has not run since
    await until(lambda: deaths.told)
    assert deaths.told[0][1].exit == (Exit(code=9) if world.guarantees.exit_of_reaped else Exit())


async def test_a_death_is_told_once(world: World) -> None:
    processes, actor, deaths = world.adapter(), world.neglected(), Deaths()
    processes.watch(seen(processes, actor.pid).identity, deaths)
    actor.kill()
    await until(lambda: deaths.told)
    await quiet_for_three_passes()
    assert len(deaths.told) == 1
    assert processes.watched() == processes.polled() == 0


async def test_the_end_of_a_watched_one_is_proved_before_it_is_told(world: World) -> None:
    """A grant is proved by asking: the callback may still stand in the event loop's line."""
    processes, actor, deaths = world.adapter(), world.stranger(), Deaths()
    identity, machine = seen(processes, actor.pid).identity, processes.place().machine
    processes.watch(identity, deaths)
    assert processes.prove(identity, machine).standing is Standing.ALIVE
    actor.kill()
    actor.wait_reaped()
    verdict = processes.prove(identity, machine)
    assert not deaths.told
    if world.guarantees.absence_is_proof:
        assert verdict.standing is Standing.DEAD
    else:
        assert verdict.standing is not Standing.ALIVE
    await until(lambda: deaths.told)
    assert len(deaths.told) == 1


async def test_another_incarnation_is_not_proved_by_the_watch_on_its_number(world: World) -> None:
    processes, actor = world.adapter(), world.child()
    identity, machine = seen(processes, actor.pid).identity, processes.place().machine
    processes.watch(identity, Deaths())
    assert processes.prove(another_incarnation(identity), machine).standing is not Standing.ALIVE


async def test_whoever_has_the_kernels_word_does_not_look_for_deaths(world: World) -> None:
    processes, actor = world.adapter(), world.child()
    processes.watch(seen(processes, actor.pid).identity, Deaths())
    assert processes.polled() == (0 if world.guarantees.told_by_kernel else 1)
    assert processes.watched() == 1


async def test_one_that_was_over_before_the_watch_is_dead_at_once_or_told(world: World) -> None:
    processes, actor, deaths = world.adapter(), world.stranger(), Deaths()
    identity = seen(processes, actor.pid).identity
    actor.kill()
    actor.wait_reaped()
    verdict = processes.watch(identity, deaths)
    if world.guarantees.absence_is_proof:
        assert verdict.standing is Standing.DEAD
        await quiet_for_three_passes()
        assert not deaths.told and processes.watched() == 0
    else:
        assert verdict.standing is Standing.UNKNOWN
        await until(lambda: deaths.told)


async def test_a_zombie_is_dead_at_the_watch(world: World) -> None:
    processes, actor, deaths = world.adapter(), world.neglected(), Deaths()
    identity = seen(processes, actor.pid).identity
    actor.end(6)
    actor.wait_ended()
    verdict = processes.watch(identity, deaths)
    assert verdict.proof is Proof.EXITED
    assert verdict.exit == (Exit(code=6) if world.guarantees.exit_of_zombies else Exit())


async def test_the_next_watch_after_a_death_is_told_too(world: World) -> None:
    """It gets the descriptor number of the dead one: nothing of the first may be left on the loop."""
    processes, actors = world.adapter(), [world.stranger() for _ in range(3)]
    for actor in actors:
        deaths = Deaths()
        processes.watch(seen(processes, actor.pid).identity, deaths)
        actor.kill()
        await until(lambda deaths=deaths: deaths.told)  # type: ignore[misc]


async def test_only_of_a_watched_one_that_was_not_told_of_yet_the_number_is_its_own(world: World) -> None:
    processes, actor, other, deaths = world.adapter(), world.stranger(), world.stranger(), Deaths()
    watched, merely_seen = (seen(processes, each.pid).identity for each in (actor, other))
    processes.watch(watched, deaths)
    by_the_kernel = processes.polled() == 0
    assert [processes.is_told(each) for each in (watched, merely_seen)] == [by_the_kernel, False]
    assert not processes.is_told(another_incarnation(watched))
    actor.kill()
    await until(lambda: deaths.told)
    assert not processes.is_told(watched)
    processes.watch(merely_seen, deaths)
    processes.unwatch(merely_seen)
    assert not processes.is_told(merely_seen)


async def test_after_unwatch_nothing_is_told(world: World) -> None:
    processes, actor, deaths = world.adapter(), world.stranger(), Deaths()
    identity = seen(processes, actor.pid).identity
    processes.watch(identity, deaths)
    processes.unwatch(identity)
    processes.unwatch(identity)
    actor.kill()
    actor.wait_ended()
    await quiet_for_three_passes()
    assert not deaths.told and processes.watched() == 0


async def test_watching_again_replaces_the_callback(world: World) -> None:
    processes, actor, first, second = world.adapter(), world.stranger(), Deaths(), Deaths()
    identity = seen(processes, actor.pid).identity
    processes.watch(identity, first)
    processes.watch(identity, second)
    assert processes.watched() == 1
    actor.kill()
    await until(lambda: second.told)
    assert not first.told


async def test_after_close_nothing_is_told(world: World) -> None:
    processes, actor, deaths = world.adapter(), world.stranger(), Deaths()
    processes.watch(seen(processes, actor.pid).identity, deaths)
    processes.close()
    actor.kill()
    actor.wait_ended()
    await quiet_for_three_passes()
    assert not deaths.told
