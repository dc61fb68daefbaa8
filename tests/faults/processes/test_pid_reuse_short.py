"""Reused pids, a short storm; the long one is `python -m tests.campaign pid_reuse pid_reuse_restarts`."""

import pytest

from tests.campaign.in_pid_namespace import is_possible
from tests.campaign.outcome import silent
from tests.campaign.processes import pid_reuse, pid_reuse_restarts

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not is_possible(), reason="pid namespaces cannot be made here"),
]


def test_a_reused_pid_is_never_mistaken_and_pid_plus_start_time_is_fooled():
    """G3; the controls are in the outcome: each must have been fooled at least once."""
    outcome = pid_reuse.run(seed=1, seconds=60, progress=silent, rounds=300)
    assert outcome.not_as_wanted() == []


def test_after_a_restart_a_reused_pid_with_the_same_program_is_another_process():
    """G3 and D6: dead sessions end, live ones stay, no process inherits a session."""
    outcome = pid_reuse_restarts.run(seed=1, seconds=60, progress=silent, reuses=90)
    assert outcome.not_as_wanted() == []
