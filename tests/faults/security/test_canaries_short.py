"""Secrets that come by, one of each kind; the long one is `python -m tests.campaign canaries`."""

from tests.campaign.outcome import silent
from tests.campaign.security import canaries
from tests.rig.security.canary_payloads import PAYLOADS
from tests.rig.security.canary_setup import ENTRANCES


def test_no_secret_is_stored_or_shown_and_a_store_of_payloads_has_all():
    """One through every way in; the control keeps what came as it came."""
    each_once = len(ENTRANCES) - len(PAYLOADS) + 1
    outcome = canaries.run(seed=1, seconds=60, progress=silent, canaries=each_once, verbs=1)
    assert outcome.not_as_wanted() == []
