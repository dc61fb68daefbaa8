"""What several scenes begin with: an agent that is seated, another user, a number of rounds."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

Make = Callable[..., Agent]

ROUNDS = int(os.environ.get("HEADCOUNT_ROUNDS", "20"))  # more in a campaign

NOBODY = 65_534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="becoming another user needs root")

UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def seated(daemon: Daemon, claude: Agent, event: str = "SessionStart", **fields: Any) -> dict[str, Any]:
    """The agent's session, bound to its process."""
    claude.hook(daemon.mailbox, event, **fields)
    return eventually(lambda: daemon.sessions(conversation=claude.conversation, liveness="alive"))[0]


def command(daemon: Daemon, *words: str) -> "subprocess.CompletedProcess[str]":
    """The command line in the daemon's home."""
    argv = [sys.executable, "-m", "headcount", *words]
    return subprocess.run(argv, env=daemon.env, capture_output=True, text=True, timeout=60)
