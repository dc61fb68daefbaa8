"""Damaged stores, a few of them; the long one is `python -m tests.campaign corruptions`."""

from tests.campaign.outcome import silent
from tests.campaign.storage import corruptions


def test_a_damaged_store_is_correct_or_set_aside_and_an_unchecked_one_is_wrong():
    """G6, D9; the control opens the same files without a check."""
    outcome = corruptions.run(seed=2, seconds=60, progress=silent, damages=32, starts=2)
    assert outcome.not_as_wanted() == []
