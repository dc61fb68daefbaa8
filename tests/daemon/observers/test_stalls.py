"""Stalls on real processes: marked when nothing stirs, never while something computes, and nobody is woken for it."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from headcount import times
from headcount.bounded_thread import BoundedThreads
from headcount.core.state.world import World
from headcount.core.values.evidence import Evidence, Looked
from headcount.core.values.report import Turn
from headcount.daemon.observers import stalls as module
from headcount.daemon.observers.stalls import Stalls
from tests.rig.agents.stand_in import Agent
from tests.rig.core_values import T0, Scene, bound, report
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.kernel.fake_kernel import FakeKernel

PATIENCE = 1.6  # seconds, as the setting below says in minutes


@pytest.fixture(params=["linux", "portable"])
def daemon(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Daemon]:
    home = tmp_path / "headcount"
    home.mkdir()
    (home / "config.toml").write_text(f"stall_minutes = {PATIENCE / times.MINUTE}\n")
    with Daemon(home, HEADCOUNT_PROCESSES=request.param) as running:
        yield running


def working(daemon: Daemon, claude: Agent, **fields: Any) -> str:
    command = {"command": "make bench"}
    claude.hook(daemon.mailbox, "PreToolUse", tool_name="Bash", tool_input=command, **fields)
    return str(
        eventually(lambda: daemon.sessions(conversation=claude.conversation, activity="working"))[0]["id"]
    )


def test_a_working_session_in_which_nothing_stirs_is_marked_and_explains_itself(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    claude = agent()
    path = tmp_path / f"{claude.conversation}.jsonl"
    path.write_text("{}\n")
    id = working(daemon, claude, transcript_path=str(path))
    row = eventually(lambda: daemon.sessions(id=id, stalled=True))[0]
    assert (row["activity"], row["liveness"], row["ended"]) == ("working", "alive", None)
    still = [line for line in daemon.explain(id)["activity"]["evidence"] if line["says"] == "still"]
    assert [line["source"] for line in still] == ["hooks, registry", "transcript", "kernel"]
    assert all(line["at"] for line in still)

    with path.open("a") as file:  # the transcript grows
        file.write("{}\n")
    eventually(lambda: daemon.sessions(id=id, stalled=False))
    eventually(lambda: daemon.sessions(id=id, stalled=True))
    claude.hook(daemon.mailbox, "PostToolUse", tool_name="Bash")  # an event
    eventually(lambda: daemon.sessions(id=id, stalled=False))
    claude.kill()
    row = eventually(lambda: daemon.sessions(id=id, liveness="ended"))[0]
    assert row["stalled"] is False


def test_a_tool_that_computes_is_no_stall(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    claude, enough = agent(), tmp_path / "enough"
    assert claude.process.stdin is not None
    burner = f"timeout 60 sh -c 'while [ ! -e {enough} ]; do :; done' >/dev/null &\n"
    claude.process.stdin.write(burner * 3)  # a crowded machine leaves one of them too little
    claude.process.stdin.flush()
    id = working(daemon, claude)
    began = time.monotonic()
    while time.monotonic() - began < 2.5 * PATIENCE:
        row = daemon.sessions(id=id)[0]
        assert row["stalled"] is False, daemon.explain(id)["activity"]["evidence"]
        time.sleep(0.05)
    # The control is the same session once the tool is over: silence it was all along.
    enough.touch()
    eventually(lambda: daemon.sessions(id=id, stalled=True))


def test_a_session_at_rest_is_never_marked(daemon: Daemon, agent: Callable[..., Agent]) -> None:
    resting, still = agent(), agent()
    resting.hook(daemon.mailbox, "Stop")
    daemon.session(conversation=resting.conversation)
    id = working(daemon, still)
    eventually(lambda: daemon.sessions(id=id, stalled=True))  # as long as it takes to be marked
    assert daemon.session(conversation=resting.conversation)["stalled"] is False


# --- when it looks ------------------------------------------------------------------------------------


@dataclass
class Heard:
    """What a loop is to the sweep."""

    world: World
    told: list[Evidence] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"bugs": 0})

    def put(self, evidence: Evidence) -> None:
        self.told.append(evidence)


class FakeClock:
    at = T0

    def now(self) -> float:
        return self.at

    def boottime(self) -> float:
        return self.at


class Desk:
    def __init__(self, says: Turn) -> None:
        self.kernel, self.clock, self.scene = FakeKernel(), FakeClock(), Scene()
        self.process = self.kernel.spawn()
        self.decided = self.scene.hear(report(anchor=bound(self.process), says=says))
        self.loop = Heard(self.scene.world)
        self.stalls = Stalls(self.loop, self.kernel.processes(), self.clock, 0.04, BoundedThreads("look"))  # type: ignore[arg-type]

    async def look(self, ahead: float) -> Looked:
        """The next look, made at that time."""
        self.clock.at += ahead
        before = len(self.loop.told)
        deadline = time.monotonic() + 10
        while len(self.loop.told) == before:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.001)
        told = self.loop.told[-1]
        assert isinstance(told, Looked)
        return told


async def test_nobody_is_woken_while_nobody_works() -> None:
    desk = Desk(Turn.STOPPED)
    desk.stalls.noticed(desk.decided.events, desk.scene.world)
    desk.stalls.want(desk.scene.world)
    await asyncio.sleep(0.1)  # ten times as long as between two looks: what must not happen has no event
    assert (desk.stalls.looks, desk.loop.told, desk.stalls._timer) == (0, [], None)


async def test_the_sweep_ends_by_itself_when_the_last_turn_does_and_begins_with_the_next() -> None:
    desk = Desk(Turn.TOOL)
    desk.stalls.noticed(desk.decided.events, desk.scene.world)
    await desk.look(0)
    desk.scene.hear(report("Stop", T0 + 1, says=Turn.STOPPED, anchor=bound(desk.process)))
    deadline = time.monotonic() + 10
    while desk.stalls._timer is not None or desk.stalls._looking is not None:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.001)
    looks = desk.stalls.looks
    decided = desk.scene.hear(report("PreToolUse", T0 + 2, says=Turn.TOOL, anchor=bound(desk.process)))
    desk.stalls.noticed(decided.events, desk.scene.world)
    await desk.look(0)
    assert desk.stalls.looks > looks
    desk.stalls.close()


async def test_little_use_is_no_work_and_a_gap_starts_the_time_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(Turn.TOOL)
    monkeypatch.setattr(times, "STALL_BLIND_AFTER", 6_000.0)  # sixty seconds of this sweep
    desk.stalls.noticed(desk.decided.events, desk.scene.world)
    first = await desk.look(0)
    assert first.cpu_at == T0  # nothing to compare with: it has just stirred
    desk.kernel.burn(desk.process.pid, 0.5)  # a spinner: a twentieth of ten seconds
    assert (await desk.look(10)).cpu_at == T0
    desk.kernel.burn(desk.process.pid, 2.0)
    assert (await desk.look(10)).cpu_at == T0 + 20
    assert (await desk.look(10)).cpu_at == T0 + 20
    slept = await desk.look(8 * 3600)  # the machine slept
    assert slept.cpu_at == T0 + 30 + 8 * 3600
    desk.clock.at -= 3600  # and its clock was set back
    assert (await desk.look(0)).cpu_at == desk.clock.at
    desk.stalls.close()


async def test_a_process_that_cannot_be_read_is_told_as_unknown() -> None:
    desk = Desk(Turn.TOOL)
    desk.kernel.deny(desk.process.pid)
    desk.stalls.noticed(desk.decided.events, desk.scene.world)
    assert (await desk.look(0)).cpu_at is None
    desk.stalls.close()


async def test_a_transcript_that_hangs_is_unknown_and_stops_no_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    back = threading.Event()
    monkeypatch.setattr(module, "_size", lambda path: back.wait(20) and None)
    monkeypatch.setattr(times, "WORKTREE_WITHIN", 0.05)
    desk = Desk(Turn.TOOL)
    id = desk.scene.only().id
    desk.scene.world.sessions[id] = replace(desk.scene.only(), transcript="/mnt/away/x.jsonl")
    desk.stalls.noticed(desk.decided.events, desk.scene.world)
    try:
        told = await desk.look(0)
        assert (told.cpu_at, told.transcript_at) == (desk.clock.at, None)
    finally:
        back.set()
        desk.stalls.close()
