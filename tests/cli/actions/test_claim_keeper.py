"""Keeping a claim: whoever gives it back after its command is not told that it was taken away."""

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from headcount.cli.actions.claim_keeper import Keeper
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="held by Linux's process identity"
)

ITEM = "task:KEPT"


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A command that ends when its input does."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as started:
        yield started
        started.kill()


class Listening(Keeper):
    """One that says when it listens, and so would hear of a loss."""

    def __init__(self, item: str, fence: int, child: "subprocess.Popen[bytes]") -> None:
        super().__init__(item, fence, child)
        self.listens = threading.Event()
        self.is_done = threading.Event()

    def _is_stale(self) -> bool:
        stale = super()._is_stale()
        self.listens.set()
        return stale

    def _keep(self) -> None:
        super()._keep()
        self._client.close()
        self.is_done.set()


@pytest.fixture
def kept(
    daemon: Daemon, child: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> tuple[Listening, int]:
    for name, value in daemon.env.items():
        monkeypatch.setenv(name, value)
    fence = int(daemon.call("POST", "/v1/claims", {"item": ITEM, "own": True}).data["fence"])
    keeper = Listening(ITEM, fence, child)
    keeper.start()
    assert keeper.listens.wait(20)
    return keeper, fence


def test_what_is_given_back_after_its_command_was_not_taken_away(
    daemon: Daemon,
    kept: tuple[Listening, int],
    child: "subprocess.Popen[bytes]",
    capsys: pytest.CaptureFixture[str],
) -> None:
    keeper, fence = kept
    assert child.stdin is not None
    child.stdin.close()
    child.wait(20)
    assert daemon.call("DELETE", f"/v1/claims/{ITEM}?fence={fence}").status == 200
    assert keeper.is_done.wait(20)
    assert "taken away" not in capsys.readouterr().err


def test_what_is_lost_under_a_running_command_ends_it_and_is_said(
    daemon: Daemon,
    kept: tuple[Listening, int],
    child: "subprocess.Popen[bytes]",
    capsys: pytest.CaptureFixture[str],
) -> None:
    keeper, fence = kept
    assert daemon.call("DELETE", f"/v1/claims/{ITEM}?fence={fence}").status == 200
    assert keeper.is_done.wait(20)
    eventually(lambda: child.poll() is not None)
    assert "was taken away; ending the command" in capsys.readouterr().err
