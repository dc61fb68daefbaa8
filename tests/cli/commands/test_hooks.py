"""`headcount hooks` walks the agents that are on the machine; each file has its line, and its next step."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    return tmp_path


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {
        "HOME": str(home),
        "HEADCOUNT_HOME": str(home / "hc"),
        "PATH": f"{home / 'bin'}:/usr/bin:/bin",
        "LANG": "C.UTF-8",
    }
    if "PYTHONPATH" in os.environ:
        env["PYTHONPATH"] = os.environ["PYTHONPATH"]
    return subprocess.run(
        [sys.executable, "-m", "headcount", *words], env=env, capture_output=True, text=True, timeout=60
    )


def test_without_a_name_every_agent_that_is_here_and_no_other(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".codex").mkdir()
    done = run(home, "hooks", "install")
    assert done.returncode == 0, done.stderr
    claude, codex = done.stdout.splitlines()
    assert claude.startswith("claude    ~/.claude/settings.json   written, 16 entries")
    assert codex.startswith("codex     ~/.codex/hooks.json")
    assert codex.endswith("written, inactive until trusted: run /hooks in Codex")
    assert not (home / ".gemini").exists() and not (home / ".config" / "opencode").exists()
    assert (home / "hc" / "mailbox" / "codex").stat().st_mode & 0o777 == 0o700
    assert str(home / "hc" / "mailbox" / "codex") in (home / ".codex" / "hooks.json").read_text()


def test_a_program_on_the_path_is_an_agent_that_is_here(home: Path) -> None:
    program = home / "bin" / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert [line.split()[0] for line in run(home, "hooks", "install").stdout.splitlines()] == ["codex"]


def test_a_machine_without_agents_is_prepared_for_the_first(home: Path) -> None:
    assert [line.split()[0] for line in run(home, "hooks", "install").stdout.splitlines()] == ["claude"]


def test_one_agent_by_its_name_or_label_and_a_stranger_is_refused_with_the_names(home: Path) -> None:
    for name in ("claude-code", "claude"):
        assert run(home, "hooks", "status", "--agent", name).stdout.startswith("claude ")
    asked = run(home, "hooks", "install", "--agent", "hal")
    assert asked.returncode == 2 and '"hal" has no hooks here. Known: claude-code, codex' in asked.stderr


def test_status_and_doctor_say_that_codex_does_not_run_them_yet(home: Path) -> None:
    (home / ".codex").mkdir()
    run(home, "hooks", "install", "--agent", "codex")
    status = json.loads(run(home, "hooks", "status", "--agent", "codex", "--json").stdout)
    [file] = status["files"]
    assert (file["agent"], file["state"], file["events"]) == ("codex", "installed", 12)
    assert file["inactive"] == "inactive until trusted: run /hooks in Codex"
    told = run(home, "doctor").stdout
    assert "codex: installed, inactive until trusted\n" in told and "next: run /hooks in Codex" in told


def test_what_was_installed_goes_and_every_file_is_as_it_was(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text('{"hooks": {}}')
    run(home, "hooks", "install")
    done = run(home, "hooks", "uninstall")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (home / ".codex" / "hooks.json").read_text() == '{"hooks": {}}'
    assert not (home / ".claude" / "settings.json").exists()


def test_reports_of_each_agent_that_waited_are_counted_and_a_directory_is_no_report(home: Path) -> None:
    (home / ".codex").mkdir()
    run(home, "hooks", "install", "--agent", "codex")
    assert "0 reports" not in run(home, "doctor").stdout
    (home / "hc" / "mailbox" / "codex" / "1.2").write_text("x\n{}")
    assert "1 reports wait" in run(home, "doctor").stdout
