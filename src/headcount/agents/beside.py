"""A thread beside the caller's for one who may hang: what it is asked is answered in time, or not at all.

Rules of this file
  1. One question at a time, one thread for all of them. Whoever asks waits no longer than the limit.
  2. While one hangs nobody else is let in: its caller is told at once. When it comes back, the next is asked.
  3. The thread is daemonic and starts with the first question: a stuck one keeps no program from ending.

Not here: what is asked, and what follows from no answer (plugin_guard.py).
"""

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Late(Exception):
    """It did not answer in time, or hangs from before."""


class Asked:
    """One question, and its answer once it is there."""

    __slots__ = ("answer", "done", "error", "work")

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.done = threading.Event()
        self.answer: Any = None
        self.error: Exception | None = None


class Beside:
    def __init__(self, name: str, within: float) -> None:
        self._name = name
        self._within = within
        self._questions: queue.SimpleQueue[Asked] = queue.SimpleQueue()
        self._turn = threading.Lock()  # who asks
        self._open: Asked | None = None  # that was not answered in time
        self._thread: threading.Thread | None = None

    def ask(self, work: Callable[[], T]) -> T:
        if not self._turn.acquire(timeout=self._within):
            raise Late("hangs")
        try:
            return self._ask(work)
        finally:
            self._turn.release()

    def _ask(self, work: Callable[[], T]) -> T:
        if self._open is not None and not self._open.done.is_set():
            raise Late("hangs")
        self._start()
        asked = self._open = Asked(work)
        self._questions.put(asked)
        if not asked.done.wait(self._within):
            raise Late(f"did not answer within {self._within:g} s")
        if asked.error is not None:
            raise asked.error
        answer: T = asked.answer
        return answer

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"adapter-{self._name}", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            asked = self._questions.get()
            try:
                asked.answer = asked.work()
            except BaseException as raised:
                asked.error = raised if isinstance(raised, Exception) else RuntimeError(repr(raised))
            asked.done.set()
