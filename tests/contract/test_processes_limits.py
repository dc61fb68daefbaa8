"""Processes at the edge: no descriptor left, pids given again, numbers of threads, a foreign /proc."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount import times
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.verdict import Exit, Standing, Verdict
from headcount.system.processes.ancestry import ancestors
from headcount.system.processes.choose import open_processes
from headcount.system.processes.interface import Processes, ProcessGone, Unreadable
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.pidfds import calls
from headcount.system.processes.pidfds.kernel_features import Features
from headcount.system.processes.portable import PortableProcesses
from tests.rig.kernel.spawner import Spawner

ROOT = Path(__file__).parents[2]
UNSHARE = ("unshare", "--pid", "--fork", "--mount-proc")


def run(module: str, *arguments: str, inside: tuple[str, ...] = ()) -> dict[str, Any]:
    done = subprocess.run(
        [*inside, sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"},
        capture_output=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr.decode()
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def can_unshare() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0


needs_namespaces = pytest.mark.skipif(not can_unshare(), reason="pid namespaces cannot be made here")


@pytest.fixture
def spawner() -> Iterator[Spawner]:
    with Spawner() as made:
        yield made


# --- no descriptor left ---------------------------------------------------------------------------


@pytest.mark.parametrize("without", ["", "inode", "exit_info"])
def test_with_few_descriptors_every_death_is_still_found_and_nobody_else_dies(without: str) -> None:
    result = run("tests.rig.kernel.watch_more_than_descriptors", without, "spare")
    assert result["seen"] == 90 and result["dead_at_watch"] == 0
    assert result["polled"] > 0 and result["free"] == 3, "some are kept free for the rest of the daemon"
    assert result["too_early"] == 0
    assert result["told"] == result["killed"]
    assert result["watched_after"] == 90 - 45


def test_with_no_descriptor_at_all_doubt_is_not_death_and_the_watch_is_promoted_later() -> None:
    result = run("tests.rig.kernel.watch_more_than_descriptors", "", "hoard")
    assert result["dead_at_watch"] == 0 and result["too_early"] == 0
    assert result["polled"] == 90
    assert result["told"] == result["killed"], "a number that nothing has needs no descriptor to be seen"
    assert result["promoted"] > 0


# --- pids given again -----------------------------------------------------------------------------


@needs_namespaces
@pytest.mark.root
@pytest.mark.parametrize("without", ["", "exit_info"])
def test_a_reused_pid_is_not_alive_even_within_one_clock_tick(without: str) -> None:
    result = run("tests.rig.kernel.reuse_pid", without, "60", inside=UNSHARE)
    assert result["rounds"] == result["pid_fooled"] >= 60, "the naive check by pid is wrong every time"
    assert result["same_tick"] > 0, "the naive check by pid and start is wrong in these rounds"
    assert result["called_alive"] == result["called_alive_at_watch"] == 0
    assert result["proofs"] == {"Proof.REPLACED": result["rounds"]}
    assert result["told"] == 0


@needs_namespaces
@pytest.mark.root
@pytest.mark.parametrize("adapter", ["inode", "portable"])
def test_without_inodes_only_a_reuse_within_one_tick_goes_unseen(adapter: str) -> None:
    """What these variants can promise, no less and no more: docs/guarantees.md says so."""
    result = run("tests.rig.kernel.reuse_pid", adapter, "60", inside=UNSHARE)
    assert result["called_alive"] == result["same_tick"]


async def test_the_portable_adapter_believes_an_absence_only_when_it_is_seen_again(
    spawner: Spawner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(times, "POLL_EVERY", 0.02)
    passes: list[Standing] = []

    class Counting(PortableProcesses):
        def _judge_batch(self, identities: tuple[ProcessIdentity, ...]) -> dict[ProcessIdentity, Verdict]:
            verdicts = super()._judge_batch(identities)
            passes.extend(verdict.standing for verdict in verdicts.values())
            return verdicts

    processes, told = Counting(asyncio.get_running_loop()), asyncio.Event()
    stranger = spawner.stranger()
    seen = processes.look(stranger.pid)
    assert isinstance(seen, ProcessFacts)
    processes.watch(seen.identity, lambda *_: told.set())
    stranger.kill()
    stranger.wait_reaped()
    await asyncio.wait_for(told.wait(), 10)
    assert passes == [Standing.UNKNOWN, Standing.UNKNOWN]
    processes.close()


# --- odd numbers, odd names -----------------------------------------------------------------------


async def test_the_number_of_a_thread_is_not_a_process() -> None:
    processes = LinuxProcesses(asyncio.get_running_loop())
    hold, ready, ids = threading.Event(), threading.Event(), []

    def body() -> None:
        ids.append(threading.get_native_id())
        ready.set()
        hold.wait()

    thread = threading.Thread(target=body)
    thread.start()
    ready.wait()
    try:
        assert processes.look(ids[0]) == ProcessGone()
        here = processes.place()
        before = ProcessIdentity(here.boot, here.namespace, ids[0])
        assert processes.prove(before, "").standing is Standing.DEAD, "a process had it; now a thread has"
    finally:
        hold.set()
        thread.join()
        processes.close()


@pytest.mark.parametrize("adapter", [LinuxProcesses, PortableProcesses])
@pytest.mark.parametrize("name", [") R 1 (x y)", "a b c", "((", "))", "x\ny"])
async def test_a_name_full_of_parentheses_hides_nothing(
    spawner: Spawner, name: str, adapter: Callable[[asyncio.AbstractEventLoop], Processes]
) -> None:
    processes = adapter(asyncio.get_running_loop())
    seen = processes.look(spawner.named(name).pid)
    assert isinstance(seen, ProcessFacts)
    assert (seen.comm, seen.parent) == (name, os.getpid())
    processes.close()


async def test_facts_are_those_of_that_process(spawner: Spawner, tmp_path: Path) -> None:
    processes = LinuxProcesses(asyncio.get_running_loop())
    child = spawner.child(env={"MARK": "a=b", "OTHER": "x"}, cwd=str(tmp_path))
    seen = processes.look(child.pid)
    assert isinstance(seen, ProcessFacts)
    assert (seen.cwd, seen.uid, seen.parent) == (str(tmp_path), os.geteuid(), os.getpid())
    assert seen.argv[:4] == (sys.executable, "-I", "-S", "-c")
    assert processes.environ(seen.identity, frozenset({"MARK"})) == {"MARK": "a=b"}
    child.kill()
    child.wait_ended()
    assert processes.environ(seen.identity, frozenset({"MARK"})) == {}
    processes.close()


async def test_a_proc_of_another_namespace_is_not_read(
    spawner: Spawner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headcount.system.processes.boot_and_namespace.proc_is_ours", lambda: False)
    linux, portable = (
        LinuxProcesses(asyncio.get_running_loop()),
        PortableProcesses(asyncio.get_running_loop()),
    )
    pid, here = spawner.child().pid, portable.place()
    assert isinstance(linux.look(pid), Unreadable) and isinstance(portable.look(pid), Unreadable)
    another_start = ProcessIdentity(here.boot, here.namespace, pid, 1)
    assert portable.prove(another_start, here.machine).standing is Standing.UNKNOWN
    linux.close()
    portable.close()


def test_every_way_to_ask_a_handle_for_its_pid_gives_the_same(spawner: Spawner) -> None:
    neglected = spawner.neglected()
    assert calls.pid_of(neglected.pidfd) == calls.shown_pid(neglected.pidfd) == neglected.pid
    neglected.kill()
    neglected.wait_ended()
    assert calls.pid_of(neglected.pidfd) == calls.shown_pid(neglected.pidfd) == neglected.pid
    neglected.let_reap()
    assert calls.pid_of(neglected.pidfd) == calls.shown_pid(neglected.pidfd) == calls.REAPED


# --- ancestry -------------------------------------------------------------------------------------


async def test_a_re_parented_process_has_no_ancestors_beyond_the_gap(spawner: Spawner) -> None:
    processes = LinuxProcesses(asyncio.get_running_loop())
    orphan = spawner.orphan()
    assert os.getpid() not in [facts.pid for facts in ancestors(processes, orphan.pid)]
    processes.close()


async def test_a_middle_that_ends_during_the_walk_ends_the_walk(spawner: Spawner) -> None:
    """The middle is killed after the child was read: its number must lead nowhere."""
    processes = LinuxProcesses(asyncio.get_running_loop())
    last = spawner.chain(3)
    _, middle, child = last.extra
    walk = ancestors(processes, child)
    assert next(walk).pid == child
    pin = os.pidfd_open(middle)
    import select
    import signal

    signal.pidfd_send_signal(pin, signal.SIGKILL)
    assert select.select([pin], [], [], 5)[0]
    os.close(pin)
    assert list(walk) == []
    processes.close()


# --- features -------------------------------------------------------------------------------------


def test_features_are_switched_off_by_name() -> None:
    assert Features.from_text("") == Features()
    assert Features.from_text(" inode , exit_info") == Features(inode=False, exit_info=False)
    with pytest.raises(ValueError, match="no such feature: inodes"):
        Features.from_text("inodes")


CHOICES = [
    ("", "", "linux"),
    ("", "inode", "linux"),
    ("", "pidfd", "portable"),
    ("linux", "pidfd", "portable"),
    ("portable", "", "portable"),
]


def test_what_hangs_on_a_missing_feature_is_missing_too() -> None:
    assert Features() & Features.without("pidfd") == Features.without("pidfd", "inode", "exit_info")


@pytest.mark.parametrize(("adapter", "without", "name"), CHOICES)
async def test_without_pidfds_the_portable_adapter_is_chosen(adapter: str, without: str, name: str) -> None:
    processes = open_processes(asyncio.get_running_loop(), adapter, without)
    assert processes.name == name
    processes.close()


# --- many at once ---------------------------------------------------------------------------------


async def test_a_thousand_deaths_at_once_are_all_told_with_their_signal() -> None:
    processes = LinuxProcesses(asyncio.get_running_loop())
    children = [subprocess.Popen(["sleep", "600"]) for _ in range(1000)]
    told: dict[int, Exit] = {}
    done = asyncio.Event()

    def on_death(who: Any, verdict: Any) -> None:
        told[who.pid] = verdict.exit
        if len(told) == len(children):
            done.set()

    try:
        for child in children:
            seen = processes.look(child.pid)
            assert isinstance(seen, ProcessFacts)
            assert processes.watch(seen.identity, on_death).standing is Standing.ALIVE
        assert processes.polled() == 0
        for child in children:
            child.kill()
        await asyncio.wait_for(done.wait(), 10)
        assert set(told.values()) == {Exit(signal=9)}
    finally:
        for child in children:
            child.kill()
            child.wait()
        processes.close()
