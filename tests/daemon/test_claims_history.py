"""Many clients, kills of holders, waiters and the daemon: what they were told is what one ledger would say."""

from collections import Counter
from dataclasses import replace

from tests.rig.claimants import Campaign
from tests.rig.linearizable import Does, Says, broken_items


def test_the_history_of_many_clients_is_that_of_one_ledger(daemon, tmp_path):
    history = Campaign(daemon, tmp_path / "logs", operations=1600).run()
    said = Counter((op.does, op.says) for op in history)
    assert said[Does.ACQUIRE, Says.GRANTED] > 50, said
    assert said[Does.ACQUIRE, Says.HELD] > 20, said
    assert said[Does.DIE, Says.NOTHING] == 24, said
    assert broken_items(history) == []
    first = next(op for op in history if op.says is Says.GRANTED)
    forged = replace(first, process="a stranger", called=first.answered, answered=first.answered + 1e-9)
    assert broken_items([*history, forged]) == [first.item], "the check can fail on this very history"
