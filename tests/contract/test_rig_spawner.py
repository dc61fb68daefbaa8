"""The toolbox itself: each stand-in is what its name says."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.rig.kernel.spawner import Spawner, state_of


@pytest.fixture
def spawner() -> Iterator[Spawner]:
    with Spawner() as made:
        yield made


def parent_of(pid: int) -> int:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[1])


def test_a_child_is_ours_and_ends_with_the_code_it_is_told(spawner: Spawner) -> None:
    child = spawner.child()
    assert parent_of(child.pid) == os.getpid()
    child.end(7)
    child.wait_reaped()
    assert child.own_child is not None and child.own_child.returncode == 7


def test_a_stranger_is_not_our_child_and_is_reaped_by_its_parent(spawner: Spawner) -> None:
    stranger = spawner.stranger()
    assert parent_of(stranger.pid) not in (os.getpid(), 1)
    stranger.kill()
    stranger.wait_reaped()
    assert not os.path.exists(f"/proc/{stranger.pid}")


def test_a_neglected_one_is_a_zombie_until_it_is_reaped(spawner: Spawner) -> None:
    neglected = spawner.neglected()
    neglected.end(3)
    neglected.wait_ended()
    assert state_of(neglected.pid) == "Z"
    neglected.let_reap()
    assert not os.path.exists(f"/proc/{neglected.pid}")


def test_an_orphan_has_lost_its_parent(spawner: Spawner) -> None:
    orphan = spawner.orphan()
    assert parent_of(orphan.pid) != os.getpid()
    assert not orphan.has_ended()


def test_one_without_its_main_thread_is_in_state_z_and_alive(spawner: Spawner) -> None:
    headless = spawner.main_thread_gone()
    assert state_of(headless.pid) == "Z"
    assert not headless.has_ended()
    headless.end(5)
    headless.wait_reaped()
    assert headless.own_child is not None and headless.own_child.returncode == 5


def test_a_stopped_one_is_stopped(spawner: Spawner) -> None:
    stopped = spawner.stopped()
    assert state_of(stopped.pid) == "T"
    stopped.signal(signal.SIGCONT)
    stopped.end(0)
    stopped.wait_reaped()


def test_a_named_one_carries_its_name(spawner: Spawner) -> None:
    odd = spawner.named(") R 1 (x y)")
    with open(f"/proc/{odd.pid}/comm") as file:
        assert file.read() == ") R 1 (x y)\n"


def test_a_chain_is_a_line_of_parents(spawner: Spawner) -> None:
    last = spawner.chain(4)
    assert len(last.extra) == 4
    assert [parent_of(pid) for pid in last.extra[1:]] == list(last.extra[:-1])


def test_nothing_is_left_after_the_spawner_is_closed() -> None:
    with Spawner() as spawner:
        made = [spawner.child(), spawner.stranger(), spawner.neglected(), spawner.orphan(), spawner.stopped()]
        chain = spawner.chain(3)
        pins = [os.pidfd_open(one.pid) for one in (*made, chain)]
    import select

    for pin in pins:
        assert select.select([pin], [], [], 5)[0]
        os.close(pin)
