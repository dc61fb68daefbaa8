"""A fleet under fire, a few rounds; the long one is `python -m tests.campaign fleet_partitions`."""

import pytest

from tests.campaign.claims import fleet_partitions
from tests.campaign.outcome import silent
from tests.rig.network.cuttable_cable import DEAF, DOWN, why_not


def test_partitions_restarts_and_kills_leave_one_holder_and_advisory_locks_fail():
    """G4; the control is the same daemon with session advisory locks."""
    outcome = fleet_partitions.run(
        seed=1,
        seconds=60,
        progress=silent,
        rounds=3,
        control_rounds=2,
        kinds=("silent", "kill", "clean"),
        without="the short one runs everywhere alike",
    )
    assert outcome.not_as_wanted() == []


def test_in_network_namespaces_there_is_one_holder_too():
    """G4; real interfaces: no answer comes back, the link is down."""
    missing = why_not()
    if missing is not None:
        pytest.skip(missing)
    outcome = fleet_partitions.run(
        seed=2,
        seconds=60,
        progress=silent,
        rounds=2,
        control_rounds=0,
        kinds=(DEAF, DOWN),
        without=None,
    )
    broken = [row for row in outcome.rows if row.kept is False and not row.what.startswith("control")]
    assert [f"{row.what}: {row.found}" for row in broken] == []
