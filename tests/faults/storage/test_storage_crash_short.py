"""A kill at storage calls, a few of them; the long one is `python -m tests.campaign storage_crash`."""

from tests.campaign.outcome import silent
from tests.campaign.storage import storage_crash


def test_a_kill_at_any_storage_call_loses_nothing_and_leaves_no_half_state():
    """G6; the control acknowledges before it commits, and must lose something."""
    outcome = storage_crash.run(seed=3, seconds=60, progress=silent, calls=6, control_kills=3)
    assert outcome.not_as_wanted() == []
