"""Pinning a remembered process by a pidfd, where /proc may be of another pid namespace."""

import os
from pathlib import Path

import pytest

from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Standing, Verdict
from headcount.system.processes import boot_and_namespace
from headcount.system.processes.pidfds.handle import Pinning
from headcount.system.processes.pidfds.kernel_features import Features

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="pidfds are Linux's")


@pytest.mark.parametrize(("is_ours", "said"), [(True, Standing.DEAD), (False, Standing.UNKNOWN)])
def test_a_start_is_not_compared_with_a_proc_that_shows_other_processes(
    is_ours: bool, said: Standing
) -> None:
    """Another start under that number means a reused pid only in our own /proc; elsewhere it is another process."""
    place = boot_and_namespace.read_place()
    pinning = Pinning(place, Features.without("inode"), proc_is_ours=is_ours)
    verdict = pinning.pin(ProcessIdentity(place.boot, place.namespace, os.getpid(), 1))
    assert isinstance(verdict, Verdict) and verdict.standing is said
