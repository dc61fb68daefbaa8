"""Reused pids, a short storm; the long one is `python -m tests.campaign pid_reuse pid_reuse_restarts`."""

import pytest

from tests.campaign.in_pid_namespace import is_possible
from tests.campaign.outcome import silent
from tests.campaign.processes import pid_reuse, pid_reuse_restarts

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not is_possible(), reason="pid namespaces cannot be made here"),
]


def test_a_reused_pid_is_never_taken_for_the_one_before_where_pid_and_start_time_are_fooled():
    """G3; the controls are in the outcome: each must have been fooled at least once."""
    outcome = pid_reuse.run(seed=1, seconds=60, progress=silent, rounds=300)
    assert outcome.not_as_wanted() == []


def test_over_restarts_of_the_daemon_a_successor_with_the_same_pid_and_program_is_somebody_else():
    """G3 and D6: the dead are ended, the living kept, nobody inherits a session."""
    outcome = pid_reuse_restarts.run(seed=1, seconds=60, progress=silent, reuses=90)
    assert outcome.not_as_wanted() == []
