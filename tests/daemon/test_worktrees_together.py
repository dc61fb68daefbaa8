"""Questions at once: each gets its own answer, or none in time, and never a fault."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from headcount.daemon.worktrees import Worktrees
from headcount.system.clock import SystemClock


async def test_a_question_that_comes_just_as_another_is_answered_does_not_spoil_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A report over HTTP got a 500: it asked for the result of the other's look, which had only begun."""
    looks: list[asyncio.Future[Any]] = []

    def in_thread(read: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        looks.append(asyncio.get_running_loop().create_future())
        return looks[-1]

    monkeypatch.setattr(asyncio, "to_thread", in_thread)
    worktrees = Worktrees(SystemClock())
    first = asyncio.ensure_future(worktrees.real_path("/one"))
    while not looks:
        await asyncio.sleep(0)
    looks[0].set_result(({}, {"/one": "/real/one"}))
    second = asyncio.ensure_future(worktrees.real_path("/two"))  # its turn is before the first one's
    assert await first == "/real/one"
    looks[1].set_result(({}, {"/two": "/real/two"}))
    assert await second == "/real/two"
