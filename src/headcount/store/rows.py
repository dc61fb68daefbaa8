"""Rows: many of them written in few steps.

Rules of this file
  1. A statement takes one row, or a power of two of them at once. So few statements are ever prepared, and any number
     of rows is written in about as many steps as that number has digits in binary.
  2. Every write checks what it changed (accident C3).

Why: Python gives its lock away before each step of SQLite and has to get it back after it. While the event loop is
busy that is a wait each time, for both of them; the step itself takes microseconds.

Not here: transactions (store/sqlite/writer.py), the statements (sql_files.py).
"""

import re
import sqlite3
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any

from headcount.store.interface import StoreFault

AT_ONCE_MOST = 32

_VALUES = re.compile(r"VALUES (\([?, ]+\))")


def change(connection: sqlite3.Connection, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
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
