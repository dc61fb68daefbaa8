"""Files of ours taken away under the running daemon: it ends or mends it, and nothing is granted twice or lost in silence."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headcount.client.faults import ClientFault
from headcount.daemon.home import store_marks
from headcount.daemon.home.home_watch import PULLED_AWAY
from headcount.paths import Places
from tests.rig.agents.commands_inside import command, environment, outside
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.security.pull_files_away import remove_home

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="held by Linux's process identity"
)

HELD = "task:HELD"


def claim(daemon: Daemon, item: str = HELD):
    return daemon.call("POST", "/v1/claims", {"item": item, "own": True})


def older(store: Path, end: str = "") -> None:
    """An older copy in its place, as a backup that was put back."""
    copy = store.with_name("copy")
    shutil.copy(f"{store}{end}", copy)
    copy.rename(f"{store}{end}")


def copied(home: Path) -> None:
    """As a backup that is put back in two steps: a daemon ends between them, and then marks nothing."""
    shutil.copytree(home, home.with_name("copy"), ignore=shutil.ignore_patterns("*.sock"))
    home.rename(home.with_name("elsewhere"))
    home.with_name("copy").rename(home)


PULLS: dict[str, Callable[[Path], object]] = {
    "store removed": lambda home: (home / "headcount.db").unlink(),
    "store moved": lambda home: (home / "headcount.db").rename(home / "elsewhere.db"),
    "store replaced": lambda home: older(home / "headcount.db"),
    "store emptied": lambda home: os.truncate(home / "headcount.db", 0),
    "log removed": lambda home: (home / "headcount.db-wal").unlink(),
    "log replaced": lambda home: older(home / "headcount.db", "-wal"),
    "log emptied": lambda home: os.truncate(home / "headcount.db-wal", 0),
    "all but directories removed": lambda home: [each.unlink() for each in home.glob("headcount.*")],
    "home removed": remove_home,
    "home moved": lambda home: home.rename(home.with_name("elsewhere")),
    "replaced by a copy": copied,
    "home moved with the one above": lambda home: home.parent.rename(home.parent.with_name("above")),
}


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path / "above" / "below" / "home")
    try:
        yield daemon.ready()
    finally:
        daemon.stop()
        store_marks.withdraw(Places.below(str(daemon.home)))


def is_answered(daemon: Daemon, item: str) -> bool:
    try:
        return claim(daemon, item).status == 200
    except ClientFault:
        return False


@pytest.mark.parametrize("pull", PULLS)
def test_what_is_pulled_away_ends_the_daemon_and_the_next_grants_nothing(deep: Daemon, pull: str) -> None:
    assert claim(deep).status == 200
    PULLS[pull](deep.home)
    assert not is_answered(deep, "task:AFTER"), "the commit that finds out is not acknowledged"
    assert deep.process is not None and deep.process.wait(20) == PULLED_AWAY
    if pull.startswith("home"):
        assert not deep.home.exists(), "a home that was removed is not made again"
    if "above" in pull:
        return  # nothing that is left says that a home was here: see docs/guarantees.md
    deep.home.mkdir(exist_ok=True)
    deep.user_home.mkdir(exist_ok=True)
    deep.ready()
    refused = claim(deep)
    assert (refused.status, refused.data["code"]) == (409, "loss-not-accepted")
    assert deep.get("/v1/claims")["loss"]
    assert any("a store was lost" in each for each in deep.get("/v1/status")["warnings"])
    assert deep.call("POST", "/v1/claims/accept-loss", {}).data["accepted"]
    assert claim(deep).status == 200


def test_a_home_that_was_moved_goes_on_at_its_new_place_with_all_that_was_held(deep: Daemon) -> None:
    fence = claim(deep).data["fence"]
    moved = deep.home.with_name("moved")
    deep.home.rename(moved)
    assert deep.process is not None and deep.process.wait(20) == PULLED_AWAY
    with Daemon(moved) as again:
        (held,) = again.get("/v1/claims")["claims"]
        assert (held["item"], held["fence"]) == (HELD, fence)


def test_whoever_installed_hooks_or_failed_to_start_begins_with_nothing_lost(tmp_path: Path) -> None:
    """Lock, log and mailbox are there before the first store: that alone is no loss."""
    fresh = Daemon(tmp_path / "home")
    assert outside(fresh, "hooks", "install").code == 0
    (fresh.home / "config.toml").write_text("nonsense = 1\n")
    assert "failed" in fresh.start().word and (fresh.home / "headcount.lock").exists()
    fresh.stop()
    (fresh.home / "config.toml").unlink()
    with fresh:
        assert fresh.get("/v1/claims").get("loss") is None and claim(fresh).status == 200


@pytest.mark.parametrize("left", ["headcount.lock", "log", "mailbox"])
def test_a_lock_a_log_or_a_mailbox_without_its_store_is_a_lost_store(deep: Daemon, left: str) -> None:
    deep.kill()
    store_marks.withdraw(Places.below(str(deep.home)))
    for each in deep.home.iterdir():
        if each.name not in (left, "user"):
            each.unlink() if not each.is_dir() else shutil.rmtree(each)
    assert "is not the one that was served (it was removed)" in outside(deep, "doctor").out
    deep.ready()
    assert deep.get("/v1/claims")["loss"] == "it was removed"
    said = outside(deep, "claims")
    assert "A store was lost" in said.out and "--accept-loss" in said.out
    assert (
        "a store was lost" in outside(deep, "status").out
        and "a store was lost" in outside(deep, "doctor").out
    )


def test_an_orderly_stop_without_claims_leaves_no_mark_outside_the_home(deep: Daemon) -> None:
    places = Places.below(str(deep.home))
    assert store_marks._find(places.state) is not None
    deep.stop()
    assert store_marks._find(places.state) is None


def test_a_home_that_is_copied_to_its_place_while_no_daemon_runs_is_not_lost(deep: Daemon) -> None:
    """As to another disk: the store has another number then, and all of it is there."""
    fence = claim(deep).data["fence"]
    deep.stop()
    copied(deep.home)
    deep.ready()
    (held,) = deep.get("/v1/claims")["claims"]
    assert (held["fence"], deep.get("/v1/claims")["loss"]) == (fence, None)
    deep.kill()
    shutil.rmtree(deep.home)
    deep.user_home.mkdir(parents=True)
    assert deep.ready().get("/v1/claims")["loss"] == "it was removed"


@pytest.mark.parametrize(
    "how", ["restored in place", "restored while it was down", "log removed after a kill"]
)
def test_a_store_that_was_put_back_to_before_a_grant_is_lost(deep: Daemon, how: str) -> None:
    """Its files are the same ones; what is in them is not what was answered."""
    store, backup = deep.home / "headcount.db", deep.home.with_name("backup")
    deep.stop()
    shutil.copy(store, backup)
    deep.ready()
    assert claim(deep).status == 200
    if how == "log removed after a kill":
        deep.kill()
        (deep.home / "headcount.db-wal").unlink()
    elif how == "restored in place":
        deep.kill()
        (deep.home / "headcount.db-wal").unlink()
        store.write_bytes(backup.read_bytes())
    else:
        deep.stop()
        shutil.copy(backup, store)
    deep.ready()
    assert deep.get("/v1/claims")["loss"] is not None
    assert claim(deep).status == 409


def test_another_user_cannot_take_the_place_of_the_mark_outside(deep: Daemon) -> None:
    """Names there can be seen; the next one cannot be guessed, and a file of another user counts for nothing."""
    places = Places.below(str(deep.home))
    planted = Path(f"{store_marks._prefix(places.state)}0")
    planted.write_text(f"99999999999999999999\n{places.state}\n")
    os.chown(planted, 65534, 65534)
    try:
        deep.stop()
        assert deep.ready().get("/v1/claims")["loss"] is None
    finally:
        planted.unlink()


@pytest.mark.parametrize("fault", ["a directory", "read-only"])
def test_an_orderly_stop_that_meets_a_fault_loses_nothing(deep: Daemon, fault: str) -> None:
    """SQLite removes its log at the end: nobody is to take that for a theft."""
    fence = claim(deep).data["fence"]
    flag = deep.home / "mailbox" / ".listening"
    if fault == "a directory":
        flag.unlink()
        flag.mkdir()
    else:
        deep.mailbox.chmod(0o500)
    deep.stop()
    deep.mailbox.chmod(0o700)
    if flag.is_dir():
        flag.rmdir()
    (held,) = deep.ready().get("/v1/claims")["claims"]
    assert held["fence"] == fence and deep.get("/v1/claims")["loss"] is None


def test_a_hold_outlives_the_store_and_is_told(deep: Daemon) -> None:
    go = deep.home.with_name("go")
    line = command("hold", HELD, "--", "sh", "-c", f"while ! [ -e {go} ]; do sleep 0.05; done; exit 7")
    with subprocess.Popen(line, env=environment(deep), stderr=subprocess.PIPE, text=True) as holding:
        eventually(lambda: deep.get("/v1/claims")["claims"])
        (deep.home / "headcount.db").unlink()
        assert deep.process is not None and deep.process.wait(20) == PULLED_AWAY
        deep.ready()
        assert holding.stderr is not None
        assert "the store was lost. The command goes on" in holding.stderr.readline()
        assert holding.poll() is None
        assert deep.call("POST", "/v1/claims/accept-loss", {}).data["accepted"] and claim(deep).status == 200
        go.touch()
        assert holding.wait(20) == 7


# --- the socket --------------------------------------------------------------------------------------


def replaced(path: Path) -> None:
    other = path.with_name("other")
    other.touch()
    other.rename(path)


@pytest.mark.parametrize("harm", [Path.unlink, replaced])
def test_a_socket_that_was_taken_away_is_made_again(daemon: Daemon, harm: Callable[[Path], object]) -> None:
    harm(daemon.socket)
    eventually(daemon.socket.is_socket)
    assert eventually(lambda: is_answered(daemon, HELD)) and daemon.get("/healthz")["pid"] == daemon.pid
    daemon.socket.unlink()
    assert outside(daemon, "ps").code == 0
    daemon.socket.unlink()
    assert "is down" in outside(daemon, "down").out
    assert daemon.process is not None and daemon.process.wait(20) == 0


def test_a_daemon_that_cannot_listen_is_named_by_its_pid(daemon: Daemon) -> None:
    os.kill(daemon.pid, signal.SIGSTOP)
    (daemon.home / "headcount.lock").unlink()
    daemon.socket.unlink()
    said = outside(daemon, "down")
    assert said.code == 4 and f"pid {daemon.pid}" in said.err, "and not: was not running"
    said = outside(daemon, "doctor")
    assert said.code == 1 and f"pid {daemon.pid}" in said.out


def test_a_mailbox_that_was_removed_is_made_again(daemon: Daemon) -> None:
    shutil.rmtree(daemon.mailbox)
    eventually((daemon.mailbox / ".listening").exists)
    assert is_answered(daemon, HELD)
