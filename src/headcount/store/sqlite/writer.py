"""The one writer: a thread that owns the read-write connection and a queue of what is to be written.

Rules
  1. Callers that wait while a transaction is being synced are written together in the next one (group
     commit): one sync for all of them.
  2. Each caller gets its own outcome. If the joint transaction fails, each is tried alone.
  3. The log is checkpointed after the answers, not within a commit.
  4. What was committed into a file that is no longer in its place is not acknowledged (file_identity.py).
  5. The connection is kept after an I/O error. A new one would read the log from the disk again and could
     bring back the very commit that was reported as failed.
  6. A statement takes one row, or a power of two of them at once. So few statements are ever prepared, and
     rows are written in few steps. Why: Python releases its lock before each step of SQLite and has to get it
     back after it. While the event loop is busy that is a wait each time; the step itself takes microseconds.
  7. Every write checks how many rows it changed (accident C3).

Not here: bodies (store/codec.py), the statements (store/sql_files.py), reading history (reader.py).
"""

import asyncio
import re
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from msgspec import Struct, field

from headcount.store.interface import StoreFault
from headcount.store.sql_files import query
from headcount.store.sqlite.damage import suspect
from headcount.store.sqlite.driver_errors import translate
from headcount.store.sqlite.file_identity import StoreFiles
from headcount.store.sqlite.row_checksums import Row

AT_ONCE_MOST = 32

_VALUES = re.compile(r"VALUES (\([?, ]+\))")

T = TypeVar("T")
Task = Callable[[sqlite3.Connection], Any]

CHANGES_IN_LOG = 256  # of rows; a change is about a page of log, and some hundred pages are folded in 5 ms

_APPEND = query("append_event")
_KEEP = query("keep_session")
_DROP = query("drop_session")
_KEEP_CLAIM = query("keep_claim")
_KEEP_REQUEST = query("keep_request")
_FORGET_REQUEST = query("forget_request")
_REMEMBER = query("remember")
_KEEP_LEFTOVER = query("keep_leftover")
_DROP_LEFTOVER = query("drop_leftover")


def change(connection: sqlite3.Connection, sql: str, rows: Sequence[Row]) -> None:
    """`sql` inserts one row of plain parameters; it is done for each of the rows, in their order."""
    changed = done = 0
    while done < len(rows):
        count = min(AT_ONCE_MOST, 1 << (len(rows) - done).bit_length() - 1)
        taken = rows[done : done + count]
        changed += connection.execute(several(sql, count), tuple(chain.from_iterable(taken))).rowcount
        done += count
    if changed != len(rows):
        raise StoreFault(
            "other", f"{len(rows)} rows were to be written, {changed} were: run `headcount doctor`"
        )


@cache
def several(sql: str, count: int) -> str:
    """The same statement for so many rows."""
    return _VALUES.sub(lambda found: "VALUES " + ", ".join([found[1]] * count), sql, count=1)


class LedgerRows(Struct, frozen=True):
    claims: list[Row] = field(default_factory=list)
    requests: list[Row] = field(default_factory=list)
    forgotten: list[tuple[str]] = field(default_factory=list)
    meta: list[Row] = field(default_factory=list)


class Write(Struct, frozen=True):
    events: list[Row]
    rows: list[Row]
    dropped: list[tuple[str]]
    ledger: LedgerRows = field(default_factory=LedgerRows)
    leftovers: list[Row] = field(default_factory=list)
    cleared: list[tuple[str]] = field(default_factory=list)


class _Job(Struct, frozen=True):
    work: Write | Task
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]


Outcome = tuple[_Job, Any, StoreFault | None]


class Writer:
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self.place = StoreFiles(path)
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()  # None: no more will come
        self._closed = False
        self._folded = 0  # changes until then are in the file itself
        self._thread = threading.Thread(target=self._serve, name="store-writer", daemon=True)
        self._thread.start()

    async def write(self, write: Write) -> None:
        await self._ask(write)

    async def run(self, task: Callable[[sqlite3.Connection], T]) -> T:
        """Run one transaction's worth of other work between the commits."""
        return cast(T, await self._ask(task))

    def close(self) -> None:
        """Waits for what was asked before; closing the last connection checkpoints the log."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    async def _ask(self, work: Write | Task) -> Any:
        if self._closed:
            raise StoreFault("other", "the store is closed: start headcount again")
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        self._queue.put(job)
        return await job.answer

    # --- in the thread ---------------------------------------------------------------------------

    def _serve(self) -> None:
        going = True
        while going:
            jobs, going = self._take()
            writes = [job for job in jobs if isinstance(job.work, Write)]
            others = [job for job in jobs if not isinstance(job.work, Write)]
            _answer_all(self._write_all(writes))
            for job in others:
                _answer_all([self._attempt(job, cast(Task, job.work))])
            self._fold_log()
        with suppress(sqlite3.Error):  # a checkpoint that fails is made good by the next start
            self._connection.close()
        self.place.close()

    def _take(self) -> tuple[list[_Job], bool]:
        """Waits for one job, then takes all that wait with it."""
        jobs: list[_Job] = []
        more = self._queue.get()
        while more is not None:
            jobs.append(more)
            try:
                more = self._queue.get_nowait()
            except Empty:
                return jobs, True
        return jobs, False

    def _fold_log(self) -> None:
        """After the answers, so that nobody waits for it but who comes in that very moment."""
        if self._connection.total_changes - self._folded >= CHANGES_IN_LOG:
            self._folded = self._connection.total_changes
            with suppress(sqlite3.Error):  # what is in the log is safe there; SQLite itself tries again later
                checkpoint(self._connection)

    def _write_all(self, jobs: Sequence[_Job]) -> list[Outcome]:
        if len(jobs) > 1 and self._write_together(jobs):
            return [(job, None, None) for job in jobs]
        return [self._attempt(job, partial(_store, [job])) for job in jobs]

    def _write_together(self, jobs: Sequence[_Job]) -> bool:
        try:
            self._in_place(partial(_store, jobs))
        except Exception:  # whose fault it was shows when each is tried alone
            return False
        return True

    def _attempt(self, job: _Job, task: Task) -> Outcome:
        try:
            return job, self._in_place(task), None
        except Exception as error:
            fault = translate(error, self._path)
            if fault.kind == "corrupt":
                suspect(self._path)
            return job, None, fault

    def _in_place(self, task: Task) -> Any:
        self.place.look()
        done = task(self._connection)
        self.place.look()
        return done


def checkpoint(connection: sqlite3.Connection) -> None:
    """Writes the log back into the file, as far as no reader stands in the way; the log is then written from its beginning."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def in_transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors have rolled back already
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise
    return done


def _store(jobs: Sequence[_Job], connection: sqlite3.Connection) -> None:
    in_transaction(connection, partial(_apply, [cast(Write, job.work) for job in jobs]))


def _apply(writes: Sequence[Write], connection: sqlite3.Connection) -> None:
    change(connection, _APPEND, [row for write in writes for row in write.events])
    for write in writes:  # one by one: a row that one keeps the next may drop
        change(connection, _KEEP, write.rows)
        change(connection, _KEEP_LEFTOVER, write.leftovers)  # after the rows they belong to
        if write.cleared:
            connection.executemany(_DROP_LEFTOVER, write.cleared)
        if write.dropped:  # its promise is absence, which also holds for a session that was never stored
            connection.executemany(_DROP, write.dropped)
        _apply_ledger(connection, write.ledger)


def _apply_ledger(connection: sqlite3.Connection, rows: LedgerRows) -> None:
    change(connection, _KEEP_CLAIM, rows.claims)
    change(connection, _KEEP_REQUEST, rows.requests)
    if rows.meta:
        connection.executemany(_REMEMBER, rows.meta)
    if rows.forgotten:
        connection.executemany(_FORGET_REQUEST, rows.forgotten)


def _answer_all(outcomes: Sequence[Outcome]) -> None:
    """One wake-up of the loop for all answers of a transaction."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_loop[outcome[0].loop].append(outcome)
    for loop, group in by_loop.items():
        with suppress(RuntimeError):  # that loop is over, nobody waits there any more
            loop.call_soon_threadsafe(_answer, group)


def _answer(outcomes: Sequence[Outcome]) -> None:
    for job, result, fault in outcomes:
        if job.answer.done():  # cancelled meanwhile
            continue
        if fault is None:
            job.answer.set_result(result)
        else:
            job.answer.set_exception(fault)
