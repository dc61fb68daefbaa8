"""`hooks install --guard --context` as a person types it."""

import json
import os
import subprocess
from pathlib import Path

from tests.rig.agents.commands_inside import MARKS, Said, command


def run(home: Path, *words: str) -> Said:
    kept = {name: value for name, value in os.environ.items() if name not in (*MARKS, "CLAUDE_CONFIG_DIR")}
    env = {**kept, "HOME": str(home), "HEADCOUNT_HOME": str(home / "hc")}
    done = subprocess.run(command("hooks", *words), env=env, capture_output=True, text=True, timeout=60)
    return Said(done.returncode, done.stdout, done.stderr)


def test_opting_in_says_so_in_status_and_opting_out_leaves_the_rest(tmp_path: Path) -> None:
    assert run(tmp_path, "install").code == 0
    plain = (tmp_path / ".claude/settings.json").read_text()
    assert "/v1/guard/" not in plain
    said = run(tmp_path, "install", "--guard", "--context")
    assert said.code == 0 and "+2 entries" in said.out
    assert "asks: guard, context" in run(tmp_path, "status").out
    assert json.loads(run(tmp_path, "status", "--json").out)["files"][0]["asks"] == ["guard", "context"]
    assert run(tmp_path, "uninstall", "--guard", "--context").code == 0
    assert (tmp_path / ".claude/settings.json").read_text() == plain
    assert run(tmp_path, "uninstall").code == 0
    assert not (tmp_path / ".claude/settings.json").exists()


def test_a_dry_run_shows_the_line_and_writes_nothing(tmp_path: Path) -> None:
    said = run(tmp_path, "install", "--guard", "--dry-run")
    assert said.code == 0 and "/v1/guard/claude-code" in said.out
    assert not (tmp_path / ".claude/settings.json").exists()
