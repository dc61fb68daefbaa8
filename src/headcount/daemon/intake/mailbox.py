"""The mailbox: reports that hooks dropped as files, read, decided, and only then removed.

Rules
  1. A report is a file until it is committed. A crash at any point leaves it to be read again.
  2. Files are read in the order in which they were written, also those from before the start.
  3. Only regular files of ours are read, without following links; names are never used as anything else.
  4. What cannot be read is counted and removed: it may hold a prompt. One that may still be being
     written is left alone.
  5. Whatever lies in it, time and memory are bounded: by bytes and reports of a file (mailbox_format.py), by bytes and reports at a
     time, by names that are remembered. What is over a bound is counted and dropped. The log has one line per kind.

Not here: the form of a file (mailbox_format.py), what a payload means (agents/), who sent it (daemon/identity/reporting_process.py).
"""

import asyncio
import contextlib
import errno
import heapq
import logging
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from headcount.agents.installing.hook_line_mailbox import TOP, TRIAL
from headcount.agents.interface import Agent, Unread
from headcount.core.values.report import Anchor, Report
from headcount.daemon.engine.loop import Loop, NotStored
from headcount.daemon.identity.reporting_process import Anchors
from headcount.daemon.intake.edited_paths import EditedPaths
from headcount.daemon.intake.mailbox_format import Sender, split
from headcount.daemon.intake.unknown_events import UnknownEvents
from headcount.private_files import check_directory, open_to_append
from headcount.system.clock import Clock
from headcount.system.files import IN_CLOSE_WRITE, IN_IGNORED, IN_MOVED_TO, EndWatch, FileEvent, FileEvents
from headcount.times import COMMIT_RETRY_MOST, MADE_AGAIN_AFTER, SETTLE_WITHIN

log = logging.getLogger("headcount.mailbox")

SIZE_MOST = 8 * 1024 * 1024  # of a file, and at a time; a report holds what a tool wrote
CHUNK = 256
REPORTS_AT_ONCE = 1024
NAMES_MOST = 20_000  # remembered; further ones are listed when those were read
A_FEW = 8  # files that are removed sooner than a thread is asked to
FLAG = ".listening"  # while it is there, per-tool hooks report too
PASSING = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO})  # reading may succeed later


class MailboxFile(Struct):
    """One file: what it held, and what it was when it was read."""

    path: str
    written_at: float
    is_fresh: bool  # it may still be being written
    size: int
    data: bytes
    left: int = 0  # bytes that are not read, because a bound was met

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class Mailbox:
    def __init__(
        self,
        directory: Path,
        agent: Agent,
        loop: Loop,
        anchors: Anchors,
        files: FileEvents,
        clock: Clock,
        drift: UnknownEvents,
        worktrees: EditedPaths,
    ) -> None:
        self.directory = directory
        self.counts: Counter[str] = Counter()
        self._agent = agent
        self._loop = loop
        self._anchors = anchors
        self._files = files
        self._end_watch: EndWatch | None = None
        self._clock = clock
        self._drift = drift
        self._worktrees = worktrees
        self._names: dict[str, None] = {}  # waiting, in order of arrival
        self._warned: set[str] = set()
        self._wake = asyncio.Event()
        self._rescan = True
        self._waiting: asyncio.TimerHandle | None = None
        self._removing: asyncio.Future[list[MailboxFile]] | None = None

    def open(self) -> None:
        """Watches first and lists afterwards, so that nothing falls between."""
        if self._agent.name != TOP:
            self.directory.parent.mkdir(mode=0o700, exist_ok=True)
        self.directory.mkdir(mode=0o700, exist_ok=True)  # in a home that was removed nothing is made
        check_directory(str(self.directory))  # what cannot be read in it is removed: it must be ours
        self._end_watch = self._files.watch(self.directory, IN_CLOSE_WRITE | IN_MOVED_TO, self._arrived)
        os.close(open_to_append(str(self.directory / FLAG)))
        self._wake.set()

    def close(self, *, for_good: bool) -> None:
        """`for_good`: told to stop, so per-tool hooks need not write any more."""
        if self._end_watch is not None:
            self._end_watch()
            self._end_watch = None
        if self._waiting is not None:
            self._waiting.cancel()
        if for_good:
            with contextlib.suppress(OSError):  # a directory in its place, or one that became read-only
                (self.directory / FLAG).unlink()

    def waiting(self) -> int:
        return len(self._names)

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._rescan:
                self._rescan = False
                self._names.update(dict.fromkeys(self._listed()))
            while self._names:
                await self._deliver([name for name, _ in zip(self._names, range(CHUNK), strict=False)])
                await asyncio.sleep(0)  # also where nothing of it was to be stored
                if not self._names:
                    await self._remove_all([])

    def _look_again(self) -> None:
        """A file that was not whole, or could not be read, is looked at once more."""
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().call_later(SETTLE_WITHIN, self._scan_again)

    def _scan_again(self) -> None:
        self._waiting = None
        self._rescan = True
        self._wake.set()

    def _arrived(self, events: list[FileEvent]) -> None:
        for event in events:
            if event.mask & IN_IGNORED:
                asyncio.get_running_loop().call_later(MADE_AGAIN_AFTER, self._reopen)
            elif event.name is None or len(self._names) >= NAMES_MOST:
                self._rescan = True
            elif not event.name.startswith("."):
                self._names[event.name] = None
        self._wake.set()

    def _reopen(self) -> None:
        """Its directory was removed under us: without a new one every hook would write into nothing."""
        if self._end_watch is None:
            return  # closed since
        log.warning("the mailbox was removed; it is made again")
        self._rescan = True
        try:
            self.open()
        except OSError as error:
            log.error("the mailbox cannot be made again: %s", error.strerror)

    def _listed(self) -> list[str]:
        found: list[tuple[int, int, str]] = []
        try:
            with os.scandir(self.directory) as entries:
                found = heapq.nsmallest(NAMES_MOST, _dated(entries))
        except OSError as error:
            self._warn("unlisted", "the mailbox cannot be listed: %s", error.strerror)
            self._look_again()
        if len(found) == NAMES_MOST:
            self._look_again()
        return [name for _, _, name in found]

    async def _deliver(self, names: Iterable[str]) -> None:
        letters: list[MailboxFile] = []
        size = 0
        for name in names:
            if size >= SIZE_MOST:
                break  # its turn comes
            self._names.pop(name, None)
            letter = self._read(name)
            if letter is not None:
                letters.append(letter)
                size += len(letter.data)
        letters.sort(key=lambda each: each.written_at)
        heard: list[Report] = []
        done: list[MailboxFile] = []
        while letters and len(heard) < REPORTS_AT_ONCE:
            letter = letters.pop(0)
            reports = self._reports(letter)
            if reports is not None:
                done.append(letter)
                heard.extend(reports)
                if len(reports) > A_FEW:
                    await asyncio.sleep(0)
        self._names = dict.fromkeys(each.name for each in letters) | self._names
        settled = await self._worktrees.resolved(heard)
        answers: list[asyncio.Future[object]] = [self._loop.submit(report) for report in settled]  # type: ignore[misc]
        if answers and not await self._committed(answers):
            self._again(done)
            await asyncio.sleep(COMMIT_RETRY_MOST)
            return
        for letter in done:
            if letter.left:
                self._count("over_limit", letter.size)
                self.counts["dropped_bytes"] += letter.left
        await self._remove_all(done)

    async def _remove_all(self, letters: list[MailboxFile]) -> None:
        """Many are removed by a thread, while the next are read: it is a fifth of the work."""
        if self._removing is not None:
            self._again(await self._removing)
            self._removing = None
        if len(letters) < A_FEW:
            self._again(_remove(letters))
        else:
            self._removing = asyncio.get_running_loop().run_in_executor(None, _remove, letters)

    def _again(self, letters: Iterable[MailboxFile]) -> None:
        self._names.update(dict.fromkeys(letter.name for letter in letters))

    @staticmethod
    async def _committed(answers: list["asyncio.Future[object]"]) -> bool:
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
        return not any(isinstance(outcome, NotStored) for outcome in outcomes)

    def _read(self, name: str) -> MailboxFile | None:
        path = f"{self.directory}/{name}"
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno in PASSING:
                self._warn("unopened", "a report cannot be opened now: %s", error.strerror)
                self._look_again()
            elif error.errno == errno.EACCES:
                self._reject(path, "unreadable", 0)
            return None  # or it is delivered already, or not a plain file
        try:
            facts = os.fstat(fd)
            if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.getuid():
                self.counts["foreign"] += 1
                return None
            wanted = min(facts.st_size, SIZE_MOST)
            data = os.read(fd, wanted + 1)
            while len(data) < wanted and (more := os.read(fd, wanted - len(data))):
                data += more
            written_at = self._date(facts.st_mtime)
            is_fresh = (
                max(self._clock.now() - written_at, abs(self._clock.now() - facts.st_ctime)) < SETTLE_WITHIN
            )
            return MailboxFile(path, written_at, is_fresh, max(len(data), facts.st_size), data)
        except OSError as error:
            self._warn("unread now", "a report cannot be read: %s", error.strerror)
            self._look_again()
            return None
        finally:
            os.close(fd)

    def _reports(self, letter: MailboxFile) -> list[Report] | None:
        """None: leave the file, it may not be whole yet."""
        contents = split(letter.data, cut=letter.size > len(letter.data))
        if contents is None:
            if letter.is_fresh:
                self._look_again()
            else:
                self._reject(letter.path, "damaged", letter.size)
            return None
        letter.left = contents.left + letter.size - len(letter.data)
        letter.data = b""
        reports = []
        for slip in contents.slips:
            if slip.payload.strip() == TRIAL:
                continue  # a line is tried before it is installed; it reports nothing
            report = self._agent.translate(slip.payload, letter.written_at, "hook")
            if isinstance(report, Unread):
                self.counts["unread"] += 1
                self._warn("unread", "a report says nothing we can read: %s", report.why)
                continue
            self._drift.see(self._agent, report.event, slip.payload)
            reports.append(replace(report, anchor=self._anchor(slip.sender, letter.written_at)))
            self.counts["reports"] += 1
        return reports

    def _anchor(self, sender: Sender | None, written_at: float) -> Anchor:
        if sender is None:
            return Anchor(by="stat line", why="its first line names no process", code="no-stat-line")
        return self._anchors.by_stat_line(self._agent, sender.pid, sender.started, written_at)

    def _date(self, mtime: float) -> float:
        """A file's time may be anything; nothing was written in the future, or before there were clocks."""
        return max(0.0, min(mtime, self._clock.now()))

    def _reject(self, path: str, why: str, size: int) -> None:
        self._count(why, size)
        with contextlib.suppress(OSError):
            os.unlink(path)

    def _count(self, why: str, size: int) -> None:
        self.counts[why] += 1
        self._warn(why, "a mailbox file of %d bytes is %s and was removed", size, why.replace("_", " "))

    def _warn(self, condition: str, text: str, *facts: object) -> None:
        """Once per condition: a flood of reports is not to be a flood of lines."""
        if condition not in self._warned:
            self._warned.add(condition)
            log.warning(text + "; further ones are counted, not logged", *facts)


def _remove(letters: Iterable[MailboxFile]) -> list[MailboxFile]:
    """Those to be read again: a second hook of the same shell pid appended meanwhile."""
    grown = []
    for letter in letters:
        try:
            if letter.left or os.lstat(letter.path).st_size == letter.size:
                os.unlink(letter.path)
            else:
                grown.append(letter)
        except FileNotFoundError:
            pass
        except OSError as error:
            log.error("a delivered report cannot be removed: %s", error.strerror)
    return grown


def _dated(entries: Iterable[os.DirEntry[str]]) -> Iterator[tuple[int, int, str]]:
    """Files to be read, with what orders them."""
    for entry in entries:
        if not entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
            with contextlib.suppress(FileNotFoundError):
                written = entry.stat(follow_symlinks=False).st_mtime_ns
                yield written, _serial(entry.name), entry.name


def _serial(name: str) -> int:
    last = name.rpartition(".")[2]
    return int(last) if last.isascii() and last.isdigit() else 0
