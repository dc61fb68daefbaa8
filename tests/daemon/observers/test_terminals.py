"""Where sessions are: real tmux servers, real panes, and what is said when tmux cannot be asked."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.stand_in import in_environment
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import seated
from tests.rig.terminal.tmux_fixtures import Make, Resident
from tests.rig.terminal.tmux_servers import Server, has_ended


def found(daemon: Daemon, id: str) -> dict[str, Any]:
    return eventually(lambda: next((row for row in daemon.sessions(id=id) if row["where"]), None))


# --- finding the pane ------------------------------------------------------------------------------------


@pytest.mark.parametrize("through_a_shell", [False, True])
def test_a_session_is_shown_in_the_pane_that_its_process_is_in(
    daemon: Daemon, server: Make, resident: Resident, through_a_shell: bool
) -> None:
    tmux = server()
    claude = resident(tmux, through_a_shell=through_a_shell)
    row = found(daemon, seated(daemon, claude)["id"])
    assert row["where"] == tmux.text(claude.pane)
    assert row["tmux"] == {"socket": tmux.socket, "pane": claude.pane}
    assert (tmux.panes()[claude.pane] == claude.pid) is not through_a_shell


def test_the_portable_adapter_finds_the_pane_too(
    tmp_path: Path, base: Path, server: Make, resident: Resident
) -> None:
    tmux = server()
    claude = resident(tmux, through_a_shell=True)
    with Daemon(tmp_path / "headcount", TMUX_TMPDIR=str(base), HEADCOUNT_PROCESSES="portable") as daemon:
        row = found(daemon, seated(daemon, claude)["id"])
        assert row["tmux"] == {"socket": tmux.socket, "pane": claude.pane}


def test_a_pane_is_found_without_any_help_from_the_environment(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    tmux = server()
    claude = resident(tmux, env="env -u TMUX -u TMUX_PANE -u TERM_PROGRAM")
    row = found(daemon, seated(daemon, claude)["id"])
    assert row["tmux"]["pane"] == claude.pane


def test_a_terminal_that_was_started_inside_a_pane_is_not_in_that_pane(
    daemon: Daemon, server: Make, tmp_path: Path
) -> None:
    """It inherits TMUX and TMUX_PANE; the naive way believes them."""
    tmux = server()
    pane = next(iter(tmux.panes()))
    naive = {"TMUX": f"{tmux.socket},{tmux.pid},0", "TMUX_PANE": pane}
    os.environ.update(naive)
    try:
        claude = in_environment(tmp_path / "agents", {**naive, "KITTY_WINDOW_ID": "7"})
    finally:
        for name in naive:
            del os.environ[name]
    try:
        row = found(daemon, seated(daemon, claude)["id"])
        assert naive["TMUX_PANE"] == pane  # what the naive way would show
        assert (row["where"], row["tmux"]) == ("kitty", None)
    finally:
        claude.close()


@pytest.mark.parametrize(
    ("env", "shown"),
    [
        ({"TERM_PROGRAM": "vscode"}, "vscode"),
        ({"KITTY_WINDOW_ID": "3"}, "kitty"),
        ({"WEZTERM_PANE": "0", "TERM_PROGRAM": "WezTerm"}, "wezterm"),
        ({"TERMINAL_EMULATOR": "JetBrains-JediTerm"}, "jetbrains"),
    ],
)
def test_other_terminals_are_known_by_their_environment(
    daemon: Daemon, tmp_path: Path, env: dict[str, str], shown: str
) -> None:
    claude = in_environment(tmp_path / "agents", env)
    try:
        assert found(daemon, seated(daemon, claude)["id"])["where"] == shown
    finally:
        claude.close()


# --- several servers, nested ones, and none --------------------------------------------------------------


def test_panes_of_several_servers_are_told_apart(
    daemon: Daemon, server: Make, resident: Resident, tmp_path: Path
) -> None:
    """Both have a pane %1, and one has its socket elsewhere."""
    here, there = server(), server("other", tmp_path / "u")
    first, second = resident(here), resident(there)
    assert first.pane == second.pane
    rows = [found(daemon, seated(daemon, each)["id"]) for each in (first, second)]
    assert [row["tmux"]["socket"] for row in rows] == [here.socket, there.socket]


def test_of_tmux_inside_tmux_the_inner_pane_is_the_sessions(
    daemon: Daemon, server: Make, resident: Resident, base: Path
) -> None:
    outer = server()
    inner = server("inner")
    outer.window("sh", "-c", "unset TMUX; exec tmux -L inner attach -t work")
    eventually(lambda: inner.run("list-clients"))
    claude = resident(inner)
    row = found(daemon, seated(daemon, claude)["id"])
    assert row["tmux"] == {"socket": inner.socket, "pane": claude.pane}


def test_a_server_that_does_not_answer_leaves_the_place_as_it_was(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    """The naive way: a list that could not be had is an empty list. Nor is it in the terminal in which the server was
    once started, whose name every pane inherits."""
    tmux = server()
    claude = resident(tmux, env="env -u TERM_PROGRAM KITTY_WINDOW_ID=1")
    row = found(daemon, seated(daemon, claude)["id"])
    os.kill(tmux.pid, signal.SIGSTOP)
    asked = daemon.get(f"/v1/sessions/{row['id']}/where")
    assert (asked["known"], asked["pane"]) == (False, claude.pane)
    assert "cannot be asked" in asked["because"]
    assert _naive_panes(tmux) == []
    assert daemon.session(id=row["id"])["where"] == row["where"]
    os.kill(tmux.pid, signal.SIGCONT)
    assert eventually(lambda: daemon.get(f"/v1/sessions/{row['id']}/where")["known"])


def _naive_panes(server: Server) -> list[str]:
    try:
        done = subprocess.run(
            ["tmux", "-S", server.socket, "list-panes", "-a"], capture_output=True, text=True, timeout=0.3
        )
    except subprocess.TimeoutExpired:
        return []
    return done.stdout.splitlines()


def test_a_socket_that_was_swept_away_is_no_proof_that_the_server_is_gone(
    daemon: Daemon, server: Make, resident: Resident, base: Path
) -> None:
    tmux = server()
    claude = resident(tmux)
    row = found(daemon, seated(daemon, claude)["id"])
    os.rename(tmux.socket, str(base / "swept"))
    try:
        asked = daemon.get(f"/v1/sessions/{row['id']}/where")
        assert (asked["known"], asked["session"]["where"]) == (False, row["where"])
    finally:
        os.rename(str(base / "swept"), tmux.socket)


def test_a_session_that_outlives_its_server_is_in_no_terminal(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    tmux = server()
    claude = resident(tmux)
    claude.run("trap '' HUP")
    row = found(daemon, seated(daemon, claude)["id"])
    os.kill(tmux.pid, signal.SIGKILL)
    eventually(lambda: has_ended(tmux.pid))
    asked = daemon.get(f"/v1/sessions/{row['id']}/where")
    assert (asked["known"], asked["program"], asked["session"]["where"]) == (True, None, None)
    assert daemon.session(id=row["id"])["liveness"] == "alive"


def test_a_window_that_is_killed_under_its_agent_ends_the_session_and_nothing_else(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    tmux = server()
    first, second = resident(tmux), resident(tmux)
    rows = [found(daemon, seated(daemon, each)["id"]) for each in (first, second)]
    tmux.run("kill-window", "-t", first.pane)
    ended = daemon.session(id=rows[0]["id"], liveness="ended")
    assert ended["ended"]["kind"] in ("killed", "exited")
    assert ended["where"] == rows[0]["where"]
    assert daemon.session(id=rows[1]["id"])["liveness"] == "alive"


def test_a_pane_that_moved_is_found_where_it_is_now(daemon: Daemon, server: Make, resident: Resident) -> None:
    tmux = server()
    claude = resident(tmux)
    row = found(daemon, seated(daemon, claude)["id"])
    tmux.run("move-window", "-s", claude.pane, "-t", "work:7")
    daemon.get(f"/v1/sessions/{row['id']}/where")
    assert daemon.session(id=row["id"])["where"] == "work:7.0"


def test_where_a_session_is_outlives_a_restart(daemon: Daemon, server: Make, resident: Resident) -> None:
    tmux = server()
    claude = resident(tmux)
    row = found(daemon, seated(daemon, claude)["id"])
    os.kill(tmux.pid, signal.SIGSTOP)
    daemon.restart()
    assert daemon.session(id=row["id"])["tmux"] == row["tmux"]
