"""Panes, worktrees and records that ended sessions left: reported once each, never touched."""

import os
import signal
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import seated
from tests.rig.leftovers.checkouts_and_records import examined, git, machine, placed, record, started, there
from tests.rig.terminal.tmux_fixtures import Make, Resident

MakeAgent = Callable[..., Agent]


# --- worktrees -------------------------------------------------------------------------------------------


def test_commits_that_no_remote_has_are_work_too_and_a_push_ends_the_leftover(
    daemon: Daemon, agent: MakeAgent, repo: Path
) -> None:
    claude = agent(cwd=repo)
    row = seated(daemon, claude)
    git(repo, "checkout", "-q", "-b", "topic")
    (repo / "a").write_text("a")
    git(repo, "add", "a")
    git(repo, "commit", "-q", "-m", "two")
    claude.kill()
    examined(daemon, row["id"])
    (found,) = there(daemon, "worktree", row["id"])
    assert found["what"].endswith("web, 1 unpushed")
    git(repo, "push", "-q", "origin", "topic")
    eventually(lambda: not there(daemon, "worktree", row["id"]), within=20)
    (told,) = daemon.get(f"/v1/history?session={row['id']}&type=leftover.found")["events"]
    assert told["leftover"]["id"] == found["id"]  # one warning


def test_a_clean_worktree_and_one_where_another_session_works_are_no_leftovers(
    daemon: Daemon, agent: MakeAgent, repo: Path
) -> None:
    first = agent(cwd=repo)
    row = seated(daemon, first)
    first.kill()
    assert examined(daemon, row["id"])["left"] == {}
    (repo / "new").write_text("x")
    second, third = agent(cwd=repo), agent(cwd=repo)
    rows = [seated(daemon, each) for each in (second, third)]
    second.kill()
    assert examined(daemon, rows[0]["id"])["left"] == {}
    third.kill()
    assert examined(daemon, rows[1]["id"])["left"] == {"worktree": 1}


def test_looking_at_a_worktree_runs_nothing_that_its_settings_name(
    daemon: Daemon, agent: MakeAgent, repo: Path
) -> None:
    """A filter or a file monitor would run as the daemon, outside the agent that wrote it there."""
    ran = repo.parent / "ran"
    trap = repo.parent / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 >>{ran}\ncat\n")
    trap.chmod(0o755)
    (repo / ".gitattributes").write_text("*.txt filter=evil\n")
    (repo / "a.txt").write_text("a")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "two")
    git(repo, "config", "filter.evil.clean", str(trap))
    git(repo, "config", "core.fsmonitor", str(trap))
    claude = agent(cwd=repo)
    row = seated(daemon, claude)
    (repo / "a.txt").write_text("b")  # as long as before: git must read it to know
    claude.kill()
    examined(daemon, row["id"])
    (found,) = there(daemon, "worktree", row["id"])
    assert found["facts"]["uncommitted"] == 1
    assert not ran.exists()
    git(repo, "status")  # the naive way
    assert ran.exists()


# --- panes -----------------------------------------------------------------------------------------------


def test_the_shell_that_an_agent_leaves_in_its_pane_is_reported_until_it_is_gone(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    tmux = server()
    claude = resident(tmux, through_a_shell=True)
    row = placed(daemon, claude)
    claude.kill()
    assert examined(daemon, row["id"])["left"] == {"pane": 1}
    (found,) = there(daemon, "pane", row["id"])
    assert found["what"] == f"{row['where']} sh"
    assert found["pid"] is None  # nobody's shell is a leftover process
    assert claude.pane in tmux.panes()  # K6: never closed by us
    tmux.run("kill-pane", "-t", claude.pane)
    eventually(lambda: not there(daemon, "pane", row["id"]), within=20)


def test_a_pane_that_closes_with_its_agent_leaves_nothing(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    tmux = server()
    claude = resident(tmux)
    row = placed(daemon, claude)
    claude.kill()
    assert examined(daemon, row["id"])["left"] == {}
    assert claude.pane not in tmux.panes()


def test_a_pane_that_is_kept_open_after_its_agents_end_is_reported(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    tmux = server()
    tmux.run("set-option", "-g", "remain-on-exit", "on")
    claude = resident(tmux)
    row = placed(daemon, claude)
    claude.kill()
    assert examined(daemon, row["id"])["left"] == {"pane": 1}


def test_a_pane_of_a_server_that_cannot_be_asked_is_still_a_leftover(
    daemon: Daemon, server: Make, resident: Resident
) -> None:
    tmux = server()
    claude = resident(tmux, through_a_shell=True)
    row = placed(daemon, claude)
    claude.kill()
    examined(daemon, row["id"])
    (found,) = there(daemon, "pane", row["id"])
    os.kill(tmux.pid, signal.SIGSTOP)
    daemon.restart()  # so that it looks again
    daemon.get("/v1/leftovers")
    assert [each["id"] for each in there(daemon, "pane", row["id"])] == [found["id"]]
    os.kill(tmux.pid, signal.SIGKILL)
    eventually(lambda: not there(daemon, "pane", row["id"]), within=20)


# --- records ---------------------------------------------------------------------------------------------


def test_records_from_before_the_start_are_reported_if_their_process_is_proven_over(
    tmp_path: Path, agent: MakeAgent
) -> None:
    daemon = Daemon(tmp_path / "headcount", TMUX_TMPDIR=str(tmp_path / "t"))
    claude = agent()
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead = record(daemon, gone.pid, 12, str(uuid.uuid4()))
    reused = record(daemon, os.getpid(), 12, str(uuid.uuid4()))
    elsewhere = record(
        daemon, 4_000_000, 12, str(uuid.uuid4()), pidDomain="linux:another-machine:pid:[4026531836]"
    )
    contained = record(daemon, 4_000_001, 12, str(uuid.uuid4()), pidDomain=f"linux:{machine()}:pid:[7]")
    living = record(daemon, claude.pid, started(claude.pid), claude.conversation)
    with daemon:
        found = eventually(lambda: [each["what"] for each in there(daemon, "record", None)], within=20)
        assert sorted(found) == sorted([str(dead), str(reused)])
        assert not {str(living), str(elsewhere), str(contained)} & set(found)


# --- the line under a death ------------------------------------------------------------------------------


def test_a_death_is_told_with_what_it_freed_and_left_and_how_to_go_on(
    daemon: Daemon, agent: MakeAgent, repo: Path
) -> None:
    from tests.rig.agents.callers import Errand, Request, child

    claude = agent(cwd=repo)
    row = seated(daemon, claude)
    wish = Request("POST", "/v1/claims", {"item": "task:I18N-4"})
    (granted,) = child(claude, Errand(repo.parent / "errands", daemon.socket, [wish]))
    assert granted.status == 200, granted
    (repo / "fr.json").write_text("{}")
    claude.kill()
    facts = examined(daemon, row["id"])
    assert facts == {"freed": ["task:I18N-4"], "left": {"worktree": 1}, "resumable": True}
