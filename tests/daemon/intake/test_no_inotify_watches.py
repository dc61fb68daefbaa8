"""A user who has no inotify watch left: the daemon starts, reads its mailbox and registries, and doctor says so."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import outside
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

LIMITED = (
    "unshare", "--user", "--map-root-user", "sh", "-c",
    'echo 0 >/proc/sys/user/max_inotify_watches && exec "$@"', "sh",
)  # fmt: skip

NAIVE = """
import asyncio, pathlib, sys
from headcount.system.files.inotify import InotifyEvents
async def main():
    InotifyEvents(asyncio.get_running_loop()).watch(pathlib.Path("/"), 8, print)
asyncio.run(main())
"""


@pytest.mark.skipif(
    subprocess.run([*LIMITED, "true"], capture_output=True).returncode != 0,
    reason="user namespaces cannot be made here",
)
def test_without_a_watch_the_daemon_starts_and_looks_instead(
    tmp_path: Path, agent: Callable[..., Agent]
) -> None:
    naive = subprocess.run([*LIMITED, sys.executable, "-c", NAIVE], capture_output=True, text=True)
    assert naive.returncode != 0 and "No space left" in naive.stderr, "inotify alone refuses to start"
    daemon = Daemon(tmp_path / "headcount")
    daemon.start(LIMITED)
    try:
        assert daemon.word == "ready", daemon.log()
        claude = agent()
        claude.hook(daemon.mailbox, "SessionStart", source="startup")
        claude.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
        eventually(lambda: daemon.sessions(conversation=claude.conversation, activity="working"))
        assert daemon.get("/v1/status")["polled_directories"] > 0
        found = json.loads(outside(daemon, "doctor", "--json").out)["findings"]
        assert [each for each in found if each["check"] == "files" and "max_user_watches" in each["next"]]
    finally:
        daemon.stop()


def test_with_watches_none_is_looked_at(daemon: Daemon) -> None:
    if os.path.exists("/proc/sys/fs/inotify"):
        assert daemon.get("/v1/status")["polled_directories"] == 0


@pytest.mark.skipif(not os.path.exists("/proc/sys/fs/inotify"), reason="there is no inotify here")
def test_one_instance_serves_all_watchers(daemon: Daemon) -> None:
    """A user has 128 of them, for all programs together."""
    kinds = []
    for descriptor in Path(f"/proc/{daemon.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            kinds.append(os.readlink(descriptor))
    assert sum("inotify" in kind for kind in kinds) == 1
