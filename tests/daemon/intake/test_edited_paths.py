"""Questions at once: each gets its own answer, or none in time, and never a fault."""

import asyncio
import threading
from typing import Any

import pytest

from headcount.bounded_thread import BoundedThreads
from headcount.daemon.identity.host_paths import HostPaths
from headcount.daemon.intake import edited_paths as module
from headcount.daemon.intake.edited_paths import EditedPaths
from headcount.system.clock import SystemClock
from headcount.system.git.repository import Repo
from headcount.system.mount_namespaces import ourselves


def alone(looks: BoundedThreads) -> EditedPaths:
    """Without a loop: nobody reports anything here."""
    nothing: Any = None
    return EditedPaths(SystemClock(), looks, HostPaths(nothing, looks, SystemClock()))


async def test_questions_at_once_get_each_its_own_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report over HTTP got a 500: it asked for the result of another's look, which had only begun."""
    monkeypatch.setattr(module, "_real", lambda path: f"/real{path}")
    worktrees = alone(BoundedThreads("look"))
    names = [f"/{number}" for number in range(20)]
    asked = (worktrees.real_path(name, ourselves()) for name in names)
    assert await asyncio.gather(*asked) == [f"/real{name}" for name in names]


async def test_a_directory_that_hangs_is_not_known_and_not_asked_for_again_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers, asked = threading.Event(), []

    def hang(directory: str) -> None:
        asked.append(directory)
        answers.wait(20)

    monkeypatch.setattr(module, "read_repo", hang)
    monkeypatch.setattr(module, "WORKTREE_WITHIN", 0.05)
    worktrees = alone(BoundedThreads("look"))
    assert await worktrees.repos(["/mnt/away"]) == {}  # not "no repository"
    assert await worktrees.read_again(["/mnt/away"]) == {}
    assert asked == ["/mnt/away"]
    answers.set()


async def test_a_directory_that_hangs_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()
    repo = Repo("/r/.git", "r", "main", "/r")

    def read(directory: str) -> Repo:
        if directory.startswith("/mnt"):
            answers.wait(20)
        return repo

    monkeypatch.setattr(module, "read_repo", read)
    monkeypatch.setattr(module, "WORKTREE_WITHIN", 0.05)
    looks = BoundedThreads("look")
    try:
        found = await alone(looks).repos(["/a", "/mnt/one", "/mnt/two", "/z"])
        assert found == {"/a": repo, "/z": repo} and looks.hanging == 2
    finally:
        answers.set()
