"""What a process has open, by every process adapter: of that very incarnation, and with the kernel's word on locks."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from headcount.agents.codex.open_conversations import hosted
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.system.processes import open_files
from headcount.system.processes.interface import Processes
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.portable import PortableProcesses
from tests.rig.agents.open_conversations import CodexHost

MAKERS = {
    "linux": LinuxProcesses,
    "portable": PortableProcesses,
}


@pytest.fixture(params=MAKERS)
async def processes(request: pytest.FixtureRequest) -> Processes:
    return MAKERS[request.param](asyncio.get_running_loop())


@pytest.fixture
def host(tmp_path: Path) -> Iterator[CodexHost]:
    with CodexHost(tmp_path / "run", tmp_path / "codex") as made:
        yield made


def identity(processes: Processes, pid: int) -> ProcessIdentity:
    seen = processes.look(pid)
    assert isinstance(seen, ProcessFacts)
    return seen.identity


async def test_open_files_are_named_and_a_held_lock_is_told_from_an_open_one(
    processes: Processes, host: CodexHost
) -> None:
    held = host.open()
    host.tell("write", host.lock("other"))  # open, but nobody locked it
    found = processes.open_files(identity(processes, host.pid), processes.locks())
    assert found is not None
    files = {each.path: each.locked for each in found}
    assert files[str(host.lock(held))] in (True, None) and str(host.rollout(held)) in files
    assert files[str(host.lock("other"))] in (False, None)
    assert not any(path.startswith(("/dev/", "pipe:", "socket:")) for path in files)
    if processes.name == "linux":
        assert (files[str(host.lock(held))], files[str(host.lock("other"))]) == (True, False)
    host.close(held)
    again = processes.open_files(identity(processes, host.pid), processes.locks())
    assert again is not None and str(host.lock(held)) not in {each.path for each in again}


async def test_of_another_incarnation_and_of_the_dead_nothing_is_said(
    processes: Processes, host: CodexHost
) -> None:
    """None is not "nothing open": nothing may be concluded from it."""
    there = identity(processes, host.pid)
    assert there.started is not None
    before = replace(
        there, started=there.started - 5, inode=None if there.inode is None else there.inode + 10**7
    )
    assert processes.open_files(before, processes.locks()) is None
    host.kill()
    assert processes.open_files(there, processes.locks()) is None


@pytest.mark.parametrize("manner", ["unreadable", "cut"])
async def test_locks_that_cannot_be_told_close_no_conversation(
    host: CodexHost, monkeypatch: pytest.MonkeyPatch, manner: str
) -> None:
    """Out of descriptors, or hidden by a sandbox: "nobody holds it" would end every conversation of the process."""
    held = host.open()

    def refused(*_: object) -> None:
        raise OSError(24, "Too many open files")

    if manner == "cut":
        monkeypatch.setattr(open_files, "LOCKS_MOST", 1)
    else:
        monkeypatch.setattr(open_files, "open", refused, raising=False)
    processes = LinuxProcesses(asyncio.get_running_loop())
    found = processes.open_files(identity(processes, host.pid), processes.locks())
    assert found is not None
    assert {each.path: each.locked for each in found}[str(host.lock(held))] is None
    assert [each.conversation for each in hosted(found)] == [held]
