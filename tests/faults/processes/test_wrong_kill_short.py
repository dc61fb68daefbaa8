"""Signals while pids are reused, a short storm; the long one is `python -m tests.campaign wrong_kill`."""

import pytest

from tests.campaign.in_pid_namespace import is_possible
from tests.campaign.outcome import silent
from tests.campaign.processes import wrong_kill

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not is_possible(), reason="pid namespaces cannot be made here"),
]


def test_no_signal_reaches_a_reused_pid_and_check_then_kill_hits_it():
    """G5; the control is in the outcome."""
    outcome = wrong_kill.run(seed=1, seconds=60, progress=silent, rounds=150)
    assert outcome.not_as_wanted() == []
