"""What was left: asking the daemon for it, and the things themselves, a checkout and a record."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import seated


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


def machine() -> str:
    return Path("/etc/machine-id").read_text().strip() if Path("/etc/machine-id").exists() else ""


def record(daemon: Daemon, pid: int, started: int, conversation: str, **more: Any) -> Path:
    sessions = daemon.user_home / ".claude" / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    namespace = os.stat("/proc/self/ns/pid").st_ino
    path = sessions / f"{pid}.json"
    content = {
        "pid": pid,
        "sessionId": conversation,
        "procStart": str(started),
        "cwd": "/tmp",
        "kind": "interactive",
        "pidDomain": f"linux:{machine()}:pid:[{namespace}]",
        **more,
    }
    path.write_text(json.dumps(content))
    return path


def started(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
