"""Who may do what, one round with two kinds of callers; the long one is `python -m tests.campaign authority`."""

import shutil

import pytest

from tests.campaign.outcome import silent
from tests.campaign.security import authority


@pytest.mark.root
@pytest.mark.skipif(shutil.which("unshare") is None, reason="pid namespaces cannot be made here")
def test_agents_are_refused_operator_verbs_across_restarts_and_pass_without_the_check():
    """G9; the whole matrix is in tests/daemon/api/test_permissions.py."""
    outcome = authority.run(seed=3, seconds=60, progress=silent, rounds=1, callers=2)
    assert outcome.not_as_wanted() == []
