"""Who may do what, one round with two kinds of callers; the long one is `python -m tests.campaign authority`."""

import shutil

import pytest

from tests.campaign.outcome import silent
from tests.campaign.security import authority


@pytest.mark.root
@pytest.mark.skipif(shutil.which("unshare") is None, reason="pid namespaces cannot be made here")
def test_nobody_does_what_is_for_people_over_a_restart_where_an_agent_does_without_the_check():
    """G9; the whole matrix is in tests/daemon/api/test_permissions.py."""
    outcome = authority.run(seed=3, seconds=60, progress=silent, rounds=1, callers=2)
    assert outcome.not_as_wanted() == []
