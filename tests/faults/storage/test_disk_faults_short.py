"""Disks that fail under a real daemon, once; the long one is `python -m tests.campaign disk_faults`."""

import pytest

from tests.campaign.in_pid_namespace import is_possible
from tests.campaign.outcome import silent
from tests.campaign.storage import disk_faults


@pytest.mark.root
@pytest.mark.skipif(not is_possible(), reason="namespaces cannot be made here")
def test_a_failing_disk_is_reported_without_loss_and_an_early_answer_loses():
    """G6; the control answers a quarter of a second before it is on the disk."""
    outcome = disk_faults.run(
        seed=3, seconds=60, progress=silent, rounds=2, kinds=("inodes", "EIO"), control_rounds=1
    )
    assert outcome.not_as_wanted() == []
