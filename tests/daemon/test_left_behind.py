"""Panes, worktrees and records that ended sessions left: reported once each, never touched."""

import json
import os
import signal
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agent import Agent
from tests.rig.daemon import Daemon, eventually
from tests.rig.scenes import seated
from tests.rig.tmux_scenes import Make, Resident

MakeAgent = Callable[..., Agent]


def left(daemon: Daemon, kind: str, session: str | None) -> list[dict[str, Any]]:
    rows = daemon.get(f"/v1/leftovers?all=1&kind={kind}")["leftovers"]
    return [row for row in rows if row["session"] == session]


def there(daemon: Daemon, kind: str, session: str | None) -> list[dict[str, Any]]:
    return [row for row in left(daemon, kind, session) if row["gone_at"] is None]


def examined(daemon: Daemon, id: str) -> dict[str, Any]:
    """What was told of its end, once all was looked for."""
    events = eventually(
        lambda: daemon.get(f"/v1/history?session={id}&type=session.examined")["events"], within=20
    )
    assert len(events) == 1
    facts: dict[str, Any] = events[0]["facts"]
    return facts


def placed(daemon: Daemon, claude: Agent) -> dict[str, Any]:
    id = seated(daemon, claude)["id"]
    return eventually(lambda: next((row for row in daemon.sessions(id=id) if row["where"]), None))


def git(top: Path, *words: str) -> str:
    env = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
    }  # fmt: skip
    done = subprocess.run(["git", "-C", str(top), *words], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A checkout with one commit, which its origin has too."""
    origin, top = tmp_path / "origin.git", tmp_path / "web"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(origin)], check=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(top)], check=True)
    (top / ".gitignore").write_text(".payload-*\n")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "one")
    git(top, "remote", "add", "origin", str(origin))
    git(top, "push", "-q", "-u", "origin", "main")
    return top


# --- worktrees -------------------------------------------------------------------------------------------


def test_k7_a_worktree_with_work_that_is_nowhere_else_is_reported_and_left_alone(
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


def test_the_shell_that_an_agent_leaves_in_its_pane_is_reported_until_another_agent_runs_there(
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


def test_k6_windows_of_the_named_tmux_sessions_that_no_session_owns_are_reported_once(
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


# --- records ---------------------------------------------------------------------------------------------


def record(daemon: Daemon, pid: int, started: int, conversation: str, **more: Any) -> Path:
    sessions = daemon.user_home / ".claude" / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    namespace = os.stat("/proc/self/ns/pid").st_ino
    machine = Path("/etc/machine-id").read_text().strip() if Path("/etc/machine-id").exists() else ""
    path = sessions / f"{pid}.json"
    content = {
        "pid": pid,
        "sessionId": conversation,
        "procStart": str(started),
        "cwd": "/tmp",
        "kind": "interactive",
        "pidDomain": f"linux:{machine}:pid:[{namespace}]",
        **more,
    }
    path.write_text(json.dumps(content))
    return path


def started(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def test_k8_the_record_of_an_agent_that_was_killed_is_reported_and_never_deleted(
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
    path.unlink()
    eventually(lambda: not there(daemon, "record", row["id"]), within=20)


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
    living = record(daemon, claude.pid, started(claude.pid), claude.conversation)
    with daemon:
        found = eventually(lambda: [each["what"] for each in there(daemon, "record", None)], within=20)
        assert sorted(found) == sorted([str(dead), str(reused)])
        assert str(living) not in found and str(elsewhere) not in found


# --- the line under a death ------------------------------------------------------------------------------


def test_a_death_is_told_with_what_it_freed_and_left_and_how_to_go_on(
    daemon: Daemon, agent: MakeAgent, repo: Path
) -> None:
    from tests.rig.callers import Errand, Request, child

    claude = agent(cwd=repo)
    row = seated(daemon, claude)
    wish = Request("POST", "/v1/claims", {"item": "task:I18N-4"})
    (granted,) = child(claude, Errand(repo.parent / "errands", daemon.socket, [wish]))
    assert granted.status == 200, granted
    (repo / "fr.json").write_text("{}")
    claude.kill()
    facts = examined(daemon, row["id"])
    assert facts == {"freed": ["task:I18N-4"], "left": {"worktree": 1}, "resumable": True}
