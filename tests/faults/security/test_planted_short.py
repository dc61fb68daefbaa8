"""Planted links and a second user, a few; all of them by `python -m tests.campaign planted --full`."""

from tests.campaign.outcome import silent
from tests.campaign.security import planted


def test_nothing_is_written_or_read_through_what_was_planted_and_no_second_user_gets_in_where_plain_opening_does():
    """G9; the controls just open their file, and make their home as the umask likes."""
    outcome = planted.run(seed=1, seconds=60, progress=silent, rounds=2)
    assert outcome.not_as_wanted() == []
