"""A fleet under fire, a few rounds; the long one is `python -m tests.campaign fleet_partitions`."""

from tests.campaign import fleet_partitions
from tests.campaign.outcome import silent


def test_under_partitions_restarts_and_kills_there_is_one_holder_and_advisory_locks_fail_the_same():
    """G4; the control is the same daemon with session advisory locks."""
    outcome = fleet_partitions.run(
        seed=1, seconds=60, progress=silent, rounds=3, control_rounds=2, kinds=("silent", "kill", "clean")
    )
    assert [f"{row.what}: {row.found}" for row in outcome.rows if row.kept is False] == []
