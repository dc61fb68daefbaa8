"""The address of a pane: only the server that it names."""

import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from headcount.core.values.terminal import TerminalPlace
from headcount.system.tmux import capture


@pytest.fixture
def pane() -> Iterator[TerminalPlace]:
    name = f"headcount-pane-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    env = {"PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}

    def tmux(*words: str) -> str:
        command = ["tmux", "-L", name, "-f", "/dev/null", *words]
        return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout.strip()

    tmux("new-session", "-d", "-x", "80", "-y", "24", "printf 'one\\ntwo\\n'; exec cat")
    where = tmux("display-message", "-p", "#{socket_path} #{pid} #{pane_id}").split(" ")
    yield TerminalPlace("tmux", "", socket=where[0], server=int(where[1]), pane=where[2])
    tmux("kill-server")
    Path(where[0]).unlink(missing_ok=True)


def test_the_pane_is_shown_by_the_server_that_the_address_names(pane: TerminalPlace) -> None:
    deadline = time.monotonic() + 10
    while capture(pane, 10) != ["one", "two"]:
        assert time.monotonic() < deadline, capture(pane, 10)
        time.sleep(0.01)
    assert capture(pane, 1) == ["two"]


def test_another_server_on_the_same_socket_is_not_believed(pane: TerminalPlace) -> None:
    """Its pane may have the same number, and is somebody else's."""
    assert capture(replace(pane, server=1), 10) is None
    assert capture(replace(pane, pane="%99999"), 10) is None


def test_no_server_is_no_answer(tmp_path: Path) -> None:
    assert capture(TerminalPlace("tmux", "", socket=str(tmp_path / "none"), server=1, pane="%0"), 10) is None
    (tmp_path / "file").write_text("not a socket")
    assert capture(TerminalPlace("tmux", "", socket=str(tmp_path / "file"), server=1, pane="%0"), 10) is None
