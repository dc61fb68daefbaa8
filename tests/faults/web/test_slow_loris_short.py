"""Slow senders and floods, fewer of them; the long one is `python -m tests.campaign slow_loris`."""

from tests.campaign.outcome import silent
from tests.campaign.web import slow_loris


def test_slow_senders_and_floods_delay_no_death_and_a_stock_server_keeps_them():
    """G2, H4; the control is the server as it comes out of the box."""
    fewer = {
        "connections": 80,
        "agents": 8,
        "deadline": 0.6,
        "told_within": 30.0,
    }  # a busy machine is no fault
    outcome = slow_loris.run(seed=1, seconds=60, progress=silent, **fewer)
    assert outcome.not_as_wanted() == []
