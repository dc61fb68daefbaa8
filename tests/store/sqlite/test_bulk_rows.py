"""Many rows are written in few steps, all of them, in their order."""

import sqlite3

import pytest

from headcount.store.interface import StoreFault
from headcount.store.sql_files import QUERIES
from headcount.store.sqlite.writer import AT_ONCE_MOST, change, several

INSERT = (
    "INSERT INTO t (a, b) VALUES (?, ?)\nON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE excluded.b > b"
)


@pytest.fixture
def table() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, a INTEGER UNIQUE, b INTEGER)")
    return connection


def steps_of(table: sqlite3.Connection, rows: list[tuple[int, int]]) -> int:
    steps: list[str] = []
    table.set_trace_callback(steps.append)
    change(table, INSERT, rows)
    table.set_trace_callback(None)
    return len(steps)


@pytest.mark.parametrize("count", [*range(20), 31, 32, 33, 63, 64, 100, 1000])
def test_all_rows_are_written_in_their_order_in_few_steps(table: sqlite3.Connection, count: int) -> None:
    rows = [(n * 7919 % 1009, n) for n in range(count)]
    assert steps_of(table, rows) <= count // AT_ONCE_MOST + AT_ONCE_MOST.bit_length() - 1
    assert table.execute("SELECT a, b FROM t ORDER BY n").fetchall() == rows


def test_few_statements_are_ever_prepared() -> None:
    made = {several(INSERT, 1 << n) for n in range(AT_ONCE_MOST.bit_length())}
    assert len(made) == 6 and INSERT in made


@pytest.mark.parametrize("deaf", [0, 5, 16])
def test_one_row_of_many_that_changes_nothing_is_a_fault(table: sqlite3.Connection, deaf: int) -> None:
    """Accident C3, also where it is one of several in a step."""
    rows = [(n, 1) for n in range(17)]
    change(table, INSERT, rows)
    with pytest.raises(StoreFault, match="17 rows were to be written, 16 were"):
        change(table, INSERT, [(a, 1 if a == deaf else 2) for a, _ in rows])


@pytest.mark.parametrize(
    "name", ["append_event", "keep_session", "keep_claim", "keep_request", "keep_leftover"]
)
def test_each_statement_of_rows_can_take_several(name: str) -> None:
    sql = QUERIES[name]
    assert several(sql, 3).count("?") == 3 * sql.count("?") > 0
