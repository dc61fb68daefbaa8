"""Listeners: who waits for the answer to a question that stands in line, by its request.

Rules
  1. A retry listens beside the first call, and both get the answer.
  2. When the last of them has gone, so has the waiter: `gone` is told. A retry that was still on its way to the disk
     then makes that void (`listened`). An answer that comes in the same moment is told to nobody, and that is said.

Not here: the line itself (core/claims/queue.py), what is answered (loop.py).
"""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PendingAnswers(Generic[T]):
    def __init__(self, gone: Callable[[str], None]) -> None:
        self._gone = gone
        self._by_request: dict[str, list[asyncio.Future[T]]] = {}

    @property
    def listened(self) -> frozenset[str]:
        return frozenset(self._by_request)

    def count(self, request: str) -> int:
        return len(self._by_request.get(request, ()))

    def add(self, request: str, answer: asyncio.Future[T]) -> None:
        self._by_request.setdefault(request, []).append(answer)
        answer.add_done_callback(lambda done: self._leave(request, done))

    def answer(self, request: str, answer: T) -> bool:
        """Whether anybody still listened."""
        listening = [each for each in self._by_request.pop(request, ()) if not each.done()]
        for future in listening:
            future.set_result(answer)
        return bool(listening)

    def _leave(self, request: str, answer: asyncio.Future[T]) -> None:
        listening = self._by_request.get(request)
        if listening is None or answer not in listening:
            return
        listening.remove(answer)
        if not listening:
            del self._by_request[request]
            self._gone(request)
