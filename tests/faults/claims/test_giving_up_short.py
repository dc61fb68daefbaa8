"""Callers that give up, some rounds; the long one is `python -m tests.campaign giving_up`."""

from tests.campaign.claims import giving_up
from tests.campaign.outcome import silent


def test_a_caller_that_gives_up_holds_nothing_and_without_withdrawing_it_does():
    outcome = giving_up.run(seed=1, seconds=60, progress=silent, rounds=250, control_rounds=60)
    assert outcome.not_as_wanted() == []
