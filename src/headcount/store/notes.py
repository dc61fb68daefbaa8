"""Notes: small texts that a part of the daemon keeps for itself from one start to the next.

Rules of this file
  1. A note has a name of its own with a prefix, so that it can never be taken for what the store says of itself.
  2. Written through the one writer, in a transaction of its own: kept when `keep` returns.

Not here: what a note says (whoever keeps it).
"""

import sqlite3
from functools import partial

from headcount.store.sql_files import query
from headcount.store.sqlite.reader import Reader
from headcount.store.sqlite.row_checksums import sound, summed
from headcount.store.sqlite.writer import Writer, in_transaction

PREFIX = "note:"


class Notes:
    def __init__(self, writer: Writer, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

    async def find(self, name: str) -> str | None:
        return await self._reader.ask(partial(_find, PREFIX + name))

    async def keep(self, name: str, text: str) -> None:
        await self._writer.run(partial(_keep, PREFIX + name, text))


def _find(key: str, connection: sqlite3.Connection) -> str | None:
    return dict(sound(row) for row in connection.execute(query("recall"))).get(key)


def _keep(key: str, text: str, connection: sqlite3.Connection) -> None:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(query("remember"), summed((key, text)))

    in_transaction(connection, change)
