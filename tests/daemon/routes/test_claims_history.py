"""Many clients, kills of holders, waiters and the daemon: what they were told is what one ledger would say."""

import os
import random
from collections import Counter
from dataclasses import replace

from tests.rig.claims.history_checker import Does, Operation, Says, broken_items
from tests.rig.claims.many_claimants import Campaign, Claimant, Life, named


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


def _has_ended(claimant: Claimant) -> None:
    os.waitid(os.P_PID, claimant.process.pid, os.WEXITED | os.WNOWAIT)  # and stays to be reaped


def test_who_ended_before_the_signal_came_died_of_itself(daemon, tmp_path):
    """What it held was given to another before anybody thought of killing it. A death at the signal would be too late."""
    campaign = Campaign(daemon, tmp_path, items=2, seed=5)
    first = campaign.start(1, 12)
    _has_ended(first)
    second = campaign.start(2, 40)
    _has_ended(second)
    campaign.strike("kill", random.Random(0), [first])
    campaign.reap([second])
    history = named(campaign.history, campaign.lives)
    last = {op.item: op for op in history if op.process == first.life.name and op.says is not Says.NOTHING}
    left = {item for item, op in last.items() if op.says in (Says.GRANTED, Says.CURRENT)}
    given = {op.item for op in history if op.process == second.life.name and op.says is Says.GRANTED}
    assert left & given, "it ended with something that the second then got"
    assert broken_items(history) == []
    death = next(op for op in history if op.process == first.life.name and op.does is Does.DIE)
    late = [replace(op, called=op.answered) if op is death else op for op in history]
    assert set(broken_items(late)) >= left & given, "taken for a death by the signal it would be caught"


def test_a_pid_of_two_claimants_names_the_one_who_lived_then():
    lives = [Life("first", 7, 1.0, 2.0), Life("second", 7, 3.0, 4.0)]
    asked = Operation("third", Does.ACQUIRE, "task:1", 3.5, 3.6, Says.HELD, holder="7")
    (known,) = named([asked], lives)
    (doubtful,) = named([replace(asked, called=1.5)], lives)
    (nobody,) = named([replace(asked, holder="8")], lives)
    assert (known.holder, doubtful.holder, nobody.holder) == ("second", None, "8")
