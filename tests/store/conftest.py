"""Opening stores so that each is closed again."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headcount.store.sqlite.adapter import SqliteStore
from tests.store.sample_values import BEGAN

Opener = Callable[..., SqliteStore]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "headcount.db"


@pytest.fixture
def open_store(path: Path) -> Iterator[Opener]:
    opened: list[SqliteStore] = []

    def opener(machine: str = "machine-1", now: float = BEGAN + 10_000_000) -> SqliteStore:
        store = SqliteStore.open(path, machine=machine, now=lambda: now)
        opened.append(store)
        return store

    yield opener
    for store in opened:
        store.close()
