"""Looking at the store's files from two threads."""

import sqlite3
import threading
from pathlib import Path

from headcount.store.sqlite.file_identity import StoreFiles


def test_a_commit_of_another_thread_is_not_taken_for_a_log_that_was_cut(tmp_path: Path) -> None:
    """The log grows while somebody looks: a length of before must not be compared with a bound of after."""
    path = tmp_path / "headcount.db"
    store = sqlite3.connect(path, isolation_level=None)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("PRAGMA wal_autocheckpoint=0")
    store.execute("CREATE TABLE t (x)")
    place = StoreFiles(path)
    over, faults = threading.Event(), []

    def look() -> None:
        while not over.is_set():
            try:
                place.look()
            except Exception as fault:
                faults.append(fault)
                return

    looking = [threading.Thread(target=look) for _ in range(2)]
    for each in looking:
        each.start()
    for nth in range(2_000):
        store.execute("INSERT INTO t VALUES (?)", (nth,))
        place.look()
    over.set()
    for each in looking:
        each.join()
    place.close()
    store.close()
    assert faults == []
