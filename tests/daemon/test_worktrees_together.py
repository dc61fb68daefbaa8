"""Questions at once: each gets its own answer, or none in time, and never a fault."""

import asyncio
from pathlib import Path

from headcount.daemon.worktrees import Worktrees
from headcount.system.clock import SystemClock


async def test_a_question_that_comes_just_as_another_is_answered_does_not_spoil_it(tmp_path: Path) -> None:
    """A report over HTTP got a 500: it asked for the result of the other's look, which had only begun."""
    worktrees = Worktrees(SystemClock())
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    first = asyncio.ensure_future(worktrees.real_path(one))
    while worktrees._looking is None:
        await asyncio.sleep(0)
    second: list[asyncio.Future[str]] = []
    worktrees._looking.add_done_callback(
        lambda _: second.append(asyncio.ensure_future(worktrees.real_path(other)))
    )
    assert await first == one
    assert await second[0] == other
