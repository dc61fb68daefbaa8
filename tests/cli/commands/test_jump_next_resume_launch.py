"""jump, next, resume and launch --tmux, on real tmux servers with terminals attached to them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headcount.cli.actions import jump_to_terminal
from headcount.cli.commands import launch
from headcount.cli.options import parsed
from tests.rig.agents.stand_in import Agent, in_environment, program
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import command, seated
from tests.rig.terminal.tmux_fixtures import Make, Resident, View
from tests.rig.terminal.tmux_servers import Server, has_ended


def found(daemon: Daemon, claude: Agent, event: str = "SessionStart", **fields: Any) -> dict[str, Any]:
    id = seated(daemon, claude, event, **fields)["id"]
    return eventually(lambda: next((row for row in daemon.sessions(id=id) if row["where"]), None))


def inside(daemon: Daemon, tmux: Server, pane: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """The command line as somebody in that pane types it."""
    env = {**daemon.env, "TMUX": f"{tmux.socket},{tmux.pid},0", "TMUX_PANE": pane}
    argv = [sys.executable, "-m", "headcount", *words]
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)


# --- jump ------------------------------------------------------------------------------------------------


def test_jump_switches_the_terminal_that_it_is_typed_in_to_the_pane(
    daemon: Daemon, server: Make, resident: Resident, view: View
) -> None:
    tmux = server()
    tmux.run("new-session", "-d", "-s", "other", "/bin/sh")
    desk = tmux.run("display-message", "-p", "-t", "=other:", "#{pane_id}")
    person, colleague = view(tmux, "other"), view(tmux)
    claude = resident(tmux)
    row = found(daemon, claude)
    before = colleague.sees()
    assert claude.pane not in (before, person.sees())
    done = inside(daemon, tmux, desk, "jump", row["id"][:6])
    assert done.returncode == 0, done.stderr
    assert person.sees() == claude.pane
    assert row["where"] in done.stdout


def test_jump_from_outside_shows_it_in_the_terminal_that_looks_at_its_session(
    daemon: Daemon, server: Make, resident: Resident, view: View
) -> None:
    tmux = server()
    person = view(tmux)
    claude = resident(tmux)
    row = found(daemon, claude)
    assert person.sees() != claude.pane
    done = command(daemon, "jump", row["id"], "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["shown"] is True
    assert person.sees() == claude.pane


def test_what_is_done_is_visited_by_whoever_jumps_there_and_not_by_whoever_could_not(
    daemon: Daemon, server: Make, resident: Resident, view: View
) -> None:
    tmux = server()
    claude = resident(tmux)
    id = found(daemon, claude)["id"]
    claude.hook(daemon.mailbox, "Stop")
    daemon.session(id=id, activity="done")
    assert command(daemon, "jump", id).returncode == 1  # nobody looks there: it is only told how
    assert daemon.session(id=id)["activity"] == "done"
    view(tmux)
    assert command(daemon, "jump", id).returncode == 0
    assert daemon.session(id=id)["activity"] == "idle"
    assert daemon.get(f"/v1/sessions/{id}/explain")["activity"]["because"] == "visited"
    daemon.restart()
    assert daemon.session(id=id, liveness="alive")["activity"] == "idle"
    claude.hook(daemon.mailbox, "Stop")
    daemon.session(id=id, activity="done")


def test_jump_to_a_session_nobody_looks_at_prints_the_command_and_takes_nothing_over(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    tmux = server()
    claude = resident(tmux)
    row = found(daemon, claude)
    done = command(daemon, "jump", row["id"])
    assert done.returncode == 1
    assert f"Run: tmux -S {tmux.socket} attach-session -t work" in done.stderr
    assert tmux.current() == claude.pane  # attaching will show it


def test_jump_into_tmux_inside_tmux_shows_the_outer_pane_too(
    daemon: Daemon, server: Make, resident: Resident, view: View
) -> None:
    outer, inner = server(), server("inner")
    holds = outer.window("sh", "-c", "unset TMUX; exec tmux -L inner attach -t work")
    eventually(lambda: inner.run("list-clients"))
    person = view(outer)
    claude = resident(inner)
    row = found(daemon, claude)
    assert person.sees() != holds
    done = command(daemon, "jump", row["id"])
    assert done.returncode == 0, done.stderr
    assert (inner.current(), person.sees()) == (claude.pane, holds)


def test_a_pane_id_of_a_later_server_is_not_gone_to(
    daemon: Daemon, server: Make, resident: Resident, view: View
) -> None:
    """Every server counts its panes from %0: the naive way shows whoever has that number now."""
    tmux = server()
    claude = resident(tmux)
    claude.run("trap '' HUP")
    row = found(daemon, claude)
    place = daemon.get(f"/v1/sessions/{row['id']}/where")
    os.kill(tmux.pid, 9)
    eventually(lambda: has_ended(tmux.pid))
    later = server()
    stranger = later.window("/bin/sh")
    assert stranger == claude.pane
    view(later)
    done = command(daemon, "jump", row["id"])
    assert done.returncode == 1
    assert later.current() != stranger
    assert jump_to_terminal.go(place, {}).shown is False  # nor by what was known of it before
    assert later.current() != stranger
    later.run("select-window", "-t", row["tmux"]["pane"])  # the naive way
    assert later.current() == stranger


def test_jump_to_an_ended_session_names_resume(daemon: Daemon, server: Make, resident: Resident) -> None:
    claude = resident(server())
    row = found(daemon, claude)
    claude.kill()
    daemon.session(id=row["id"], liveness="ended")
    done = command(daemon, "jump", row["id"])
    assert done.returncode == 5
    assert f"headcount resume {row['id'][:4]}" in done.stderr


@pytest.mark.parametrize(
    ("env", "told"),
    [
        (
            {"KITTY_WINDOW_ID": "7", "KITTY_LISTEN_ON": "unix:/tmp/kitty-1"},
            "kitty @ --to unix:/tmp/kitty-1 focus-window --match id:7",
        ),
        ({"WEZTERM_PANE": "4", "TERM_PROGRAM": "WezTerm"}, "wezterm cli activate-pane --pane-id 4"),
    ],
)
def test_kitty_and_wezterm_are_told(daemon: Daemon, tmp_path: Path, env: dict[str, str], told: str) -> None:
    """By a stand-in for their command that writes down what it was asked."""
    bin = tmp_path / "bin"
    bin.mkdir()
    for name in ("kitty", "wezterm"):
        (bin / name).write_text(f'#!/bin/sh\necho "{name} $*" >{tmp_path}/told\n')
        (bin / name).chmod(0o755)
    claude = in_environment(tmp_path / "agents", env)
    try:
        row = found(daemon, claude)
        daemon.env["PATH"] = f"{bin}:{daemon.env['PATH']}"
        assert command(daemon, "jump", row["id"]).returncode == 0
        assert (tmp_path / "told").read_text().strip() == told
    finally:
        claude.close()


@pytest.mark.parametrize("forged", ["7; rm -rf ~", "$(id)", "%5", "-1", "７"])
def test_k10_an_id_from_a_forged_environment_reaches_no_command(
    daemon: Daemon, tmp_path: Path, forged: str
) -> None:
    claude = in_environment(tmp_path / "agents", {"KITTY_WINDOW_ID": forged, "TERM_PROGRAM": "vscode"})
    try:
        row = found(daemon, claude)
        assert row["where"] == "vscode"
        done = command(daemon, "jump", row["id"])
        assert done.returncode == 1
        assert forged not in done.stderr.replace(str(tmp_path), "")
    finally:
        claude.close()


# --- next ------------------------------------------------------------------------------------------------


def test_next_goes_to_the_one_that_has_waited_longest_and_says_when_nobody_waits(
    daemon: Daemon, server: Make, resident: Resident, view: View
) -> None:
    tmux = server()
    person = view(tmux)
    done = command(daemon, "next", "--json")
    waiting_elsewhere = json.loads(done.stdout)["session"]  # another agent of whoever runs the tests
    if waiting_elsewhere is None:
        assert done.returncode == 5
    first, second = resident(tmux), resident(tmux)
    for each in (first, second):
        found(daemon, each)
        each.hook(daemon.mailbox, "PermissionRequest", tool_name="Bash", tool_input={"command": "ls"})
        eventually(lambda each=each: daemon.sessions(conversation=each.conversation, activity="waiting"))
    if waiting_elsewhere is None:
        assert command(daemon, "next").returncode == 0
        assert person.sees() == first.pane


# --- resume ----------------------------------------------------------------------------------------------


@pytest.fixture
def telling(tmp_path: Path, daemon: Daemon) -> Path:
    """A `claude` on the PATH that writes down how it was called, and then lives as an agent does."""
    bin = tmp_path / "bin"
    bin.mkdir()
    program(bin)
    (bin / "claude").rename(bin / "sh-claude")
    (bin / "claude").write_text(
        f'#!{bin}/sh-claude\necho "$PWD $* $HEADCOUNT_TOKEN_FILE" >>{tmp_path}/called\nsleep 60\n'
    )
    (bin / "claude").chmod(0o755)
    daemon.env["PATH"] = f"{bin}:{daemon.env['PATH']}"
    return tmp_path / "called"


def test_k1_resume_refuses_a_conversation_that_is_alive_and_names_where(
    daemon: Daemon, server: Make, resident: Resident, telling: Path
) -> None:
    claude = resident(server())
    row = found(daemon, claude)
    assert daemon.get(f"/v1/sessions/{row['id']}/resume")["alive_in"]["id"] == row["id"]
    done = command(daemon, "resume", row["id"])
    assert done.returncode == 3
    id = row["id"][:4]
    assert done.stderr.splitlines() == [
        f"Conversation is alive in {id} ({row['where']}); a second writer would fork it.",
        f"headcount jump {id}, or --anyway.",
    ]
    assert not telling.exists()


def test_resume_runs_the_agents_own_command_in_the_directory_of_the_conversation(
    daemon: Daemon, server: Make, resident: Resident, telling: Path, tmp_path: Path
) -> None:
    """Also when the session had gone below it: the CLI finds a conversation only where it began."""
    claude = resident(server())
    project = str(claude.cwd)
    below = Path(project) / "src" / "deep"
    below.mkdir(parents=True)
    slug = "".join(each if each.isascii() and each.isalnum() else "-" for each in project)
    row = found(daemon, claude, transcript_path=f"/nowhere/projects/{slug}/{claude.conversation}.jsonl")
    claude.hook(daemon.mailbox, "PreToolUse", tool_name="Bash", tool_input={}, cwd=str(below))
    eventually(lambda: daemon.session(id=row["id"])["cwd"] == str(below))
    claude.kill()
    daemon.session(id=row["id"], liveness="ended")
    argv = [sys.executable, "-m", "headcount", "resume", row["id"]]
    with subprocess.Popen(argv, env=daemon.env, stderr=subprocess.PIPE) as resumed:
        try:
            called = eventually(lambda: telling.exists() and telling.read_text().split())
            assert called[:3] == [project, "--resume", claude.conversation]
            assert Path(called[3]).parent == daemon.home / "tokens"
            after = daemon.session(conversation=claude.conversation, liveness="alive")
            assert (after["pid"], after["predecessor"]) == (resumed.pid, row["id"])
        finally:
            resumed.kill()


def test_k10_a_conversation_whose_id_is_not_of_the_agents_form_is_never_resumed(
    daemon: Daemon, server: Make, resident: Resident, telling: Path
) -> None:
    claude = resident(server())
    claude.conversation = "--dangerously-skip-permissions"
    claude.hook(daemon.mailbox, "SessionStart")
    row = eventually(lambda: daemon.sessions(pid=claude.pid, liveness="alive"))[0]
    claude.kill()
    daemon.session(id=row["id"], liveness="ended")
    done = command(daemon, "resume", row["id"])
    assert done.returncode == 3, done
    assert "cannot be resumed" in done.stderr
    assert not telling.exists()


def test_resume_says_when_the_directory_is_gone(
    daemon: Daemon, agent: Any, telling: Path, tmp_path: Path
) -> None:
    place = tmp_path / "gone"
    place.mkdir()
    claude = agent(cwd=place)
    row = seated(daemon, claude)
    claude.kill()
    daemon.session(id=row["id"], liveness="ended")
    for each in place.iterdir():
        each.unlink()
    place.rmdir()
    done = command(daemon, "resume", row["id"])
    assert done.returncode == 1
    assert "is not there any more" in done.stderr
    assert f"claude --resume {claude.conversation}" in done.stderr


# --- windows of our own ----------------------------------------------------------------------------------


def test_launch_in_a_window_runs_the_agent_as_the_windows_own_process(
    daemon: Daemon, server: Make, telling: Path
) -> None:
    tmux = server()
    desk = tmux.current()
    done = inside(
        daemon, tmux, desk, "launch", "--tmux", "work", "--name", "nightly", "--json", "--", "claude", "-x"
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    pane = told["tmux"]["pane"]
    row = daemon.session(id=told["session"]["id"])
    assert (row["name"], row["pid"]) == ("nightly", tmux.panes()[pane])
    assert tmux.current() == desk  # opened behind what the person looks at
    assert " -x " in eventually(lambda: telling.exists() and telling.read_text())
    eventually(lambda: daemon.session(id=row["id"])["where"] == tmux.text(pane))


def test_launch_in_a_session_that_is_not_there_makes_it(daemon: Daemon, server: Make, telling: Path) -> None:
    tmux = server()
    done = inside(daemon, tmux, tmux.current(), "launch", "--tmux", "agents", "--", "claude")
    assert done.returncode == 0, done.stderr
    assert "agents" in tmux.run("list-sessions", "-F", "#{session_name}").splitlines()


@pytest.mark.parametrize("name", ["a:b", "=work", "%1", "a.b"])
def test_k10_a_name_with_tmuxs_own_characters_is_refused(
    daemon: Daemon, server: Make, telling: Path, name: str
) -> None:
    tmux = server()
    before = tmux.panes()
    done = inside(daemon, tmux, tmux.current(), "launch", "--tmux", name, "--", "claude")
    assert done.returncode == 1
    assert "a session's name" in done.stderr
    assert tmux.panes() == before


def test_launch_in_a_window_refuses_a_living_conversation_before_it_opens_one(
    daemon: Daemon, server: Make, resident: Resident, telling: Path
) -> None:
    tmux = server()
    claude = resident(tmux)
    found(daemon, claude)
    before = tmux.panes()
    words = ("launch", "--tmux", "work", "--", "claude", "--resume", claude.conversation)
    done = inside(daemon, tmux, tmux.current(), *words)
    assert done.returncode == 3
    assert "a second writer would fork it" in done.stderr
    assert tmux.panes() == before


def test_resume_in_a_window(daemon: Daemon, server: Make, resident: Resident, telling: Path) -> None:
    tmux = server()
    claude = resident(tmux)
    row = found(daemon, claude)
    claude.kill()
    daemon.session(id=row["id"], liveness="ended")
    done = inside(daemon, tmux, tmux.current(), "resume", row["id"], "--tmux", "work", "--json")
    assert done.returncode == 0, done.stderr
    after = json.loads(done.stdout)["session"]
    assert (after["conversation"], after["predecessor"]) == (claude.conversation, row["id"])
    assert f"--resume {claude.conversation}" in eventually(lambda: telling.exists() and telling.read_text())


@pytest.mark.parametrize(
    ("words", "tmux", "rest"),
    [
        (["--tmux", "--", "claude"], "", ["claude"]),
        (["--tmux", "work", "--name", "x", "--", "claude", "--tmux"], "work", ["claude", "--tmux"]),
        (["--", "claude"], None, ["claude"]),
    ],
)
def test_what_stands_before_the_dashes_is_ours(words: list[str], tmux: str | None, rest: list[str]) -> None:
    args = parsed("launch", launch, words)
    assert (args.tmux, args.command) == (tmux, rest)
