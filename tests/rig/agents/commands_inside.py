"""The command line as an agent runs it, and as a person does.

Rules of this file
  1. Inside: a shell that is a real child of the stand-in agent. Outside: a child of the test, without marks.
  2. What comes back is what the caller would see: exit code, output, errors.
"""

import os
import shlex
import subprocess
import sys
import uuid
from pathlib import Path
from typing import NamedTuple

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

MARKS = ("CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CODEX_SESSION_ID", "HEADCOUNT_TOKEN_FILE")


class Said(NamedTuple):
    code: int
    out: str
    err: str


def environment(daemon: Daemon) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in MARKS}
    return {**kept, **daemon.env}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "headcount", *words]


def outside(daemon: Daemon, *words: str, cwd: Path | None = None) -> Said:
    done = subprocess.run(
        command(*words), env=environment(daemon), cwd=cwd, capture_output=True, text=True, timeout=60
    )
    return Said(done.returncode, done.stdout, done.stderr)


def inside(agent: Agent, daemon: Daemon, *words: str, cwd: Path | None = None) -> Said:
    """Runs it as the agent's shell tool does, and waits."""
    return shell(agent, daemon, shlex.join(command(*words)), cwd=cwd)


def shell(agent: Agent, daemon: Daemon, line: str, cwd: Path | None = None) -> Said:
    place = agent.cwd / f".said-{uuid.uuid4().hex}"
    place.mkdir()
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in daemon.env.items())
    script = f"cd {shlex.quote(str(cwd or agent.cwd))}; {settings} {line} >{place}/out 2>{place}/err; echo $?"
    code = agent.run(f"/bin/sh -c {shlex.quote(script)}")
    return Said(int(code), (place / "out").read_text(), (place / "err").read_text())


def settled(agent: Agent, daemon: Daemon, **fields: str) -> str:
    """Makes the agent a known session and returns its id."""
    agent.hook(daemon.mailbox, "SessionStart", source="startup", **fields)
    agent.hook(daemon.mailbox, "UserPromptSubmit", prompt="go")
    rows = eventually(lambda: daemon.sessions(conversation=agent.conversation, activity="working"))
    return str(rows[0]["id"])
