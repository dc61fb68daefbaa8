"""G6: a power cut loses nothing that was acknowledged, and leaves a store that opens. The long one is
`python -m tests.campaign power_cuts`.

The control syncs as SQLite's NORMAL does, and loses: the replay can tell.
"""

import random
from collections import Counter

from tests.campaign.storage.power_cuts import Cuts, record
from tests.campaign.storage.store_from_outside import in_memory

COMMITS = 120
CUTS = 60


def cut(*ways: str) -> Counter[str]:
    with in_memory() as home:
        recording = record(home / "home", COMMITS, *ways)
        assert sum(call.kind == "said" for call in recording[1]) == COMMITS
        cuts = Cuts(recording, home / "cut")
        cuts.walk(CUTS, random.Random(1))
        return cuts.counts


def test_a_power_cut_loses_nothing_acknowledged() -> None:
    counts = cut()
    assert {"lost": counts["lost"], "set aside": counts["set_aside"], "torn": counts["torn"]} == {
        "lost": 0,
        "set aside": 0,
        "torn": 0,
    }


def test_without_a_sync_of_each_commit_power_cuts_lose_acknowledged_events() -> None:
    assert cut("normal")["losing"] > CUTS // 4
