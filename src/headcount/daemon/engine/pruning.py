"""Pruning: what is older than the retention is forgotten, now and then.

Rules of this file
  1. What cannot be forgotten now is forgotten later: a full disk ends nothing here.

Not here: how it is removed in small bites (store/sqlite/adapter.py).
"""

import asyncio
import logging

from headcount.core.values.evidence import Retire
from headcount.daemon.components import Service
from headcount.daemon.engine.loop import NotStored
from headcount.store.interface import StoreFault
from headcount.times import DAY, PRUNE_EVERY

log = logging.getLogger("headcount.pruning")

MEGABYTE = 1024 * 1024


async def keep_pruned(service: Service) -> None:
    while True:
        await asyncio.sleep(PRUNE_EVERY)
        before = service.clock.now() - service.config.retention_days * DAY
        try:
            await service.loop.ask(Retire(before, service.config.sessions_kept))
            await service.store.prune(before=before, max_bytes=int(service.config.store_max_mb * MEGABYTE))
            await service.tokens.tidy()
        except (NotStored, StoreFault) as fault:
            log.warning("old events could not be pruned: %s", fault)
