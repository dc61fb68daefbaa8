"""The window that headcount opened for a session, and the ones that are people's own."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from headcount.core.values.terminal import Pane
from headcount.daemon.ending.signal_process import Wish
from headcount.daemon.ending.tmux_windows import TmuxWindows
from tests.rig.agents.stand_in import program
from tests.rig.core_values import Scene, bound, start
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import command, seated
from tests.rig.kernel.fake_kernel import FakeKernel
from tests.rig.terminal.tmux_fixtures import Make, Resident
from tests.rig.terminal.tmux_servers import Server


def launched(daemon: Daemon, tmux: Server, bin: Path, *words: str) -> dict[str, Any]:
    program(bin)
    env = {**daemon.env, "TMUX": f"{tmux.socket},{tmux.pid},0", "PATH": f"{bin}:{daemon.env['PATH']}"}
    argv = [sys.executable, "-m", "headcount", "launch", "--tmux", "work", "--json", "--", "claude", *words]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    eventually(lambda: daemon.session(id=told["session"]["id"])["where"])
    return told


def test_close_closes_the_window_that_was_opened_for_the_session(
    daemon: Daemon, server: Make, tmp_path: Path
) -> None:
    """Kept open by tmux, it is empty by then: nobody is hung up on."""
    tmux = server()
    tmux.run("set-option", "-g", "remain-on-exit", "on")
    told = launched(daemon, tmux, tmp_path / "bin")
    assert told["tmux"]["pane"] in tmux.panes()
    done = command(daemon, "close", told["session"]["id"], "--kill-after", "2")
    assert done.returncode == 0, done
    eventually(lambda: told["tmux"]["pane"] not in tmux.panes())


def test_close_leaves_a_pane_that_is_the_persons_own_unless_told(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    tmux = server()
    for option in ((), ("--close-window",)):
        claude = resident(tmux, through_a_shell=True)
        id = seated(daemon, claude)["id"]
        eventually(lambda id=id: daemon.session(id=id)["where"])
        done = command(daemon, "close", id, "--kill-after", "2", "--json", *option)
        assert done.returncode == 0, done
        assert (json.loads(done.stdout)["window"] is None) is (option == ())
        assert (claude.pane in tmux.panes()) is (option == ())


def test_a_window_with_another_session_in_it_is_not_closed(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    tmux = server()
    first, second = resident(tmux, through_a_shell=True), resident(tmux, through_a_shell=True)
    tmux.run("join-pane", "-d", "-s", second.pane, "-t", first.pane)
    ids = [seated(daemon, each)["id"] for each in (first, second)]
    for id in ids:
        eventually(lambda id=id: daemon.session(id=id)["where"])
    done = command(daemon, "close", ids[0], "--kill-after", "2", "--close-window", "--json")
    assert done.returncode == 0, done
    assert "is in it too" in json.loads(done.stdout)["window"]
    assert {first.pane, second.pane} <= tmux.panes().keys()
    assert daemon.session(id=ids[1])["liveness"] == "alive"


def test_the_window_that_the_caller_sits_in_is_not_closed(
    daemon: Daemon, server: Make, resident: Resident, tmp_path: Path
) -> None:
    """tmux would hang up on the very shell in which somebody typed it."""
    tmux = server()
    claude = resident(tmux, through_a_shell=True)
    id = seated(daemon, claude)["id"]
    eventually(lambda: daemon.session(id=id)["where"])
    told = tmp_path / "told"
    words = shlex.join(
        [sys.executable, "-m", "headcount", "close", id, "--close-window", "--kill-after", "2", "--json"]
    )
    env = shlex.join(["env", *(f"{name}={value}" for name, value in daemon.env.items())])
    line = f"{env} {words} >{told}.new 2>&1; mv {told}.new {told}; exec sleep 1000"
    caller = tmux.run(
        "split-window", "-d", "-P", "-F", "#{pane_id}", "-t", claude.pane, "--", "/bin/sh", "-c", line
    )
    eventually(told.exists, 30)
    assert json.loads(told.read_text())["window"].endswith("was left open: the caller is in it")
    assert {caller, claude.pane} <= tmux.panes().keys()


def test_the_intent_is_stored_before_tmux_hangs_up(daemon: Daemon, server: Make, resident: Resident) -> None:
    tmux = server()
    claude = resident(tmux, through_a_shell=True)
    id = seated(daemon, claude)["id"]
    eventually(lambda: daemon.session(id=id)["where"])
    shell = tmux.panes()[claude.pane]
    assert command(daemon, "close", id, "--kill-after", "2", "--close-window").returncode == 0
    query = f"/v1/history?session={id}&type=ending.intended&type=ending.finished"
    told = [(each["type"], each["facts"]) for each in daemon.get(query)["events"]]
    of_shell = [
        (type, facts.get("signal"), facts.get("outcome")) for type, facts in told if facts.get("pid") == shell
    ]
    assert of_shell == [("ending.intended", "SIGHUP", None), ("ending.finished", None, "exited")]


def test_who_is_in_a_window_is_the_kernels_word_and_not_where_it_was_last_seen() -> None:
    kernel, scene = FakeKernel(), Scene()
    shell = kernel.spawn("bash")
    scene.hear(start(anchor=bound(kernel.spawn("claude", parent=shell.pid))))
    (session,) = scene.sessions()
    assert session.where is None
    windows = TmuxWindows(None, kernel.processes(), None)  # type: ignore[arg-type]
    pane = Pane("/s", 1, 1, "%1", "@1", shell.pid, False, False, "work", 0, 0)
    assert windows._in_use([pane], [session], Wish("close", "operator")) == f"{session.id[:4]} is in it too"
    me = kernel.spawn("headcount", pid=os.getpid(), parent=kernel.spawn("bash").pid)
    other = replace(pane, pid=kernel.find(me.pid).facts.parent)
    assert windows._in_use([other], [session], Wish("close", "operator")) == "headcount itself is in it"
    free = replace(pane, pid=kernel.spawn("bash").pid)
    assert windows._in_use([free], [session], Wish("close", "operator")) is None
    caller = Wish("close", "operator", above=(kernel.find(free.pid).facts.identity,))
    assert windows._in_use([free], [session], caller) == "the caller is in it"
