"""Kills, I/O errors, a full and a read-only disk: what was acknowledged is there, what failed is not."""

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from tests.store.conftest import Opener
from tests.store.sqlite.run_under_faults import ROOT, STORAGE, acknowledged, faults, run, strace, writer

COMMITS = 25


def stored(open_store: Opener, path: Path) -> list[int]:
    store = open_store()
    assert store.loaded.set_aside is None
    found = [one.seq for one in asyncio.run(store.history())]
    names = {int((one.name or "after 0").split()[1]) for one in store.loaded.sessions}
    assert max(names, default=0) == max(found, default=0)  # rows and journal are of one commit
    store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    return found


@pytest.mark.parametrize("nth", [1, 2, 3, 4, 6, 9, 14, 27, 52, 95])
def test_a_kill_at_any_storage_call_loses_nothing_acknowledged(
    open_store: Opener, path: Path, nth: int
) -> None:
    inject = f"inject={STORAGE}:signal=KILL:when={nth}"
    said = run([*strace("-o", "/dev/null", "-e", f"trace={STORAGE}", "-e", inject), *writer(path, COMMITS)])
    acks = acknowledged(said)
    assert len(acks) < COMMITS  # it was killed on its way
    found = stored(open_store, path)
    assert found == list(range(1, len(found) + 1))
    assert len(acks) <= len(found) <= len(acks) + 1


def test_a_writer_that_acknowledges_early_is_caught_by_that_test(open_store: Opener, path: Path) -> None:
    open_store().close()
    lost = 0
    for nth in (14, 17, 20):  # some fall on the sync, when the pages are in the kernel's hands already
        before = len(stored(open_store, path))
        inject = f"inject={STORAGE}:signal=KILL:when={nth}"
        said = run([*strace("-o", "/dev/null", "-e", inject), *writer(path, COMMITS, "early")])
        lost += before + len(acknowledged(said)) - len(stored(open_store, path))
    assert lost > 0


@pytest.mark.parametrize("call", ["pwrite64", "fdatasync"])
@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_a_failed_commit_stores_nothing_and_the_next_one_succeeds(
    open_store: Opener, path: Path, call: str, error: str
) -> None:
    open_store().close()
    inject = f"inject={call}:error={error}:when=9..11"
    said = run([*strace("-o", "/dev/null", "-e", inject), *writer(path, COMMITS, "patient")], check=True)
    assert {kind for kind, _ in faults(said)} == {"full" if (call, error) == ("pwrite64", "ENOSPC") else "io"}
    assert acknowledged(said) == list(range(1, COMMITS + 1))
    assert stored(open_store, path) == list(range(1, COMMITS + 1))  # each once, none twice


def test_after_a_failed_sync_only_what_was_acknowledged_is_there(open_store: Opener, path: Path) -> None:
    """The impatient writer stops at its first fault and closes the store in good order."""
    open_store().close()
    said = run(
        [*strace("-o", "/dev/null", "-e", "inject=fdatasync:error=EIO:when=9"), *writer(path, COMMITS)]
    )
    assert len(faults(said)) == 1
    assert stored(open_store, path) == acknowledged(said)


def in_own_mounts(script: str) -> list[str]:
    """Runs a Python script in mounts of its own; as root, or as root of its own user namespace."""
    code = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'src')!r}]\n{script}"
    for own in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        if subprocess.run([*own, "true"], capture_output=True).returncode == 0:
            done = subprocess.run(
                [*own, sys.executable, "-c", code], capture_output=True, text=True, timeout=60
            )
            assert done.returncode == 0, done.stderr
            return done.stdout.splitlines()
    pytest.fail("needs root or user namespaces: `unshare --mount` was refused")


@pytest.mark.root
def test_a_full_disk_is_told_as_full_and_passes_with_the_lack(tmp_path: Path) -> None:
    said = in_own_mounts(f"""
import asyncio, subprocess, time
from pathlib import Path
from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from tests.store.sample_values import event, session
disk = Path({str(tmp_path)!r})
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], check=True)

async def main():
    store = SqliteStore.open(disk / "state" / "headcount.db", machine="m", now=time.time)
    seq = 0
    try:
        while seq < 10_000:
            await store.commit([event(seq + 1, name="x" * 500)], [session(f"s{{seq}}")])
            seq += 1
    except StoreFault as fault:
        print(fault.kind, "make room" in str(fault))
    for _ in range(20):
        try:
            await store.commit([event(seq + 1, name="y" * 9000)], [])
            seq += 1
        except StoreFault as fault:
            assert fault.kind == "full", fault
    assert [one.seq for one in await store.history(limit=99999)] == list(range(1, seq + 1))
    subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
    await store.commit([event(seq + 1)], [session("last")])
    store.close()
    again = SqliteStore.open(disk / "state" / "headcount.db", machine="m", now=time.time)
    print(again.loaded.seq == seq + 1, again.loaded.set_aside, seq > 5)
    again.close()

asyncio.run(main())
""")
    assert said == ["full True", "True None True"]


@pytest.mark.root
def test_a_read_only_disk_is_told_as_readonly_and_nothing_is_moved(tmp_path: Path) -> None:
    said = in_own_mounts(f"""
import asyncio, sqlite3, subprocess, time
from pathlib import Path
from headcount.store.sqlite.driver_errors import translate
from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from tests.store.sample_values import event, session
disk = Path({str(tmp_path)!r})
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk], check=True)
path = disk / "headcount.db"

def attempt(what):
    try:
        what()
        print("no fault")
    except StoreFault as fault:
        print(fault.kind)

store = SqliteStore.open(path, machine="m", now=time.time)
asyncio.run(store.commit([event(1)], [session()]))
store.close()
subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
attempt(lambda: SqliteStore.open(path, machine="m", now=time.time))
attempt(lambda: SqliteStore.open(disk / "new" / "headcount.db", machine="m", now=time.time))
error = sqlite3.OperationalError("unable to open database file")  # what SQLite makes of EROFS
error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
print(translate(error, path).kind)
print(*sorted(file.name for file in disk.iterdir()))
subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
store = SqliteStore.open(path, machine="m", now=time.time)
print(store.loaded.seq)
store.close()
""")
    assert said == ["readonly", "readonly", "readonly", "headcount.db", "1"]


def test_a_store_that_cannot_be_reached_is_a_fault_not_a_loss(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreFault):
        SqliteStore.open(tmp_path / "file" / "headcount.db", machine="m", now=lambda: 0.0)
