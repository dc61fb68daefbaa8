"""One daemon a store, also when somebody removes or replaces the lock file under it."""

import fcntl
import os
from pathlib import Path

import pytest

from headcount.daemon.home import single_instance
from headcount.daemon.home.single_instance import SingleInstance
from tests.rig.daemon.real_daemon import Daemon


def naive_take(path: Path) -> int | None:
    """The file alone, as it was."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.touch()
    other.rename(path)


@pytest.mark.parametrize("harm", [remove, replace])
def test_a_lock_file_that_is_gone_lets_no_second_daemon_serve_the_store(daemon: Daemon, harm) -> None:
    harm(daemon.home / "headcount.lock")
    rival = Daemon(daemon.home).start()
    try:
        assert rival.word == "busy"
        assert rival.process is not None and rival.process.wait(10) == 75
        assert daemon.get("/healthz")["pid"] == daemon.pid
        fooled = naive_take(daemon.home / "headcount.lock")
        assert fooled is not None, "the file alone would have let it in"
        os.close(fooled)
    finally:
        rival.stop()
    daemon.restart()
    assert daemon.word == "ready", "and the locks end with their daemon"


def test_a_file_that_was_removed_before_it_was_locked_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, right, removed = tmp_path / "lock", fcntl.flock, []

    def late(fd: int, how: int) -> None:
        right(fd, how)
        if not removed:
            removed.append(path.unlink())

    monkeypatch.setattr(single_instance.fcntl, "flock", late)
    mine = SingleInstance.take(path)
    assert mine is not None and removed
    assert naive_take(path) is None, "what was locked is what the path leads to"
    mine.release()


def test_where_a_directory_cannot_be_locked_the_file_alone_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = fcntl.flock

    def as_on_a_network(fd: int, how: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            raise OSError(9, "Bad file descriptor")
        right(fd, how)

    monkeypatch.setattr(single_instance.fcntl, "flock", as_on_a_network)
    mine = SingleInstance.take(tmp_path / "lock")
    assert mine is not None and SingleInstance.take(tmp_path / "lock") is None
    mine.release()
    again = SingleInstance.take(tmp_path / "lock")
    assert again is not None
    again.release()
