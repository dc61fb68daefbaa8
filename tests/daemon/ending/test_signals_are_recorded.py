"""What was signalled is told and recorded, also when descriptors, the disk or the wait fail after it."""

import asyncio
import os
import resource
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from headcount.daemon.ending.signal_process import EndTarget, ProcessEnder, Wish
from headcount.system.clock import SystemClock
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.pidfds.handle import ProcessHandle
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.recording_loop import WitnessLoop
from tests.rig.daemon.seated_agent import Make, seated


class Stage:
    def __init__(self) -> None:
        self.processes = LinuxProcesses(asyncio.get_running_loop())
        self.journal = WitnessLoop(self.processes.place())
        self.endings = ProcessEnder(self.processes, self.journal, SystemClock())  # type: ignore[arg-type]
        self.children = [subprocess.Popen(["sleep", "1000"]) for _ in range(2)]

    def targets(self) -> list[EndTarget]:
        seen = [self.processes.look(each.pid) for each in self.children]
        return [EndTarget(each.identity, "sleep") for each in seen]  # type: ignore[union-attr]

    def outcomes(self) -> list[str]:
        return [each.facts["outcome"] for each in self.journal.told if each.finished]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    made = Stage()
    yield made
    for each in made.children:
        each.kill()
        each.wait(10)
    made.processes.close()


async def test_with_no_descriptor_left_after_the_intent_the_end_is_still_waited_for(stage: Stage) -> None:
    """Waiting needed one more descriptor than signalling: everybody was signalled, and the answer was a fault."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    none = (3, before[1])
    stage.journal.then = lambda evidence: resource.setrlimit(resource.RLIMIT_NOFILE, none)
    try:
        results = await stage.endings.end(stage.targets(), Wish("reap", "operator"))
        with pytest.raises(OSError):
            os.dup(1)  # the control: there was none
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert [each.outcome for each in results] == ["exited", "exited"] == stage.outcomes()


async def test_a_wait_that_fails_hides_neither_the_others_nor_itself(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, broken = ProcessHandle.wait_ended, stage.children[0].pid

    async def wait_ended(self: ProcessHandle, within: float) -> bool:
        if self.pid == broken:
            raise OSError("no watch left")
        return await right(self, within)

    monkeypatch.setattr(ProcessHandle, "wait_ended", wait_ended)
    results = await stage.endings.end(stage.targets(), Wish("reap", "operator"))
    assert len(results) == len(stage.outcomes()) == 2
    assert results[0].outcome in ("exited", "survived") and results[1].outcome == "exited"


async def test_whoever_was_heard_from_since_the_intent_is_not_signalled(stage: Stage) -> None:
    heard: list[Any] = []
    stage.journal.then = heard.append
    wish = Wish("close", "policy", still=lambda: not heard)
    results = await stage.endings.end(stage.targets()[:1], wish)
    assert [each.outcome for each in results] == ["refused"] and stage.children[0].poll() is None


async def test_who_cannot_see_whom_it_runs_below_ends_nobody(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headcount.daemon.ending.signal_process.ancestors", lambda *_: iter(()))
    results = await stage.endings.end(stage.targets(), Wish("reap", "operator"))
    assert [each.outcome for each in results] == ["refused", "refused"]
    assert all(each.poll() is None for each in stage.children) and stage.journal.told == []


def test_a_disk_that_is_full_after_the_signal_is_no_answer_that_nothing_was_done(
    tmp_path: Path, agent: Make
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(LATE)
    full = tmp_path / "is-full"
    full.touch()
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    with Daemon(tmp_path / "late", PYTHONPATH=os.pathsep.join(paths), IS_FULL=str(full)) as daemon:
        claude = agent()
        id = seated(daemon, claude)["id"]
        answer = daemon.call("POST", f"/v1/sessions/{id}/stop", {})
        assert (answer.status, answer.data["ended"]) == (200, True)
        full.unlink()
        query = f"/v1/history?session={id}&type=ending.finished"
        events = eventually(lambda: daemon.get(query)["events"])
        assert [each["facts"]["outcome"] for each in events] == ["exited"]


LATE = """
import os
from headcount.core.values.events import EventType
from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
right, signalled = SqliteStore.commit, []
async def commit(self, events, *rest):
    if signalled and os.path.exists(os.environ["IS_FULL"]):
        raise StoreFault("full", "the disk is full")
    await right(self, events, *rest)
    signalled.extend(event for event in events if event.type is EventType.ENDING_INTENDED)
SqliteStore.commit = commit
"""
