"""Callers that give up, some rounds; the long one is `python -m tests.campaign giving_up`."""

from tests.campaign.claims import giving_up
from tests.campaign.outcome import silent


def test_a_caller_that_gives_up_leaves_nothing_held_where_a_client_that_withdraws_nothing_does():
    outcome = giving_up.run(seed=1, seconds=60, progress=silent, rounds=250, control_rounds=60)
    assert outcome.not_as_wanted() == []
