"""Children, carriers and handles of processes, on every adapter and on the fake."""

import asyncio
import os
import signal

import pytest

from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.system.processes.interface import Processes
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.pidfds.handle import NotHeld, ProcessHandle
from headcount.system.processes.portable import PortableProcesses
from headcount.system.send_signal import Sent, send
from tests.rig.kernel.real_and_fake_processes import WORLDS
from tests.rig.kernel.spawner import Spawner

NAME = "HEADCOUNT_TEST_MARK"


def identity(processes: Processes, pid: int) -> ProcessIdentity:
    seen = processes.look(pid)
    assert isinstance(seen, ProcessFacts), seen
    return seen.identity


@pytest.mark.parametrize("name", WORLDS)
async def test_children_are_those_of_that_very_process(name: str) -> None:
    world = WORLDS[name](asyncio.get_running_loop())
    try:
        processes = world.adapter()
        top, middle, last = world.chain(3)
        assert processes.children(identity(processes, top)) == (middle,)
        assert processes.children(identity(processes, middle)) == (last,)
        assert processes.children(identity(processes, last)) == ()
        other = identity(processes, top)
        stale = ProcessIdentity(other.boot, other.namespace, top, (other.started or 0) + 1, 7)
        assert processes.children(stale) == ()
    finally:
        world.close()


@pytest.mark.parametrize("adapter", ["linux", "portable"])
async def test_carriers_are_found_with_what_they_carry_and_nothing_else(adapter: str) -> None:
    loop = asyncio.get_running_loop()
    processes: Processes = LinuxProcesses(loop) if adapter == "linux" else PortableProcesses(loop)
    try:
        with Spawner() as spawner:
            carrier = spawner.child(env={**os.environ, NAME: "a=b", "SECRET": "s"})
            plain = spawner.child(env={"PATH": os.environ["PATH"], "X": f"{NAME}=not-a-mark"})
            found = processes.carriers(frozenset({NAME}))
            assert found[carrier.pid] == {NAME: "a=b"}
            assert plain.pid not in found, "only a variable of that name counts"
    finally:
        processes.close()


async def test_a_handle_signals_and_waits_for_that_very_process() -> None:
    processes = LinuxProcesses(asyncio.get_running_loop())
    try:
        with Spawner() as spawner:
            child = spawner.child()
            held = processes.hold(identity(processes, child.pid))
            assert isinstance(held, ProcessHandle)
            with held.closing():
                assert not await held.wait_ended(0)
                assert isinstance(send(held, signal.SIGTERM), Sent)
                assert await held.wait_ended(10) and held.has_ended()
    finally:
        processes.close()


async def test_there_is_no_handle_of_another_incarnation_or_of_the_dead() -> None:
    processes = LinuxProcesses(asyncio.get_running_loop())
    try:
        with Spawner() as spawner:
            child = spawner.child()
            real = identity(processes, child.pid)
            other = ProcessIdentity(real.boot, real.namespace, real.pid, real.started, (real.inode or 0) + 1)
            assert isinstance(processes.hold(other), NotHeld)
            elsewhere = ProcessIdentity(real.boot, real.namespace + 1, real.pid, real.started, real.inode)
            assert isinstance(processes.hold(elsewhere), NotHeld)
            child.end(0)
            child.wait_ended()
            gone = processes.hold(real)
            assert isinstance(gone, NotHeld) and gone.over
    finally:
        processes.close()


async def test_where_nothing_can_be_pinned_there_is_no_handle() -> None:
    processes = PortableProcesses(asyncio.get_running_loop())
    try:
        with Spawner() as spawner:
            held = processes.hold(identity(processes, spawner.child().pid))
            assert isinstance(held, NotHeld) and not held.over
    finally:
        processes.close()
