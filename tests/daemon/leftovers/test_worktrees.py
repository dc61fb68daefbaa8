"""Checkouts that hang or that we may not look at: not found, not gone, and in nobody's way."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from headcount.bounded_thread import BoundedThreads
from headcount.core.values.leftover import Find, Leftover, LeftoverId, LeftoverKind
from headcount.core.values.session import Session
from headcount.daemon.leftovers import worktrees as module
from headcount.system.git.repository import Repo
from headcount.system.git.unsaved_work import Work
from tests.rig.core_values import Scene, bound, process, start

WORK = Work(uncommitted=1, unpushed=0, branch="main")


@pytest.fixture
def back(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Everything below /mnt hangs until it is set."""
    event = threading.Event()

    def work(top: str) -> Work:
        if top.startswith("/mnt"):
            event.wait(20)
        return WORK

    def repo(directory: str) -> Repo:
        if directory.startswith("/mnt/dead"):
            event.wait(20)
        return Repo(f"{directory}/.git", "web", "main", directory)

    monkeypatch.setattr(module, "read_work", work)
    monkeypatch.setattr(module, "read_repo", repo)
    monkeypatch.setattr(module, "CHECKOUT_WITHIN", 0.05)
    monkeypatch.setattr(module, "WORKTREE_WITHIN", 0.05)
    yield event
    event.set()


def sessions(*directories: str) -> list[Session]:
    scene = Scene()
    for nth in range(len(directories)):
        scene.hear(start(conversation=f"c{nth}", anchor=bound(process(100 + nth))))
    found = [scene.of(f"c{nth}")[0] for nth in range(len(directories))]
    return [replace(each, cwd=cwd) for each, cwd in zip(found, directories, strict=True)]


def leftover(path: str) -> Leftover:
    return Leftover(LeftoverId(path), LeftoverKind.WORKTREE, None, None, path, (), 0.0, facts={"path": path})


async def test_a_checkout_that_hangs_hides_no_other(back: threading.Event) -> None:
    ended = sessions("/mnt/dead/a", "/mnt/slow", "/home/dev/web", "/home/dev/web", "/home/dev/busy")
    async with asyncio.timeout(10):
        found = await module.left_by(BoundedThreads("look"), ended, {"/home/dev/busy"})
    assert {id: find.key for id, find in found.items()} == {ended[2].id: "/home/dev/web"}


async def test_what_hangs_is_not_gone_and_what_is_gone_is(back: threading.Event, tmp_path: object) -> None:
    known = [leftover(str(tmp_path)), leftover("/nowhere/at/all")]
    hung = replace(leftover("/mnt"), facts={"path": "/mnt"})
    found = await module.now(BoundedThreads("look"), [*known, hung], set())
    assert isinstance(found[known[0].id], Find)
    assert found[known[1].id] == "the directory is gone" and hung.id not in found


def test_a_directory_that_we_may_not_look_at_is_not_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(module.os, "stat", denied)
        told = module.why_gone(leftover("/home/dev/web"), set())
    assert told is None
