"""Adapters at work beside the loop: each in a thread of its own, under a time limit.

Rules of this file
  1. An adapter that fails or hangs answers nothing. The others' answers stand, and nobody waits for it.
  2. While one hangs it is not asked again: one stuck thread for each such adapter, never two.
  3. What is wrong with an adapter now is in `faults`, for `doctor`; a good answer clears it.
  4. The threads are daemonic: a stuck one does not keep the program from ending.

Not here: what they are asked (daemon/intake/census.py, daemon/intake/open_conversations.py).
"""

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from headcount.times import ADAPTER_WITHIN

T = TypeVar("T")

log = logging.getLogger("headcount.adapters")


class Adapters:
    def __init__(self, counts: Counter[str]) -> None:
        self.faults: dict[str, str] = {}
        self._counts = counts
        self._busy: set[str] = set()

    async def ask(self, agent: str, work: Callable[[], T]) -> T | None:
        """What the adapter says; None: it did not."""
        if agent in self._busy:
            self._blame(agent, "hangs")
            return None
        try:
            async with asyncio.timeout(ADAPTER_WITHIN):
                answer = await self._beside(agent, work)
        except TimeoutError:
            self._blame(agent, f"did not answer within {ADAPTER_WITHIN:g} s")
            return None
        except Exception as error:
            if agent not in self.faults:
                log.exception("the adapter of %s failed", agent)
            self._blame(agent, f"failed: {type(error).__name__}")
            return None
        self.faults.pop(agent, None)
        return answer

    def _blame(self, agent: str, why: str) -> None:
        self.faults[agent] = why
        self._counts["adapter_faults"] += 1

    def _beside(self, agent: str, work: Callable[[], T]) -> "asyncio.Future[T]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(answer: T | None, error: BaseException | None) -> None:
            self._busy.discard(agent)
            if future.done():
                return  # nobody waits any more
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(answer)  # type: ignore[arg-type]

        def run() -> None:
            answer: T | None = None
            error: BaseException | None = None
            try:
                answer = work()
            except BaseException as raised:
                error = raised if isinstance(raised, Exception) else RuntimeError(repr(raised))
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, answer, error)

        self._busy.add(agent)
        try:
            threading.Thread(target=run, name=f"adapter-{agent}", daemon=True).start()
        except BaseException:  # no thread can be started now: nothing hangs, so it is asked again
            self._busy.discard(agent)
            raise
        return future
