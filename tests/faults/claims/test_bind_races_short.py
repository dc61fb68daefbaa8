"""Races for one file behind a bind mount, a few of them; the long one is `python -m tests.campaign bind_races`."""

from tests.campaign.claims import bind_races
from tests.campaign.outcome import silent
from tests.rig.agents.in_bwrap import needs_bwrap

pytestmark = needs_bwrap


def test_one_file_behind_a_bind_mount_has_one_holder_and_comparing_names_allows_two():
    outcome = bind_races.run(seed=2, seconds=60, progress=silent, races=60, control_races=20)
    assert outcome.not_as_wanted() == []
