"""Commits that fail: told to nobody, said in health, kept in the mailbox, and made good when they can be.

Rules of this file
  1. Numbers and tries are counted here, so the daemons take no census: agents of others would count too.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.altered import ROOT
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.without_census import lone_daemon
from tests.rig.network.raw_requests import connect, exchange, files_waiting, hook, read_reply, request


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with lone_daemon(tmp_path / "headcount") as running:
        yield running


def test_these_daemons_see_nobody_they_did_not_hear_of(
    daemon: Daemon, tmp_path: Path, agent: Callable[..., Agent]
) -> None:
    """The control is a daemon as it is: it finds the same stand-in."""
    stranger = agent()
    with Daemon(tmp_path / "as-it-is") as seeing:
        eventually(lambda: seeing.sessions(pid=stranger.pid))
    assert daemon.sessions(pid=stranger.pid) == []


@pytest.mark.root
@pytest.mark.parametrize("manner", ["full", "readonly"])
def test_a_disk_that_is_full_or_read_only(tmp_path: Path, manner: str) -> None:
    for own in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        if subprocess.run([*own, "true"], capture_output=True).returncode == 0:
            break
    else:
        pytest.skip("mounts of our own cannot be made here")
    argv = [
        *own,
        sys.executable,
        "-m",
        "tests.rig.kernel.small_disk",
        manner,
        tmp_path / "home",
        tmp_path / "agents",
    ]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (0, '"done"\n'), done.stderr


@contextmanager
def failing_writes(daemon: Daemon, error: str) -> Iterator[None]:
    """Every write and sync of the store fails in the running daemon, until the end of the block."""
    strace = shutil.which("strace")
    assert strace is not None, "strace is missing: `apt install strace` (this test injects faults with it)"
    calls = "pwrite64,fdatasync"
    argv = [strace, "-f", "-p", str(daemon.pid), "-o", "/dev/null", "-e", f"trace={calls}"]
    tracer = subprocess.Popen([*argv, "-e", f"inject={calls}:error={error}"], stderr=subprocess.PIPE)
    try:
        assert tracer.stderr is not None and b"attached" in tracer.stderr.readline()
        yield
    finally:
        tracer.terminate()
        tracer.wait(10)
        assert tracer.stderr is not None
        tracer.stderr.close()


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EROFS"])
def test_while_nothing_can_be_stored_nothing_is_told_and_nothing_is_lost(
    daemon: Daemon, agent: Callable[..., Agent], error: str
) -> None:
    living, dying = agent(), agent()
    for each in (living, dying):
        each.hook(daemon.mailbox, "SessionStart", source="startup")
        eventually(lambda each=each: daemon.sessions(conversation=each.conversation, liveness="alive"))
    with connect(daemon.socket) as stream:
        with failing_writes(daemon, error):
            seq = daemon.get("/v1/status")["store"]["seq"]  # from here on it stands still
            stream.sendall(request("GET", "/v1/events", b"", f"Last-Event-ID: {seq}"))
            assert read_reply(stream).status == 200
            dying.kill()
            living.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
            eventually(lambda: daemon.get("/healthz")["ok"] is False)
            refused = exchange(daemon.socket, hook(b'{"session_id": "refused", "hook_event_name": "Stop"}'))
            assert refused.status == 503 and refused.data["error"]["code"] == "not-stored"
            assert "nothing can be stored" in json.dumps(daemon.get("/v1/status")["warnings"])
            assert len(files_waiting(daemon)) == 1
            row = daemon.session(conversation=dying.conversation)
            assert row["liveness"] == "alive", "what is not stored is not believed"
            assert daemon.get("/v1/status")["store"]["seq"] == seq
            stream.settimeout(0.3)
            with pytest.raises(TimeoutError):
                stream.recv(65536)
        eventually(lambda: daemon.sessions(conversation=dying.conversation, liveness="ended"))
        eventually(lambda: daemon.sessions(conversation=living.conversation, activity="working"))
        eventually(lambda: files_waiting(daemon) == [])
        eventually(lambda: daemon.get("/healthz")["ok"] is True)
        assert daemon.sessions(conversation="refused") == [], "who was refused was not half taken"
        stream.settimeout(10)
        told = b""
        while b"session.ended" not in told or b'"working"' not in told:
            told += stream.recv(65536)
    numbers = [int(line[4:]) for line in told.split(b"\n") if line.startswith(b"id: ")]
    assert numbers == list(range(seq + 1, seq + 1 + len(numbers))), "the failed commit used no number"
    daemon.restart()
    assert daemon.session(conversation=dying.conversation)["ended"]["signal"] == 9


def test_a_report_that_changes_nothing_does_not_make_the_store_well_again(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    gone = agent()
    gone.hook(daemon.mailbox, "SessionStart", source="startup")
    eventually(lambda: daemon.sessions(conversation=gone.conversation, liveness="alive"))
    gone.kill()
    eventually(lambda: daemon.sessions(conversation=gone.conversation, liveness="ended"))
    body = json.dumps({"session_id": gone.conversation, "hook_event_name": "SessionEnd"}).encode()
    assert exchange(daemon.socket, hook(body)).status == 202, "a farewell after the death is kept"
    with failing_writes(daemon, "EIO"):
        refused = exchange(daemon.socket, hook(b'{"session_id": "refused", "hook_event_name": "Stop"}'))
        assert refused.status == 503
        # A second one changes nothing. Alone in its batch it is answered; with news of the machine's other sessions it is not.
        eventually(lambda: exchange(daemon.socket, hook(body)).status == 202)
        assert daemon.get("/healthz")["ok"] is False
    assert exchange(daemon.socket, hook(b'{"session_id": "taken", "hook_event_name": "Stop"}')).status == 202
    assert daemon.get("/healthz")["ok"] is True
