"""Upgrades in place, two rounds; the long one is `python -m tests.campaign upgrades`."""

from tests.campaign.daemon import upgrades
from tests.campaign.outcome import silent


def test_an_upgrade_in_place_loses_nothing_and_comparing_versions_keeps_old_code():
    outcome = upgrades.run(seed=1, seconds=60, progress=silent, rounds=2)
    assert outcome.not_as_wanted() == []
