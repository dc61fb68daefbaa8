"""A small process that commits one event after the other and says so. Fault tests run it under
strace or on a tiny disk.

    python -m tests.store.sqlite.committing_process PATH COUNT [early] [normal] [patient]

It prints `ack N` when event N is durable, `fault KIND N` when its commit failed.
`early`: acknowledges before it commits, the naive way. `normal`: does not sync each commit.
`patient`: tries a failed commit again instead of leaving it there.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from tests.store.sample_values import event, session

TRIES = 20


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


async def write(store: SqliteStore, seq: int) -> bool:
    try:
        await store.commit([event(seq)], [session(f"s{seq % 7}", name=f"after {seq}")])
    except StoreFault as fault:
        say(f"fault {fault.kind} {seq}")
        return False
    return True


async def main(path: Path, count: int, ways: list[str]) -> None:
    store = SqliteStore.open(path, machine="machine-1", now=time.time)
    if "normal" in ways:
        await store._writer.run(lambda connection: connection.execute("PRAGMA synchronous = NORMAL"))
    for seq in range(store.loaded.seq + 1, store.loaded.seq + count + 1):
        if "early" in ways:
            say(f"ack {seq}")
        done = False
        for _ in range(TRIES if "patient" in ways else 1):
            done = done or await write(store, seq)
        if not done:
            break
        if "early" not in ways:
            say(f"ack {seq}")
    store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
