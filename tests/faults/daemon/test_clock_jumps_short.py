"""Clocks that jump, a few times; the long one is `python -m tests.campaign clock_jumps`."""

from pathlib import Path

import pytest

from tests.campaign.daemon import clock_jumps
from tests.campaign.outcome import silent
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.kernel.faketime import WallClock, library

pytestmark = pytest.mark.skipif(
    library() is None, reason="libfaketime is not installed: `apt install faketime`"
)


def test_a_clock_jump_of_a_day_ends_no_session_and_an_age_rule_ends_all():
    """G1, G4; the control is a rule on the age of the last event by the wall clock."""
    outcome = clock_jumps.run(seed=3, seconds=60, progress=silent, jumps=3)
    assert outcome.not_as_wanted() == []


def test_durations_are_measured_by_a_clock_that_cannot_be_set(tmp_path: Path) -> None:
    clock = WallClock(tmp_path / "offset")
    with Daemon(tmp_path / "home", **clock.env) as daemon:
        for offset in (86_400, -86_400):
            clock.set(offset)
            assert 0 <= daemon.get("/v1/status")["uptime_s"] < 60
