"""A daemon in a home of its own, on the disk that a real home would be on, with a crowd that it knows."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.rig.agents.crowd import Crowd, Member
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.daemon.real_daemon import Daemon, eventually


@contextmanager
def scratch() -> Iterator[Path]:
    """Below the user's cache, where a real store's disk is; temporary directories are often in memory."""
    above = Path(os.environ.get("BENCH_DIR") or Path.home() / ".cache")
    above.mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="headcount-bench-", dir=above))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def running(directory: Path, size: int) -> Iterator[tuple[Daemon, Crowd]]:
    """A daemon that watches `size` processes, each with a conversation."""
    # the daemon first: the rig waits for its word with select(2), which knows small descriptors only
    with Daemon(directory / "home") as daemon, Crowd(directory / "agents", size) as crowd:
        introduce(daemon, crowd.members)
        yield daemon, crowd


def introduce(daemon: Daemon, members: list[Member]) -> None:
    for member in members:
        drop(daemon.mailbox, member, payload(member, "SessionStart", source="startup", model="some-model"))
    names = {member.conversation for member in members}

    def all_known() -> bool:
        rows = daemon.get("/v1/sessions")["sessions"]
        return names <= {row["conversation"] for row in rows if row["liveness"] == "alive"}

    eventually(all_known, within=120)
