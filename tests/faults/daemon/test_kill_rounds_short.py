"""kill -9 under load, a few rounds; the long one is `python -m tests.campaign kill_rounds`."""

from tests.campaign.daemon import kill_rounds
from tests.campaign.outcome import silent


def test_acknowledged_requests_and_mailbox_files_survive_kill_9():
    """G6, D6, D9; the control answers before it writes, and must lose something."""
    outcome = kill_rounds.run(seed=1, seconds=60, progress=silent, rounds=8)
    assert outcome.not_as_wanted() == []
