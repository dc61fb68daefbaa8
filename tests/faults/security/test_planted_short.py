"""Planted links and a second user, a few; all of them by `python -m tests.campaign planted --full`."""

from tests.campaign.outcome import silent
from tests.campaign.security import planted


def test_planted_files_are_not_followed_no_other_user_gets_in_and_plain_opens_fail():
    """G9; the controls just open their file, and make their home as the umask likes."""
    outcome = planted.run(seed=1, seconds=60, progress=silent, rounds=2)
    assert outcome.not_as_wanted() == []
