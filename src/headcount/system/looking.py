"""Looking at people's file systems, which may hang: each look in a thread of its own, with a limit.

Rules of this file
  1. A look that is late is given up by whoever asked; its thread ends when the file system answers, if ever.
  2. Those threads are nobody else's: a mount that hangs takes none of the loop's own, and keeps no daemon from
     ending.
  3. Only so many may hang at a time; then a look is refused at once, until one of them has come back.

Not here: what is looked for.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

K = TypeVar("K")
T = TypeVar("T")

HANGING_MOST = 32  # threads; each waits in the kernel and costs a stack


class Hung(Exception):
    """It did not answer in time."""


class Looks:
    def __init__(self, most: int = HANGING_MOST) -> None:
        self._most = most
        self.hanging = 0  # late ones that have not come back

    async def ask(self, look: Callable[[], T], within: float) -> T:
        """What it returns or raises; `Hung` when that takes longer."""
        if self.hanging >= self._most:
            raise Hung
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            found, fault = None, None
            try:
                found = look()
            except BaseException as error:
                fault = error
            with suppress(RuntimeError):  # the loop is over, nobody waits
                loop.call_soon_threadsafe(self._told, answer, found, fault)

        try:
            threading.Thread(target=run, name="look", daemon=True).start()
        except RuntimeError:  # no thread can be started now
            raise Hung from None
        try:
            await asyncio.wait([answer], timeout=within)
        finally:
            if not answer.done():  # late, or whoever asked has left
                answer.cancel()
                self.hanging += 1
        if answer.cancelled():
            raise Hung
        return answer.result()

    async def each(self, look: Callable[[K], T], of: Iterable[K], within: float) -> dict[K, T]:
        """What it returns for each of them; without those that hang, which keep the others from nothing."""
        found: dict[K, T] = {}
        rest = list(of)
        while rest:
            done: dict[K, T] = {}
            given_up = threading.Event()
            try:
                await self.ask(partial(_one_by_one, look, rest, done, given_up), within)
                return found | done
            except Hung:
                given_up.set()
                told = dict(done)
                found |= told
                rest = rest[len(told) + 1 :]  # the next one is the one that hangs
        return found

    def _told(self, answer: "asyncio.Future[Any]", found: Any, fault: BaseException | None) -> None:
        if answer.cancelled():
            self.hanging -= 1  # late, but it came
        elif fault is not None:
            answer.set_exception(fault)
        else:
            answer.set_result(found)


def _one_by_one(look: Callable[[K], T], of: list[K], done: dict[K, T], given_up: threading.Event) -> None:
    for each in of:
        if given_up.is_set():
            return
        done[each] = look(each)
