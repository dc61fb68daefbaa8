"""Where files sit."""

from pathlib import Path

import pytest

from headcount.paths import Places


def test_everything_is_below_headcount_home() -> None:
    places = Places.from_environ({"HEADCOUNT_HOME": "/x/y", "XDG_STATE_HOME": "/elsewhere"})
    assert places.socket == "/x/y/headcount.sock"
    assert all(place.startswith("/x/y") for place in places if place is not None)


def test_the_xdg_places_are_used_and_relative_ones_ignored() -> None:
    places = Places.from_environ({"HOME": "/h", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "relative"})
    assert places.database == "/s/headcount/headcount.db"
    assert places.config == "/h/.config/headcount/config.toml"
    assert places.home is None


def test_an_empty_home_is_no_home() -> None:
    assert Places.from_environ({"HEADCOUNT_HOME": "", "HOME": "/h"}).state == "/h/.local/state/headcount"


def test_directories_are_private(tmp_path: Path) -> None:
    places = Places.below(str(tmp_path / "deep/home"))
    places.make()
    places.make()
    for directory in (places.state, places.mailbox, places.log_directory):
        assert Path(directory).stat().st_mode & 0o777 == 0o700


def test_a_relative_home_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Places.from_environ({"HEADCOUNT_HOME": "h"}).state == str(tmp_path / "h")
