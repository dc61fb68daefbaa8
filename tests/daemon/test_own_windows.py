"""The window that headcount opened for a session, and the ones that are people's own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.rig.agent import program
from tests.rig.daemon import Daemon, eventually
from tests.rig.scenes import command, seated
from tests.rig.tmux import Server
from tests.rig.tmux_scenes import Make, Resident


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
