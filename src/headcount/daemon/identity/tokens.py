"""Tokens: what names a launched session where the kernel cannot show who calls.

Rules
  1. A token is 32 random bytes in a 0600 file. Here and in the store there is only its hash.
  2. It is of a process, ends with it, and is never given to another. Nobody is asked for less than a proof:
     a process that cannot be asked keeps its token for a day and no longer.
  3. Looking one up takes one step, however many there are.
  4. A token that is over is remembered for a day, so that whoever offers it hears why.

Not here: when a token counts (caller.py), where rows are stored (store/sqlite/tokens_and_notes.py).
"""

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from headcount.core.values.process import Match, ProcessIdentity, same_process
from headcount.core.values.verdict import Standing
from headcount.private_files import check_directory
from headcount.store.sqlite.tokens_and_notes import TokenRow
from headcount.system.clock import Clock
from headcount.system.processes.interface import Processes
from headcount.times import TOKEN_CEILING, TOKEN_RENEW_AFTER

TOKEN_BYTES = 32
NAME_BYTES = 8
TEXT_MOST = 256
PRIVATE = 0o700


class TokenRows(Protocol):
    async def load(self) -> list[TokenRow]: ...

    async def keep(self, rows: Iterable[TokenRow], dropped: Iterable[str] = ()) -> None: ...


class KnownToken(Struct, frozen=True):
    process: ProcessIdentity
    is_over: bool


class SessionTokens:
    def __init__(self, directory: Path, table: TokenRows, processes: Processes, clock: Clock) -> None:
        self._directory = directory
        self._table = table
        self._processes = processes
        self._clock = clock
        self._rows: dict[str, TokenRow] = {}  # by hash
        self._unsaved: set[str] = set()

    # --- at the edge -------------------------------------------------------------------------------

    def find(self, token: str) -> KnownToken | None:
        if not 0 < len(token) <= TEXT_MOST or not token.isascii():
            return None
        row = self._rows.get(hash_of(token))
        if row is None:
            return None
        row = self._proved(row)
        return KnownToken(row.process, row.ended_at is not None)

    async def mint(self, process: ProcessIdentity) -> Path:
        """The file of that process's token; the one it has, if it has one."""
        for row in self._of(process):
            if (self._directory / row.file).exists():
                return self._directory / row.file
        token = secrets.token_urlsafe(TOKEN_BYTES)
        now = self._clock.now()
        row = TokenRow(hash_of(token), secrets.token_hex(NAME_BYTES), process, now, now)
        path = self._directory / row.file
        try:
            self._write(path, token)
            await self._table.keep([row])
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self._rows[row.hash] = row
        return path

    def files(self) -> dict[str, ProcessIdentity]:
        """Whose each file is, also of tokens that ended within a day: what their processes left still carries it."""
        return {str(self._directory / row.file): row.process for row in self._rows.values()}

    def withdraw(self, process: ProcessIdentity) -> None:
        """Its tokens are over: the process ended, or its registration was taken back. Of a dead process a
        restart would find it again; of a living one `save` must make it last."""
        for row in self._of(process):
            self._end(row)

    # --- over time ---------------------------------------------------------------------------------

    async def open(self) -> None:
        """What was remembered, each proved again; files that no row knows are of nobody."""
        self._rows = {row.hash: row for row in await self._table.load()}
        await self.tidy()
        files = {row.file for row in self._rows.values() if row.ended_at is None}
        if self._directory.is_dir() and not self._directory.is_symlink():
            for path in self._directory.iterdir():
                if path.name not in files:
                    path.unlink(missing_ok=True)

    async def tidy(self) -> None:
        """Renews those of the living, ends those of the dead, forgets those that ended a day ago."""
        now = self._clock.now()
        for row in list(self._rows.values()):
            self._proved(row)
        old = [row.hash for row in self._rows.values() if row.ended_at and now - row.ended_at > TOKEN_CEILING]
        for hash in old:
            del self._rows[hash]
        await self.save(old)

    async def save(self, dropped: Iterable[str] = ()) -> None:
        """Returns once it is on the disk. What could not be stored is stored with the next."""
        unsaved, self._unsaved = self._unsaved, set()
        try:
            await self._table.keep([self._rows[hash] for hash in unsaved if hash in self._rows], dropped)
        except BaseException:
            self._unsaved |= unsaved
            raise

    def _proved(self, row: TokenRow) -> TokenRow:
        if row.ended_at is not None:
            return row
        now = self._clock.now()
        verdict = self._processes.prove(row.process, self._processes.place().machine)
        if verdict.standing is Standing.DEAD:
            return self._end(row)
        if verdict.standing is Standing.ALIVE:
            return self._put(replace(row, renewed_at=now)) if self._is_due(row, now) else row
        return self._end(row) if now - row.renewed_at > TOKEN_CEILING else row

    @staticmethod
    def _is_due(row: TokenRow, now: float) -> bool:
        return abs(now - row.renewed_at) > TOKEN_RENEW_AFTER

    def _end(self, row: TokenRow) -> TokenRow:
        with suppress(OSError):
            (self._directory / row.file).unlink(missing_ok=True)
        return self._put(replace(row, ended_at=self._clock.now()))

    def _put(self, row: TokenRow) -> TokenRow:
        self._rows[row.hash] = row
        self._unsaved.add(row.hash)
        return row

    def _of(self, process: ProcessIdentity) -> list[TokenRow]:
        return [
            row
            for row in self._rows.values()
            if row.ended_at is None and same_process(row.process, process) is Match.SAME
        ]

    def _write(self, path: Path, token: str) -> None:
        self._directory.mkdir(PRIVATE, exist_ok=True)  # in a home that was removed nothing is made
        check_directory(str(self._directory))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(path, flags, 0o600)
        try:
            os.write(fd, token.encode())
        finally:
            os.close(fd)


def hash_of(token: str) -> str:
    return sha256(token.encode()).hexdigest()
