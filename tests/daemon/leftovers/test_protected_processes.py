"""What living sessions and people hang on is neither listed as a leftover nor ended as one."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount.daemon.ending.signal_process import EndTarget, ProcessEnder, Wish
from headcount.system.clock import SystemClock
from headcount.system.processes.linux import LinuxProcesses
from tests.rig.agents.agent_below_leftover import Supervised
from tests.rig.agents.callers import marks
from tests.rig.agents.stand_in import Agent, program
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.recording_loop import WitnessLoop
from tests.rig.daemon.seated_agent import Make, command, needs_root, seated
from tests.rig.leftovers.leave_processes import left_by
from tests.rig.terminal.tmux_servers import Server, has_ended


@pytest.fixture
def below(agent: Make) -> Iterator[Any]:
    made: list[Supervised] = []

    def make(starter: Agent) -> Supervised:
        made.append(Supervised(starter))
        return made[-1]

    yield make
    for each in made:
        each.close()


def pids(daemon: Daemon) -> set[int | None]:
    return {row["pid"] for row in daemon.get("/v1/leftovers?all=1")["leftovers"]}


def died(claude: Agent, daemon: Daemon, id: str) -> None:
    claude.kill()
    eventually(lambda: daemon.sessions(id=id, liveness="ended"))


# --- above a living session ----------------------------------------------------------------------------


def test_whoever_stands_above_a_living_session_is_not_listed(daemon: Daemon, agent: Make, below: Any) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    inner = below(claude)
    inner.begin()
    seated(daemon, inner)
    with left_by(claude) as child:
        died(claude, daemon, id)
        eventually(lambda: child.pid in pids(daemon))
        assert inner.supervisor not in pids(daemon)


def test_a_leftover_above_which_a_session_began_is_refused_and_the_session_lives(
    daemon: Daemon, agent: Make, below: Any
) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    inner = below(claude)
    died(claude, daemon, id)
    eventually(lambda: inner.supervisor in pids(daemon))
    inner.begin()
    living = seated(daemon, inner)["id"]
    done = command(daemon, "reap", "--pid", str(inner.supervisor), "--yes")
    assert done.returncode == 3 and f"a living session runs below it: {living[:4]}" in done.stdout
    done = command(daemon, "close", id)
    assert done.returncode == 3, done
    assert daemon.session(id=living)["liveness"] == "alive" and not has_ended(inner.pid)


def test_a_session_that_others_run_below_is_stopped_only_with_all(
    daemon: Daemon, agent: Make, below: Any
) -> None:
    """The outer one is told apart from a process that merely looks related: it is really above."""
    claude, other = agent(), agent()
    outer, alone = seated(daemon, claude)["id"], seated(daemon, other)["id"]
    inner = nested(claude)
    try:
        living = eventually(lambda: daemon.sessions(pid=inner, liveness="alive"))[0]["id"]
        done = command(daemon, "stop", outer)
        assert done.returncode == 3 and living[:4] in done.stderr and "--all" in done.stderr
        assert claude.process.poll() is None
        assert command(daemon, "stop", alone).returncode == 0
        assert command(daemon, "stop", outer, "--all").returncode == 0
    finally:
        end(inner)


def nested(claude: Agent) -> int:
    """An agent that is the agent's own child."""
    inner, ready = program(claude.cwd / "nested"), claude.cwd / "nested.ready"
    body = f"echo $$ >{ready}.new; mv {ready}.new {ready}; sleep 1000"
    assert claude.process.stdin is not None
    claude.process.stdin.write(f"{inner} -c '{body}; true' </dev/null >/dev/null 2>&1 &\n")
    claude.process.stdin.flush()
    return int(eventually(lambda: ready.exists() and ready.read_text()))


def end(pid: int) -> None:
    if not has_ended(pid):
        os.kill(pid, 9)


# --- terminals -----------------------------------------------------------------------------------------


def test_a_tmux_server_that_an_agent_started_and_peoples_windows_in_it_are_no_leftovers(
    daemon: Daemon, agent: Make, tmp_path: Path
) -> None:
    """Both carry the agent's marks: a server gives its environment to every window, also weeks later."""
    claude = agent()
    id = seated(daemon, claude)["id"]
    tmux = Server(tmp_path / "started", **marks(claude))
    try:
        with left_by(claude) as child:
            died(claude, daemon, id)
            eventually(lambda: child.pid in pids(daemon))
            pane = tmux.window("/bin/sh")
            window = tmux.panes()[pane]
            for _ in range(2):
                assert command(daemon, "reap").returncode == 0
                assert not pids(daemon) & {tmux.pid, window, *tmux.panes().values()}
                daemon.restart()
                eventually(lambda: child.pid in pids(daemon))
        assert not has_ended(tmux.pid)
    finally:
        tmux.close()


async def test_a_terminal_server_that_was_listed_once_is_not_ended(tmp_path: Path) -> None:
    tmux = Server(tmp_path / "t")
    processes = LinuxProcesses(asyncio.get_running_loop())
    try:
        endings = ProcessEnder(processes, WitnessLoop(processes.place()), SystemClock())  # type: ignore[arg-type]
        for pid in (tmux.pid, *tmux.panes().values()):
            target = EndTarget(processes.look(pid).identity, "x", leftover="l1")  # type: ignore[union-attr,arg-type]
            (result,) = await endings.end([target], Wish("reap", "operator"))
            assert (result.outcome, result.because) == ("refused", "it is a terminal server, or runs in one")
            assert not has_ended(pid)
    finally:
        processes.close()
        tmux.close()


# --- what only a look found ----------------------------------------------------------------------------


def test_a_dry_run_names_what_a_leftover_started_since_and_stores_nothing(
    daemon: Daemon, agent: Make
) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    marked = " ".join(f"{name}={value}" for name, value in marks(claude).items())
    gate, ready = claude.cwd / "gate", claude.cwd / "ready"
    os.mkfifo(gate)
    body = f"echo $$ >{ready}; read -r go <{gate}; env -i /bin/sleep 1000; true"
    assert claude.process.stdin is not None
    claude.process.stdin.write(f"env {marked} setsid -f /bin/sh -c '{body}' </dev/null >/dev/null 2>&1\n")
    claude.process.stdin.flush()
    parent = int(eventually(lambda: ready.exists() and ready.read_text().strip()))
    died(claude, daemon, id)
    eventually(lambda: parent in pids(daemon))
    gate.write_text("go\n")
    children = Path(f"/proc/{parent}/task/{parent}/children")
    child = int(eventually(lambda: children.read_text().strip()))
    try:
        before = daemon.get("/v1/status")["store"]["seq"]
        done = command(daemon, "reap", id)
        assert done.returncode == 0 and str(child) in done.stdout and str(parent) in done.stdout
        stored = daemon.get(f"/v1/history?after={before}&limit=100")["events"]
        assert child not in pids(daemon) and not [each for each in stored if "leftover" in each["type"]]
        assert command(daemon, "reap", id, "--yes").returncode == 0
        assert has_ended(parent) and has_ended(child)
    finally:
        end(child)
        end(parent)


@needs_root
def test_marks_from_another_pid_namespace_name_nobody_here(daemon: Daemon, agent: Make) -> None:
    """Its agent's number is of that namespace; here nobody has it, and its owner would be taken for dead."""
    daemon.kill()
    claude = agent()
    with left_by(claude, how="setsid") as orphan:
        claude.kill()
        words = ["env", *(f"{name}={value}" for name, value in marks(claude).items()), "sleep", "1000"]
        apart = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", *words])
        try:
            children = Path(f"/proc/{apart.pid}/task/{apart.pid}/children")
            inside = int(eventually(lambda: children.read_text().strip()))
            eventually(lambda: b"CLAUDE_PID" in Path(f"/proc/{inside}/environ").read_bytes())
            daemon.ready()
            eventually(lambda: orphan.pid in pids(daemon))
            assert inside not in pids(daemon)
        finally:
            apart.kill()
            apart.wait(10)
