"""Many questions at once: each gets its own answer, or none in time, and never a fault."""

import asyncio
from pathlib import Path

from headcount.daemon.worktrees import Worktrees
from headcount.system.clock import SystemClock


async def test_questions_that_overlap_are_all_answered(tmp_path: Path) -> None:
    """A report over HTTP got a 500 when another asked between the end of its look and its turn."""
    worktrees = Worktrees(SystemClock())

    async def ask(nth: int) -> str:
        path = str(tmp_path / str(nth))
        for _ in range(20):
            assert await worktrees.real_path(path) == path
            await asyncio.sleep(0)
        return path

    assert len(await asyncio.gather(*(ask(nth) for nth in range(16)))) == 16
