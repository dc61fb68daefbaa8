"""An agent's settings file that cannot be read: said by `doctor` and by `hooks status`, and left as it is."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import MARKS, Said, command

BROKEN = '{"hooks": {'


def run(home: Path, *words: str) -> Said:
    kept = {name: value for name, value in os.environ.items() if name not in (*MARKS, "CLAUDE_CONFIG_DIR")}
    env = {**kept, "HOME": str(home), "HEADCOUNT_HOME": str(home / "hc")}
    done = subprocess.run(command(*words), env=env, capture_output=True, text=True, timeout=60)
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    place = tmp_path / ".claude" / "settings.json"
    place.parent.mkdir()
    return place


def test_an_invalid_settings_file_is_a_finding_and_hooks_status_exits_1(
    tmp_path: Path, settings: Path
) -> None:
    settings.write_text(BROKEN)
    said = run(tmp_path, "hooks", "status")
    assert said.code == 1 and "unreadable" in said.out and "line 1" in said.out and "mended" in said.out
    assert json.loads(run(tmp_path, "hooks", "status", "--json").out)["files"][0]["state"] == "unreadable"
    found = run(tmp_path, "doctor", "--json")
    (finding,) = json.loads(found.out)["findings"]
    assert found.code == 1 and finding["check"] == "hooks" and str(settings) in finding["says"]
    assert "mend" in finding["next"]
    assert settings.read_text() == BROKEN


def test_settings_that_are_no_file_are_a_finding_too(tmp_path: Path, settings: Path) -> None:
    settings.mkdir()
    assert run(tmp_path, "hooks", "status").code == 1
    assert "cannot be used" in run(tmp_path, "doctor").out


@pytest.mark.parametrize("text", [None, "{}", '{"disableAllHooks": true}'])
def test_hooks_that_are_not_installed_are_no_finding(
    tmp_path: Path, settings: Path, text: str | None
) -> None:
    if text is not None:
        settings.write_text(text)
    assert run(tmp_path, "hooks", "status").code == 0
    said = run(tmp_path, "doctor")
    assert said.code == 0 and str(settings) in said.out


def test_installed_hooks_are_in_order(tmp_path: Path, settings: Path) -> None:
    assert run(tmp_path, "hooks", "install").code == 0
    assert f"installed in {settings}" in run(tmp_path, "doctor").out
