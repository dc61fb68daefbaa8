"""What the daemon is started with, and what its word means."""

import sys
from pathlib import Path

import pytest

from headcount.client import daemon_process as starting
from headcount.client.daemon_process import allowed, start
from headcount.client.faults import Unavailable
from headcount.paths import Places

SECRETS = {
    "ANTHROPIC_API_KEY": "x",
    "OPENAI_API_KEY": "x",
    "CLAUDE_PID": "1",
    "CLAUDECODE": "1",
    "CLAUDE_CODE_SESSION_ID": "x",
    "HEADCOUNT_TOKEN_FILE": "/x",
    "NOTIFY_SOCKET": "/x",
    "TMUX": "x",
    "LD_PRELOAD": "x",
    "PYTHONPATH": "x",
}
KEPT = {
    "HOME": "/h",
    "PATH": "/b",
    "LC_ALL": "C",
    "XDG_STATE_HOME": "/s",
    "CLAUDE_CONFIG_DIR": "/c",
    "HEADCOUNT_X": "1",
}


def test_the_daemon_carries_nobodys_secrets_and_nobodys_marks() -> None:
    """Accident H16: auto-started inside an agent."""
    assert allowed({**SECRETS, **KEPT}, Places.from_environ(KEPT)) == KEPT


def test_a_relative_home_is_the_same_place_for_the_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    env = {"HEADCOUNT_HOME": "here"}
    assert allowed(env, Places.from_environ(env)) == {"HEADCOUNT_HOME": str(tmp_path / "here")}


def fake_daemon(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(
        starting,
        "daemon_command",
        lambda *words: [sys.executable, "-c", f"import os,sys;fd=int(sys.argv[2]);{code}", *words],
    )


def test_a_daemon_that_says_why_it_failed_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_daemon(monkeypatch, "os.write(fd, b'failed: the store is newer\\n')")
    with pytest.raises(Unavailable, match="the store is newer"):
        start(Places.below(str(tmp_path)), {})


def test_a_daemon_that_ends_without_a_word_is_explained_by_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_daemon(monkeypatch, "sys.exit('ModuleNotFoundError: no such thing')")
    with pytest.raises(Unavailable, match="no such thing"):
        start(Places.below(str(tmp_path)), {})


def test_what_its_starter_has_to_do_is_done_while_the_daemon_gets_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This daemon is ready only after the other work was done: whoever waited first would wait for ever."""
    done = tmp_path / "done"
    fake_daemon(
        monkeypatch,
        f"import time\nwhile not os.path.exists({str(done)!r}): time.sleep(0.001)\nos.write(fd, b'ready\\n')",
    )
    start(Places.below(str(tmp_path / "home")), {}, done.touch)


def test_ready_is_believed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_daemon(monkeypatch, "os.write(fd, b'ready\\n')")
    start(Places.below(str(tmp_path)), {})
    assert (tmp_path / "mailbox").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "log/headcount.log").stat().st_mode & 0o777 == 0o600


def test_who_lost_the_race_waits_for_the_winner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first start meets a lock that nobody serves any more; the second one gets it."""
    mark = tmp_path / "second"
    monkeypatch.setattr(starting.times, "START_AGAIN_AFTER", 0.1)
    fake_daemon(
        monkeypatch,
        f"p={str(mark)!r};os.write(fd, b'ready\\n' if os.path.exists(p) else b'busy\\n');open(p,'w').close()",
    )
    start(Places.below(str(tmp_path)), {})
    assert mark.exists()


def test_a_lock_that_stays_held_by_somebody_deaf_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting.times, "START_AGAIN_AFTER", 0.1)
    monkeypatch.setattr(starting.times, "READY_WITHIN", 0.5)
    fake_daemon(monkeypatch, "os.write(fd, b'busy\\n')")
    with pytest.raises(Unavailable):
        start(Places.below(str(tmp_path)), {})
