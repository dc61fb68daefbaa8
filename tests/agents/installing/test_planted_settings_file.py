"""Settings that are no file, and a memory of them that leads elsewhere: refused in words, nothing waits, nothing is written."""

import os
from pathlib import Path

import pytest

from headcount.agents.installing import settings_file
from headcount.agents.installing.settings_file import OriginalFile, Refusal


def test_a_pipe_instead_of_settings_is_refused_without_blocking(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    os.mkfifo(settings)
    found = settings_file.read(settings)
    assert isinstance(found, Refusal) and found.why == "not a plain file"


def test_previous_settings_are_not_saved_through_a_planted_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "hooks").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="leads elsewhere"):
        settings_file.remember(
            tmp_path / "hooks" / "x.json", OriginalFile(b"private", "x"), tmp_path / "s.json"
        )
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_link_to_settings_stays_a_link(tmp_path: Path) -> None:
    """People keep their settings elsewhere; that is theirs to decide."""
    (tmp_path / "dotfiles.json").write_text("{}")
    (tmp_path / "settings.json").symlink_to(tmp_path / "dotfiles.json")
    assert settings_file.replace(tmp_path / "settings.json", b"{}", b'{"a": 1}') is None
    assert (tmp_path / "settings.json").is_symlink()
    assert (tmp_path / "dotfiles.json").read_bytes() == b'{"a": 1}'
