"""Files pulled away under a living daemon, a few rounds; the long one is `python -m tests.campaign pulled_away`."""

from tests.campaign.daemon import pulled_away
from tests.campaign.outcome import silent


def test_removing_files_under_a_daemon_never_gives_two_holders_or_a_silent_loss() -> None:
    """The control is the same daemon with its looks switched off."""
    outcome = pulled_away.run(seed=3, seconds=60, progress=silent, rounds=5, control_rounds=2)
    assert outcome.not_as_wanted() == []
