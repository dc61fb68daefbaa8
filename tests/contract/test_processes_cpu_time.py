"""Processor time, on every adapter and on the fake kernel: of that very process, and of what it started."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.system.processes.interface import Processes
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.portable import PortableProcesses
from tests.rig.daemon.real_daemon import eventually
from tests.rig.kernel.fake_kernel import FakeKernel

BURN = 0.3  # seconds of processor time
RESTS = "import sys; sys.stdin.read()"
BURNS = """
import sys, time
sys.stdin.readline()
while time.process_time() < float(sys.argv[1]): pass
print("burnt", flush=True)
sys.stdin.read()
"""
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", sys.argv[1], sys.argv[2]], stdin=0, stdout=1)
child.wait()
print("reaped", flush=True)
while True:
    import signal; signal.pause()
"""

ADAPTERS: dict[str, Callable[[asyncio.AbstractEventLoop], Processes]] = {
    "linux": LinuxProcesses,
    "portable": PortableProcesses,
}


@pytest.fixture(params=ADAPTERS)
async def processes(request: pytest.FixtureRequest):
    made = ADAPTERS[request.param](asyncio.get_running_loop())
    yield made
    made.close()


@pytest.fixture
def run() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    started: list[subprocess.Popen[str]] = []

    def make(*words: str) -> "subprocess.Popen[str]":
        started.append(
            subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield make
    for each in started:
        each.kill()
        each.wait()
        for pipe in (each.stdin, each.stdout):
            if pipe is not None:
                pipe.close()


def identity(processes: Processes, pid: int) -> ProcessIdentity:
    seen = processes.look(pid)
    assert isinstance(seen, ProcessFacts)
    return seen.identity


def told(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


async def test_what_a_process_burns_is_counted(processes: Processes, run) -> None:
    burning = run(BURNS, str(BURN))
    who = identity(processes, burning.pid)
    before = processes.cpu_time(who)
    tell(burning)
    assert told(burning) == "burnt"
    after = processes.cpu_time(who)
    assert before is not None and after is not None
    assert after >= before and after >= BURN - 0.02


async def test_one_that_rests_burns_next_to_nothing(processes: Processes, run) -> None:
    resting = run(RESTS)
    who = identity(processes, resting.pid)
    eventually(lambda: _sleeps(resting.pid))
    before = processes.cpu_time(who)
    time.sleep(0.3)
    after = processes.cpu_time(who)
    assert before is not None and after is not None and after - before < 0.1


async def test_a_child_that_works_counts_while_it_lives_and_after_it_was_reaped(
    processes: Processes, run
) -> None:
    parent = run(PARENT, BURNS, str(BURN))
    who = identity(processes, parent.pid)
    tell(parent)
    assert told(parent) == "burnt"
    alive = processes.cpu_time(who)
    assert alive is not None and alive >= BURN - 0.02
    assert parent.stdin is not None
    parent.stdin.close()  # the child ends, and is reaped
    assert told(parent) == "reaped"
    after = processes.cpu_time(who)
    assert after is not None and after >= BURN - 0.02


async def test_an_earlier_owner_of_the_pid_has_no_time(processes: Processes, run) -> None:
    resting = run(RESTS)
    who = identity(processes, resting.pid)
    assert who.started is not None
    before = replace(who, started=who.started - 500, inode=who.inode and who.inode + 10_000_000)
    assert processes.cpu_time(before) is None
    resting.kill()
    resting.wait()
    eventually(lambda: processes.cpu_time(who) is None)


async def test_another_boot_or_namespace_has_no_time(processes: Processes, run) -> None:
    who = identity(processes, run(RESTS).pid)
    assert processes.cpu_time(replace(who, boot="another")) is None
    assert processes.cpu_time(replace(who, namespace=who.namespace + 1)) is None


def test_the_fake_kernel_keeps_the_same_promise() -> None:
    kernel = FakeKernel()
    processes = kernel.processes()
    who = kernel.spawn()
    child = kernel.spawn(parent=who.pid)
    kernel.burn(who.pid, 1.0)
    kernel.burn(child.pid, 2.0)
    assert processes.cpu_time(who) == 3.0
    kernel.reuse(who.pid)
    assert processes.cpu_time(who) is None


def _sleeps(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(") ")[2].startswith("S")
