"""The log: damage before its last commit is noticed, what crashes and faults leave behind is not taken for damage."""

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from headcount.store.sqlite.damage import damage_in
from tests.store.conftest import Opener
from tests.store.sample_values import event, session
from tests.store.sqlite.run_under_faults import run, strace, writer

FRAME = 4096 + 24
HEAD = 32


@pytest.fixture
def killed(open_store: Opener, path: Path, tmp_path: Path) -> tuple[Path, bytes]:
    """A store with thirty commits in its log, as a kill leaves it."""
    store = open_store()

    async def commits() -> None:
        for n in range(1, 31):
            await store.commit([event(n)], [session()])

    asyncio.run(commits())
    log = path.with_name(path.name + "-wal")
    files = {each: each.read_bytes() for each in (path, log)}
    store.close()
    for each, content in files.items():
        each.write_bytes(content)
    return path, files[log]


def commit_frames(log: bytes) -> list[int]:
    starts = range(HEAD, len(log) - FRAME + 1, FRAME)
    return [at for at in starts if int.from_bytes(log[at + 4 : at + 8], "big")]


def test_a_sound_log_is_sound(killed: tuple[Path, bytes]) -> None:
    assert damage_in(killed[1]) is None


@pytest.mark.parametrize("place", [HEAD + 100, HEAD + 10, HEAD + 5 * FRAME + 17], ids=["page", "salt", "sum"])
def test_commits_behind_a_damaged_part_of_the_log_are_not_forgotten_in_silence(
    open_store: Opener, killed: tuple[Path, bytes], place: int
) -> None:
    path, log = killed
    damaged = log[:place] + bytes([log[place] ^ 1]) + log[place + 1 :]
    path.with_name(path.name + "-wal").write_bytes(damaged)
    naive = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    shown = naive.execute("SELECT count(*) FROM events").fetchone()[0]
    naive.close()
    assert shown < 30, "the control: SQLite shows a state of the past as if it were all"
    assert open_store(now=1_753_963_200.0).loaded.set_aside is not None


def test_wherever_a_sector_is_lost_two_acknowledged_commits_are_not_forgotten_in_silence(
    killed: tuple[Path, bytes],
) -> None:
    """Also of frames of which nothing can be told, because the sum that they go on from is gone."""
    log, commits = killed[1], commit_frames(killed[1])
    unseen = []
    for at in range(HEAD, len(log) - 512, 500):
        broken = HEAD + (at - HEAD) // FRAME * FRAME
        lost = sum(
            frame >= broken and not at - 24 < frame < at + 512 for frame in commits
        )  # and their mark is left
        if at + 512 > broken + FRAME:
            continue  # it is of two frames: what is left of the second may be of a commit that failed
        damaged = log[:at] + bytes(512) + log[at + 512 :]
        if lost >= 2 and damaged != log and damage_in(damaged) is None:
            unseen.append(at)
    assert not unseen


def test_what_is_set_aside_is_as_it_was_found_with_its_log(
    open_store: Opener, killed: tuple[Path, bytes]
) -> None:
    """The last connection that can write would write the log back, into a file that is known to be damaged."""
    path, log = killed
    with path.open("r+b") as file:
        file.seek(2 * 4096)
        file.write(b"\xa5" * 4096 * 12)
    damaged = path.read_bytes()
    aside = open_store().loaded.set_aside
    assert aside is not None
    assert (aside.read_bytes(), aside.with_name(aside.name + "-wal").read_bytes()) == (damaged, log)


@pytest.mark.parametrize("content", [bytes(HEAD), b"\xa5" * HEAD], ids=["zeros", "garbage"])
def test_a_log_whose_head_is_damaged_is_not_taken_for_an_empty_one(
    open_store: Opener, killed: tuple[Path, bytes], content: bytes
) -> None:
    path, log = killed
    path.with_name(path.name + "-wal").write_bytes(content + log[HEAD:])
    assert open_store().loaded.set_aside is not None


def test_a_last_transaction_that_was_cut_short_is_no_damage(
    open_store: Opener, killed: tuple[Path, bytes]
) -> None:
    """Any part of what was not yet synced may be missing, also its beginning."""
    path, log = killed
    *_, before, last = commit_frames(log)
    first = before + FRAME
    assert first < last, "a transaction of several frames"
    cut = log[:first] + bytes(FRAME) + log[first + FRAME :]
    path.with_name(path.name + "-wal").write_bytes(cut)
    loaded = open_store().loaded
    assert (loaded.set_aside, loaded.seq) == (None, 29)


def test_an_end_that_is_missing_is_no_damage(open_store: Opener, killed: tuple[Path, bytes]) -> None:
    path, log = killed
    os.truncate(path.with_name(path.name + "-wal"), commit_frames(log)[20] + FRAME)
    loaded = open_store().loaded
    assert (loaded.set_aside, loaded.seq) == (None, 21)


def test_frames_of_an_earlier_use_of_the_log_are_no_damage(open_store: Opener, path: Path) -> None:
    """After it was written back the log is begun anew over its old frames."""
    store = open_store()

    async def commits() -> None:
        for n in range(1, 251):
            await store.commit([event(n)], [session(f"s{n % 5}")])

    asyncio.run(commits())
    log = path.with_name(path.name + "-wal").read_bytes()
    store.close()
    salts = {log[at + 8 : at + 16] for at in range(HEAD, len(log) - FRAME + 1, FRAME)}
    assert len(salts) > 1, "it was begun anew"
    assert damage_in(log) is None


@pytest.mark.parametrize("when", ["5..9", "4+3"])
def test_what_failed_commits_leave_in_the_log_is_no_damage(open_store: Opener, path: Path, when: str) -> None:
    """A commit whose sync failed was written whole; shorter ones are written over it."""
    open_store().close()
    fails = f"inject=fdatasync:error=EIO:when={when}"
    kills = "inject=pwrite64:signal=KILL:when=160"
    said = run([*strace("-o", "/dev/null", "-e", fails, "-e", kills), *writer(path, 40, "patient")])
    acknowledged = [int(words[1]) for words in said if words[0] == "ack"]
    assert any(words[0] == "fault" for words in said)
    loaded = open_store().loaded
    assert loaded.set_aside is None
    assert loaded.seq >= max(acknowledged)
