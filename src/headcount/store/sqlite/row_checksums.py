"""Row checksums: a row that changed since it was written is noticed when it is read.

SQLite keeps no checksum of its pages. A bit that flips inside a text or a number leaves a sound page with a
wrong row in it, which no check of its structure finds.

Rules
  1. The checksum covers every column of the row in their order, and stands beside them in a column of its
     own.
  2. A row without one was last written before there were checksums. It is believed.
  3. A number is summed by its value: SQLite gives 5 back as 5.0 from a column of reals.

Not here: which columns a table has (sql/), what follows from a wrong row (opening.py, reader.py).
"""

from typing import Any
from zlib import crc32

Row = tuple[Any, ...]
"""Columns in the order of the statement, which knows what each holds."""

_BETWEEN = b"\x1f"


class Unsound(ValueError):
    """The row is not the one that was written."""


def summed(row: Row) -> Row:
    """The row with its sum, as it is stored."""
    return (*row, sum_of(row))


def sound(row: Row) -> Row:
    """The row without its sum, as it was written; raises Unsound."""
    columns, total = row[:-1], row[-1]
    if total is not None and total != sum_of(columns):
        raise Unsound(f"the sum of row {str(columns[0])[:40]!r} does not fit")
    return columns


def sum_of(columns: Row) -> int:
    return crc32(_BETWEEN.join([each if type(each) is bytes else _bytes(each) for each in columns]))


def _bytes(value: Any) -> bytes:
    kind = type(value)
    if kind is int:
        return b"%d" % value
    if kind is float and value.is_integer():
        return b"%d" % int(value)
    text = value if kind is str else str(value)
    return text.encode("utf-8", "surrogatepass")  # what cannot be stored is the store's to refuse, not ours
