"""Poll processes that no descriptor watches, once a second.

Rules
  1. All are judged in one batch, in a thread: the loop never waits for /proc.
  2. There is a timer only while there are processes to poll.
  3. A pass only reports verdicts; the adapter draws the conclusion, on the loop.
  4. A verdict on a process that was removed meanwhile is dropped.

Not here: how one process is judged (linux.py, portable.py).
"""

import asyncio
import concurrent.futures.thread  # noqa: F401  asyncio imports it at first use, when no descriptor may be left
from collections.abc import Callable, Mapping

from headcount import times
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Verdict

Judge = Callable[[tuple[ProcessIdentity, ...]], Mapping[ProcessIdentity, Verdict]]
Conclude = Callable[[ProcessIdentity, Verdict], None]


class Polling:
    def __init__(self, loop: asyncio.AbstractEventLoop, judge: Judge, conclude: Conclude) -> None:
        self._loop = loop
        self._judge = judge
        self._conclude = conclude
        self._members: dict[ProcessIdentity, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._pass: asyncio.Future[Mapping[ProcessIdentity, Verdict]] | None = None
        self._closed = False

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, identity: ProcessIdentity) -> bool:
        return identity in self._members

    def add(self, identity: ProcessIdentity) -> None:
        self._members[identity] = None
        self._schedule()

    def discard(self, identity: ProcessIdentity) -> None:
        self._members.pop(identity, None)
        if not self._members and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        self._closed = True
        for identity in tuple(self._members):
            self.discard(identity)

    def _schedule(self) -> None:
        if self._members and self._timer is None and self._pass is None:
            self._timer = self._loop.call_later(times.POLL_EVERY, self._start_pass)

    def _start_pass(self) -> None:
        self._timer = None
        try:
            self._pass = self._loop.run_in_executor(None, self._judge, tuple(self._members))
        except (OSError, RuntimeError):  # no thread can be started now: nothing was learned
            self._schedule()
        else:
            self._pass.add_done_callback(self._end_pass)

    def _end_pass(self, done: asyncio.Future[Mapping[ProcessIdentity, Verdict]]) -> None:
        self._pass = None
        if self._closed or done.cancelled():
            return  # no one uses the result of a last pass
        try:
            for identity, verdict in done.result().items():
                if identity in self._members:
                    self._conclude(identity, verdict)
        finally:
            self._schedule()  # a failed pass proves nothing; wait for the next
