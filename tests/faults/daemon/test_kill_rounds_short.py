"""kill -9 under load, a few rounds; the long one is `python -m tests.campaign kill_rounds`."""

from tests.campaign.daemon import kill_rounds
from tests.campaign.outcome import silent


def test_whatever_was_answered_or_dropped_survives_kill_9_and_the_store_is_whole():
    """G6, D6, D9; the control answers before it writes, and must lose something."""
    outcome = kill_rounds.run(seed=1, seconds=60, progress=silent, rounds=8)
    assert outcome.not_as_wanted() == []
