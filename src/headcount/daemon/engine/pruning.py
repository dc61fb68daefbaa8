"""Pruning: what is older than the retention is forgotten, now and then.

Rules
  1. What cannot be forgotten now is forgotten later: a full disk ends nothing here.

Not here: how it is removed in small bites (store/sqlite/adapter.py).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from headcount.core.values.evidence import Retire
from headcount.daemon.config import Config
from headcount.daemon.engine.loop import Loop, NotStored
from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from headcount.system.clock import Clock
from headcount.times import DAY, PRUNE_EVERY

log = logging.getLogger("headcount.pruning")

MEGABYTE = 1024 * 1024


async def keep_pruned(
    loop: Loop, store: SqliteStore, clock: Clock, config: Config, tidy_tokens: Callable[[], Awaitable[object]]
) -> None:
    while True:
        await asyncio.sleep(PRUNE_EVERY)
        before = clock.now() - config.retention_days * DAY
        try:
            await loop.ask(Retire(before, config.sessions_kept))
            await store.prune(before=before, max_bytes=int(config.store_max_mb * MEGABYTE))
            await tidy_tokens()
        except (NotStored, StoreFault) as fault:
            log.warning("old events could not be pruned: %s", fault)
