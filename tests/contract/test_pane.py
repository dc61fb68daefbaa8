"""The address of a pane: only the server that it names."""

import os
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from headcount.system.pane import Pane, capture


@pytest.fixture
def pane() -> Iterator[Pane]:
    name = f"headcount-pane-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    env = {"PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}

    def tmux(*words: str) -> str:
        command = ["tmux", "-L", name, "-f", "/dev/null", *words]
        return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout.strip()

    tmux("new-session", "-d", "-x", "80", "-y", "24", "printf 'one\\ntwo\\n'; exec cat")
    where = tmux("display-message", "-p", "#{socket_path} #{pid} #{pane_id}").split(" ")
    yield Pane(where[0], where[1], where[2])
    tmux("kill-server")
    Path(where[0]).unlink(missing_ok=True)


async def test_the_pane_is_shown_by_the_server_that_the_address_names(pane: Pane) -> None:
    import asyncio
    import time

    deadline = time.monotonic() + 10
    while await capture(pane, 10) != ["one", "two"]:
        assert time.monotonic() < deadline, await capture(pane, 10)
        await asyncio.sleep(0.01)
    assert await capture(pane, 1) == ["two"]


async def test_another_server_on_the_same_socket_is_not_believed(pane: Pane) -> None:
    """Its pane may have the same number, and is somebody else's."""
    assert await capture(replace(pane, server="1"), 10) is None
    assert await capture(replace(pane, id="%99999"), 10) is None


async def test_no_server_is_no_answer(tmp_path: Path) -> None:
    assert await capture(Pane(str(tmp_path / "none"), "1", "%0"), 10) is None
    (tmp_path / "file").write_text("not a socket")
    assert await capture(Pane(str(tmp_path / "file"), "1", "%0"), 10) is None
