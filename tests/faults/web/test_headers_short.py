"""The browser header matrix, a sample; the whole is `python -m tests.campaign headers --full`."""

from tests.campaign.outcome import silent
from tests.campaign.web import headers


def test_no_route_answers_a_foreign_page_and_a_token_check_alone_does():
    """G9; the control takes a cookie and looks at nothing else."""
    outcome = headers.run(seed=1, seconds=60, progress=silent, requests=1500, control_requests=60)
    assert outcome.not_as_wanted() == []
