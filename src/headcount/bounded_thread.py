"""Run one call in a thread of its own, with a deadline.

For calls that may never return: a file system whose server is away, an agent's adapter.

Rules
  1. The caller waits until the deadline at most, then gets `Late`. The answer of a late call is dropped.
  2. A late call keeps its thread until it returns, if ever. `hanging` counts them. When `most` hang, further
     calls are refused at once, until one of them returns.
  3. Threads are daemonic and none is shared: a call that hangs neither delays other calls nor keeps the
     program from ending.
  4. Blocking callers take turns: what they call runs once at a time.

Not here: what is called, and what follows from no answer.
"""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

K = TypeVar("K")
T = TypeVar("T")

HANGING_MOST = 32  # threads; each waits in the kernel and costs a stack


class Late(Exception):
    """The call did not return in time, or was refused because earlier ones still hang."""


class _Call:
    """One call and, once `over`, its answer or its error."""

    def __init__(self, call: Callable[[], Any], wake: Callable[[], object]) -> None:
        self._call = call
        self._wake = wake
        self.over = threading.Event()
        self._answer: Any = None
        self._error: Exception | None = None

    def run(self) -> None:
        try:
            self._answer = self._call()
        except BaseException as raised:  # SystemExit of a plugin must not end anything of ours
            self._error = raised if isinstance(raised, Exception) else RuntimeError(repr(raised))
        self.over.set()
        self._wake()

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._answer


class BoundedThreads:
    def __init__(self, name: str, most: int = HANGING_MOST) -> None:
        self._name = name
        self._most = most
        self._late: set[_Call] = set()
        self._turn = threading.Lock()

    @property
    def hanging(self) -> int:
        """How many late calls have not returned."""
        for call in tuple(self._late):
            if call.over.is_set():
                self._late.discard(call)
        return len(self._late)

    async def ask(self, call: Callable[[], T], within: float) -> T:
        """What the call returns or raises; `Late` if that takes longer."""
        import asyncio  # lazy: the command line loads this module, and asyncio is slow to import

        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed, nobody waits
                loop.call_soon_threadsafe(over.set)

        asked = self._start(call, wake)
        try:
            async with asyncio.timeout(within):
                await over.wait()
        except TimeoutError:
            if not asked.over.is_set():  # it may have answered while the loop was busy
                raise _too_late(within) from None
        finally:
            if not asked.over.is_set():  # late, or the caller was cancelled
                self._late.add(asked)
        answer: T = asked.result()
        return answer

    def ask_blocking(self, call: Callable[[], T], within: float) -> T:
        """The same for a caller without an event loop, or one that must not let others run meanwhile."""
        if not self._turn.acquire(timeout=within):
            raise Late("hangs")
        try:
            asked = self._start(call, lambda: None)
            if not asked.over.wait(within):
                self._late.add(asked)
                raise _too_late(within)
        finally:
            self._turn.release()
        answer: T = asked.result()
        return answer

    async def each(self, call: Callable[[K], T], of: Iterable[K], within: float) -> dict[K, T]:
        """What the call returns for each of them, without those that hang. `within` is for each run of them: one that
        hangs is skipped and the rest is asked in a new thread."""
        found: dict[K, T] = {}
        rest = list(of)
        while rest:
            done: dict[K, T] = {}
            given_up = threading.Event()
            try:
                await self.ask(partial(_one_by_one, call, rest, done, given_up), within)
                return found | done
            except Late:
                given_up.set()
                so_far = dict(done)
                found |= so_far
                rest = rest[len(so_far) + 1 :]  # the next one is the one that hangs
        return found

    def _start(self, call: Callable[[], Any], wake: Callable[[], object]) -> _Call:
        if self.hanging >= self._most:
            raise Late("hangs")
        asked = _Call(call, wake)
        try:
            threading.Thread(target=asked.run, name=self._name, daemon=True).start()
        except RuntimeError:
            raise Late("no thread can be started now") from None
        return asked


def _too_late(within: float) -> Late:
    return Late(f"did not answer within {within:g} s")


def _one_by_one(call: Callable[[K], T], of: list[K], done: dict[K, T], given_up: threading.Event) -> None:
    for each in of:
        if given_up.is_set():
            return
        done[each] = call(each)
