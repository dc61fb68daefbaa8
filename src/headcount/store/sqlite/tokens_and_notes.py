"""Two small tables: hashes of session tokens with their process, and notes that parts of the daemon keep over a
restart.

Rules
  1. A token itself is never stored; a hash of 32 random bytes reveals nothing.
  2. Every change goes through the one writer, in a transaction of its own: it is stored when `keep` returns.
  3. A note's key has a prefix, so that it can never be taken for what the store says about itself.

Not here: minting and proving tokens (daemon/identity/tokens.py), what a note says (its owner).
"""

import sqlite3
from collections.abc import Iterable
from functools import partial

import msgspec
from msgspec import Struct

from headcount.core.values.process import ProcessIdentity
from headcount.store.sql_files import query
from headcount.store.sqlite.reader import HistoryReader
from headcount.store.sqlite.row_checksums import Row, sound, summed
from headcount.store.sqlite.writer import Writer, in_transaction

PREFIX = "note:"


class TokenRow(Struct, frozen=True):
    hash: str
    file: str  # the name of its file, below the directory of tokens
    process: ProcessIdentity
    minted_at: float
    renewed_at: float
    ended_at: float | None = None


_DECODER = msgspec.json.Decoder(TokenRow)


class TokenTable:
    def __init__(self, writer: Writer, reader: HistoryReader) -> None:
        self._writer = writer
        self._reader = reader

    async def load(self) -> list[TokenRow]:
        return await self._reader.ask(_load)

    async def keep(self, rows: Iterable[TokenRow], dropped: Iterable[str] = ()) -> None:
        kept = [summed((row.hash, msgspec.json.encode(row))) for row in rows]
        gone = [(hash,) for hash in dropped]
        if kept or gone:
            await self._writer.run(partial(_keep, kept, gone))


def _load(connection: sqlite3.Connection) -> list[TokenRow]:
    return [_DECODER.decode(sound(row)[1]) for row in connection.execute(query("load_tokens"))]


def _keep(kept: list[Row], gone: list[tuple[str]], connection: sqlite3.Connection) -> None:
    def change(connection: sqlite3.Connection) -> None:
        connection.executemany(query("keep_token"), kept)
        connection.executemany(query("drop_token"), gone)

    in_transaction(connection, change)


class Notes:
    def __init__(self, writer: Writer, reader: HistoryReader) -> None:
        self._writer = writer
        self._reader = reader

    async def find(self, name: str) -> str | None:
        return await self._reader.ask(partial(_find_note, PREFIX + name))

    async def keep(self, name: str, text: str) -> None:
        await self._writer.run(partial(_keep_note, PREFIX + name, text))


def _find_note(key: str, connection: sqlite3.Connection) -> str | None:
    notes: dict[str, str] = dict(sound(row) for row in connection.execute(query("recall")))
    return notes.get(key)


def _keep_note(key: str, text: str, connection: sqlite3.Connection) -> None:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(query("remember"), summed((key, text)))

    in_transaction(connection, change)
