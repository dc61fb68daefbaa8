"""The SQL for the shared database, read once from sql/postgres/.

Rules of this file
  1. As for the local store: a statement is a named block, a wrong name fails at import, migrations have no gap.
"""

from headcount.store.sql_files import SQL, blocks_of, migrations_in

_POSTGRES = SQL / "postgres"

QUERIES = blocks_of((_POSTGRES / "queries.sql").read_text("utf-8"))
MIGRATIONS = migrations_in(_POSTGRES / "migrations")
SCHEMA_VERSION = MIGRATIONS[-1].number


def query(*names: str) -> str:
    """The blocks of these names, one after the other."""
    return "\n".join(QUERIES[name] for name in names)
