"""The mailboxes of all agents: Claude Code's is the mailbox itself, the others' are directories in it.

Rules
  1. Installing an agent's hooks makes its directory. A directory that is missing is waited for, not made: an
     agent that reports nothing leaves nothing.
  2. If the mailbox itself is removed, it is made and watched again.

Not here: what is done with a file (daemon/intake/mailbox.py), where each mailbox lies
  (agents/installing/hook_line_mailbox.py).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from headcount.daemon.intake.mailbox import Mailbox
from headcount.system.files import IN_CREATE, IN_IGNORED, IN_MOVED_TO, FileEvent, FileEvents
from headcount.times import MADE_AGAIN_AFTER


class Mailboxes:
    def __init__(
        self, top: Path, each: Sequence[Mailbox], files: FileEvents, start: Callable[[Mailbox], object]
    ) -> None:
        self._top = top
        self._closed = list(each)
        self._open: list[Mailbox] = []
        self._files = files
        self._start = start

    def open(self) -> None:
        """Watches first and looks afterwards, so that nothing falls between."""
        self._top.mkdir(mode=0o700, exist_ok=True)
        self._files.watch(self._top, IN_CREATE | IN_MOVED_TO, self._appeared)
        self._open_those_there()

    def close(self, *, for_good: bool) -> None:
        for mailbox in self._open:
            mailbox.close(for_good=for_good)

    def counts(self) -> Counter[str]:
        return sum((mailbox.counts for mailbox in self._open), Counter[str]())

    def _appeared(self, events: list[FileEvent]) -> None:
        if any(event.mask & IN_IGNORED for event in events):
            asyncio.get_running_loop().call_later(MADE_AGAIN_AFTER, self._make_again)
            return
        awaited = {None, *(mailbox.directory.name for mailbox in self._closed)}
        if any(event.name in awaited for event in events):
            self._open_those_there()

    def _make_again(self) -> None:
        with suppress(OSError):  # its mailboxes say so; a home that was removed is never made again by us
            self.open()

    def _open_those_there(self) -> None:
        for mailbox in [each for each in self._closed if each.directory.is_dir()]:
            self._closed.remove(mailbox)
            self._open.append(mailbox)
            mailbox.open()
            self._start(mailbox)
