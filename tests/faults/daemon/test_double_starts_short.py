"""Daemons started at once, a few rounds; the long one is `python -m tests.campaign double_starts`."""

from tests.campaign.daemon import double_starts
from tests.campaign.outcome import silent


def test_of_daemons_started_at_once_one_serves_and_a_pid_file_allows_several_or_none():
    """H1, also after a kill -9; the control is a pid file."""
    outcome = double_starts.run(seed=1, seconds=60, progress=silent, rounds=3, control_rounds=2)
    assert outcome.not_as_wanted() == []
