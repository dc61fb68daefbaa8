"""A glance: equal while the same incarnation runs the same program, and never longer."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator

import pytest

from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.pidfds.kernel_features import Features
from tests.rig.kernel.spawner import Spawner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tell")


@pytest.fixture
async def processes() -> AsyncIterator[LinuxProcesses]:
    made = LinuxProcesses(asyncio.get_running_loop())
    if not made.features.inode:
        pytest.skip("this kernel does not number processes")
    yield made
    made.close()


async def test_it_stays_equal_while_nothing_changes(processes: LinuxProcesses) -> None:
    with Spawner() as spawner:
        child = spawner.child()
        assert processes.glance(child.pid) is not None
        assert processes.glance(child.pid) == processes.glance(child.pid)


async def test_another_process_differs_though_it_runs_the_same_program(processes: LinuxProcesses) -> None:
    with Spawner() as spawner:
        one, other = spawner.child(), spawner.child()
        assert processes.glance(one.pid) != processes.glance(other.pid)


async def test_exec_shows(processes: LinuxProcesses) -> None:
    """A shell that becomes an agent keeps its pid, its start and its inode."""
    shell = subprocess.Popen(["/bin/sh", "-c", "read go; exec sleep 60"], stdin=subprocess.PIPE)
    try:
        before = processes.glance(shell.pid)
        assert shell.stdin is not None
        shell.stdin.write(b"\n")
        shell.stdin.close()
        deadline = time.monotonic() + 10
        while os.readlink(f"/proc/{shell.pid}/exe").endswith("sleep") is False:
            assert time.monotonic() < deadline
        assert processes.glance(shell.pid) != before
    finally:
        shell.kill()
        shell.wait()


async def test_of_the_dead_it_tells_nothing(processes: LinuxProcesses) -> None:
    with Spawner() as spawner:
        child = spawner.child()
        child.kill()
        child.wait_reaped()
        assert processes.glance(child.pid) is None


async def test_without_numbered_processes_it_tells_nothing() -> None:
    processes = LinuxProcesses(asyncio.get_running_loop(), Features.from_text("inode"))
    try:
        assert processes.glance(os.getpid()) is None
    finally:
        processes.close()
