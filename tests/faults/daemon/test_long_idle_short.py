"""Hours of silence, a few of them; the long one is `python -m tests.campaign long_idle`."""

from tests.campaign.daemon import long_idle
from tests.campaign.outcome import silent


def test_hours_of_silence_with_faults_evict_no_session_and_a_silence_rule_evicts_all():
    """G1, D1, D6; the control is a rule of 180 s on the same rows."""
    outcome = long_idle.run(seed=4, seconds=60, progress=silent, hours=2, sessions=20)
    assert outcome.not_as_wanted() == []
