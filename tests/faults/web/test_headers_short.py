"""The browser header matrix, a sample; the whole is `python -m tests.campaign headers --full`."""

from tests.campaign.outcome import silent
from tests.campaign.web import headers


def test_nothing_is_answered_to_a_foreign_page_on_any_route_where_a_gate_that_asks_for_the_token_answers():
    """G9; the control takes a cookie and looks at nothing else."""
    outcome = headers.run(seed=1, seconds=60, progress=silent, requests=1500, control_requests=60)
    assert outcome.not_as_wanted() == []
