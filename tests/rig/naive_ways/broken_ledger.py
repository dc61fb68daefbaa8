"""Daemons whose ledger is deliberately broken: what a checker of histories must catch.

Rules of this file
  1. The daemon is the real one; one function of it is replaced when its interpreter starts.
  2. Each breaks one promise only, so that catching it proves that this promise is checked.
"""

import os
from pathlib import Path

from tests.rig.daemon.real_daemon import Daemon

ROBS = """
from headcount.core.claims import ledger
right, calls = ledger.others_in_the_way, [0]
def others_in_the_way(draft, item, process):
    calls[0] += 1
    return [] if calls[0] % 10 == 0 else right(draft, item, process)
ledger.others_in_the_way = others_in_the_way
"""

KEEPS_THE_DEAD = """
from headcount.core import decide
decide.free_all_of = lambda draft, process, at: None
"""

ANSWERS_EARLY = """
import asyncio
from headcount.store.sqlite.adapter import SqliteStore
right = SqliteStore.commit
late = set()
async def commit(self, events, rows, dropped=(), ledger=None, *rest):
    from copy import copy
    kept = copy(ledger)
    async def later():
        await asyncio.sleep(0.25)
        await right(self, events, rows, dropped, kept)
    task = asyncio.ensure_future(later())
    late.add(task)
    task.add_done_callback(late.discard)
SqliteStore.commit = commit
"""

ANYBODY = """
from headcount.core.values.claim import Claim
from headcount.core import decide
from headcount.daemon.identity.caller import Actors
Claim.is_held_by = lambda self, process: self.holder is not None and process is not None
decide.free_all_of = lambda draft, process, at: None
Actors._beside_marks = Actors._alone
"""
TAKES_ANYBODY = "accepts any caller as the holder"

ANY_PATH = """
from headcount.system import mount_namespaces as spaces
spaces._label = lambda directory, process: ""
"""
TAKES_ANY_PATH = "takes every path for one of the host's"

BROKEN = {
    "grants what another holds, one time in ten": ROBS,
    "does not free what the dead held": KEEPS_THE_DEAD,
    "answers a quarter of a second before it is on the disk": ANSWERS_EARLY,
}


def broken_daemon(home: Path, how: str) -> Daemon:
    site = home / "site"
    site.mkdir(parents=True, exist_ok=True)
    (site / "sitecustomize.py").write_text({**BROKEN, TAKES_ANYBODY: ANYBODY, TAKES_ANY_PATH: ANY_PATH}[how])
    before = os.environ.get("PYTHONPATH")
    return Daemon(home, PYTHONPATH=os.pathsep.join([str(site), *([before] if before else [])]))
