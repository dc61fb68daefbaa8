"""The store's SQL, read once from sql/.

Rules
  1. A statement is a named block of queries.sql. A wrong name fails at import, not in use.
  2. Migrations are numbered without gaps, from 1.

Not here: running them (sqlite/schema.py, sqlite/writer.py, sqlite/reader.py, postgres/pool.py).
"""

from pathlib import Path

from msgspec import Struct

SQL = Path(__file__).parent / "sql"
_OPENS = "-- name: "


class Migration(Struct, frozen=True):
    number: int
    name: str
    sql: str


def blocks_of(text: str) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    lines: list[str] = []  # of the heading, which no block owns
    for line in text.splitlines():
        if line.startswith(_OPENS):
            lines = found.setdefault(line.removeprefix(_OPENS).strip(), [])
        elif not line.startswith("--"):
            lines.append(line)
    return {name: "\n".join(block).strip() for name, block in found.items()}


def migrations_in(directory: Path) -> tuple[Migration, ...]:
    sources = sorted(directory.iterdir(), key=lambda file: file.name)
    made = tuple(
        Migration(int(file.name[:4]), file.name, file.read_text("utf-8"))
        for file in sources
        if file.name.endswith(".sql")
    )
    assert [step.number for step in made] == list(range(1, len(made) + 1)), "migrations have a gap"
    return made


QUERIES = blocks_of((SQL / "queries.sql").read_text("utf-8"))
MIGRATIONS = migrations_in(SQL / "migrations")
SCHEMA_VERSION = MIGRATIONS[-1].number


def query(*names: str) -> str:
    """The blocks of these names, one after the other."""
    return "\n".join(QUERIES[name] for name in names)
