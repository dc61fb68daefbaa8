"""Accidents K6 to K8 and K10: windows, worktrees and records of others, and ids that became commands."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import command, seated
from tests.rig.leftovers.checkouts_and_records import examined, git, placed, record, started, there
from tests.rig.terminal.tmux_fixtures import Make, Resident
from tests.rig.terminal.tmux_servers import Server

MakeAgent = Callable[..., Agent]


def naive_orphans(server: Server, known: set[str]) -> list[str]:
    """Every pane without a record, as the tool had it."""
    return [pane for pane in server.panes() if pane not in known]


def naive_sweep(worktrees: Iterable[Path], living: set[str]) -> None:
    for each in worktrees:
        if str(each) not in living:
            shutil.rmtree(each)


def naive_tidy(sessions: Path) -> None:
    """Whoever does not answer a probe has no business having a file."""
    for path in sessions.glob("*.json"):
        try:
            os.kill(json.loads(path.read_text())["pid"], 0)
        except OSError:
            path.unlink()


def test_K6_windows_of_the_named_tmux_sessions_that_no_session_owns_are_reported_once(
    tmp_path: Path, base: Path, server: Make, resident: Resident
) -> None:
    tmux = server()
    tmux.run("new-session", "-d", "-s", "private", "/bin/sh")
    tmux.run("rename-window", "-t", "work:0", "notes")
    stray = tmux.window("/bin/sh")
    claude = resident(tmux)
    home = tmp_path / "headcount"
    home.mkdir()
    (home / "config.toml").write_text('[tmux]\nsessions = ["work"]\nreserved_windows = ["notes"]\n')
    with Daemon(home, TMUX_TMPDIR=str(base)) as daemon:
        placed(daemon, claude)
        eventually(
            lambda: {each["facts"]["pane"] for each in there(daemon, "pane", None)} == {stray}, within=20
        )
        (found,) = there(daemon, "pane", None)
        daemon.restart()
        eventually(lambda: [each["id"] for each in there(daemon, "pane", None)] == [found["id"]], within=20)
        events = daemon.get("/v1/history?type=leftover.found&limit=1000")["events"]
        mine = [each for each in events if each["leftover"]["id"] == found["id"]]
        assert len(mine) == 1
    assert stray in tmux.panes()
    notes = next(iter(tmux.panes()))
    for pane in naive_orphans(tmux, {claude.pane}):
        tmux.run("kill-pane", "-t", pane)
    assert notes not in tmux.panes()  # a person's own


def test_K7_a_worktree_with_work_that_is_nowhere_else_is_reported_and_left_alone(
    daemon: Daemon, agent: MakeAgent, repo: Path
) -> None:
    other = repo.parent / "web-i18n"
    git(repo, "worktree", "add", "-q", "-b", "i18n", str(other))
    claude = agent(cwd=other)
    row = seated(daemon, claude)
    (other / "fr.json").write_text("{}")
    (other / ".gitignore").write_text(".payload-*\n*.tmp\n")
    before = sorted(path.name for path in other.iterdir())
    claude.kill()
    assert examined(daemon, row["id"])["left"] == {"worktree": 1}
    (found,) = there(daemon, "worktree", row["id"])
    assert found["what"].endswith("web-i18n, 2 uncommitted")
    assert (found["facts"]["branch"], found["facts"]["unpushed"]) == ("i18n", 0)
    daemon.restart()
    assert [each["id"] for each in there(daemon, "worktree", row["id"])] == [found["id"]]
    assert sorted(path.name for path in other.iterdir()) == before
    naive_sweep([other], living=set())  # its session is not in the list of the living
    assert not other.exists()


def test_K8_the_record_of_an_agent_that_was_killed_is_reported_and_never_deleted(
    daemon: Daemon, agent: MakeAgent
) -> None:
    claude = agent()
    row = seated(daemon, claude)
    path = record(daemon, claude.pid, started(claude.pid), claude.conversation)
    before = path.read_bytes()
    claude.kill()
    facts = examined(daemon, row["id"])
    assert facts["left"] == {"record": 1}
    (found,) = there(daemon, "record", row["id"])
    assert (found["what"], found["evidence"]) == (str(path), [f"no process has pid {claude.pid}"])
    daemon.restart()
    assert [each["id"] for each in there(daemon, "record", row["id"])] == [found["id"]]
    assert path.read_bytes() == before
    naive_tidy(path.parent)
    assert not path.exists()
    eventually(lambda: not there(daemon, "record", row["id"]), within=20)


FORGED = ("--dangerously-skip-permissions", "x; touch ran", "../../etc/passwd", "$(touch ran)")


@pytest.mark.parametrize("forged", FORGED)
def test_K10_an_id_from_a_forged_payload_becomes_no_part_of_a_command(
    daemon: Daemon, agent: MakeAgent, forged: str
) -> None:
    claude = agent()
    claude.conversation = forged
    claude.hook(daemon.mailbox, "SessionStart")
    claude.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    row = eventually(lambda: daemon.sessions(pid=claude.pid, liveness="alive"), within=15)[0]
    claude.kill()
    eventually(lambda: daemon.sessions(id=row["id"], liveness="ended"))
    answer = daemon.call("GET", f"/v1/sessions/{row['id']}/resume")
    assert answer.status == 409
    assert "command" not in answer.data
    done = command(daemon, "resume", row["id"])
    assert done.returncode == 3
    assert examined(daemon, row["id"])["resumable"] is False
    (claude.cwd / "ran").unlink(missing_ok=True)
    subprocess.run(
        f"echo claude --resume {forged}", shell=True, cwd=claude.cwd, capture_output=True
    )  # the naive way
    assert (claude.cwd / "ran").exists() is ("touch" in forged)
