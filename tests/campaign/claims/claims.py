"""Claims under fire: many clients on few items, holders, waiters and the daemon killed, and every answer written down.

The history is then given to a checker (tests/rig/claims/history_checker.py): is there an order in which one plain ledger, with
one holder an item and rising fences, would have given these very answers? The controls are real daemons of which one
promise was broken by hand; the checker must catch each.
"""

import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from tests.campaign.outcome import Outcome, Progress, Row
from tests.rig.claims.history_checker import Does, Operation, Says, broken_items
from tests.rig.claims.many_claimants import Campaign
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.naive_ways.broken_ledger import BROKEN, broken_daemon

OPERATIONS = 100_000
CLIENTS = 16
ITEMS = 24
SHARE = 250  # operations of one client; others follow
CONTROL_OPERATIONS = 1_500


def run(
    *,
    seed: int,
    seconds: float,
    progress: Progress,
    operations: int = OPERATIONS,
    controls: int = len(BROKEN),
    wants_kills: bool = True,
) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        home = Path(directory)
        caught = [
            _control(home / f"broken-{nth}", how, seed, progress)
            for nth, how in enumerate(list(BROKEN)[:controls])
        ]
        history = _history(Daemon(home / "home"), home / "logs", seed, operations, progress)
        progress(f"claims: checking {len(history):,} answers")
        broken = broken_items(history)
    said = Counter((op.does, op.says) for op in history)
    killed = _killed(history)
    asked = sum(1 for op in history if op.does is not Does.DIE)
    rows = (
        Row("operations, 16 clients at a time", f"{asked:,}", f"{operations:,}"),
        Row(
            "  granted / told who holds it",
            f"{said[Does.ACQUIRE, Says.GRANTED]:,} / {said[Does.ACQUIRE, Says.HELD]:,}",
        ),
        Row("  asked again over a restart", f"{sum(op.retried for op in history):,}"),
        Row("clients killed", f"{killed['all']:,}"),
        Row(
            "  while they held something", f"{killed['holding']:,}", *_wanted(wants_kills, killed["holding"])
        ),
        Row("  while an acquire was open", f"{killed['asking']:,}", *_wanted(wants_kills, killed["asking"])),
        Row("daemon killed with -9", f"{_restarts(operations):,}"),
        Row(
            "ours: items whose history no one ledger could give", f"{len(broken)} of {ITEMS}", "0", not broken
        ),
        *caught,
    )
    return Outcome("claims", "Claims under fire", rows, _kept(history, broken, seed))


def _kept(history: list[Operation], broken: list[str], seed: int) -> tuple[str, ...]:
    """Keep the histories of broken items for debugging: such a run may not be reproducible."""
    if not broken:
        return ()
    place = Path(tempfile.gettempdir()) / f"headcount-broken-claims-{seed}.txt"
    told = [op for op in history if op.item in broken or op.does is Does.DIE]
    place.write_text("\n".join(map(repr, sorted(told, key=lambda op: op.called))))
    return (f"{', '.join(broken)}: the run left what was asked and answered in {place.name}",)


def _history(
    daemon: Daemon, logs: Path, seed: int, operations: int, progress: Progress, clients: int = CLIENTS
) -> list[Operation]:
    restarts = _restarts(operations)
    kills = max(8, operations // 250)
    campaign = Campaign(
        daemon,
        logs,
        clients=clients,
        operations=operations,
        items=ITEMS,
        kills=kills,
        restarts=restarts,
        share=SHARE if operations > CLIENTS * SHARE else None,
        pace=0.06,
        seed=seed,
        progress=progress,
    )
    began = time.monotonic()
    with daemon:
        history = campaign.run()
    progress(f"claims: {len(history):,} operations in {time.monotonic() - began:.0f} s")
    return history


def _wanted(is_wanted: bool, count: int) -> tuple[str, bool | None]:
    """A short run may happen to kill no holder."""
    return ("more than 0", count > 0) if is_wanted else ("", None)


def _restarts(operations: int) -> int:
    return max(2, operations // 2_500)


def _control(home: Path, how: str, seed: int, progress: Progress) -> Row:
    history = _history(broken_daemon(home, how), home / "logs", seed, CONTROL_OPERATIONS, progress)
    broken = broken_items(history)
    return Row(
        f"control, a ledger that {how}: items caught",
        f"{len(broken)} of {ITEMS}",
        "more than 0",
        bool(broken),
    )


def _killed(history: list[Operation]) -> Counter[str]:
    """What killed clients were doing: one with an open request was cut off in it."""
    counts: Counter[str] = Counter()
    by_process: dict[str, list[Operation]] = defaultdict(list)
    for op in history:
        by_process[op.process].append(op)
    for ops in by_process.values():
        open_ones = [op for op in ops if op.says is Says.NOTHING and op.does is not Does.DIE]
        holds = {op.item for op in ops if op.says is Says.GRANTED}
        for op in sorted(ops, key=lambda each: each.called):
            if op.does is Does.ACQUIRE and op.says is Says.GRANTED:
                holds.add(op.item)
            elif op.does is Does.RELEASE:
                holds.discard(op.item)
        counts["all"] += bool(open_ones)
        counts["holding"] += bool(open_ones and holds)
        counts["asking"] += any(op.does is Does.ACQUIRE for op in open_ones)
    return counts
