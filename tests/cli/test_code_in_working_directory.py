"""Standing in a directory that holds code under our names: neither the command nor the daemon runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLANTED = "open({mark!r}, 'a').write(__name__)\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout with modules that Python would rather take than its own."""
    place = tmp_path / "repository"
    (place / "headcount").mkdir(parents=True)
    code = PLANTED.format(mark=str(tmp_path / "ran"))
    for name in (
        "json.py",
        "socket.py",
        "sitecustomize.py",
        "headcount/__init__.py",
        "headcount/__main__.py",
    ):
        (place / name).write_text(code)
    return place


def run(repository: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    home = repository.parent / "home"
    home.mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "HEADCOUNT_HOME": str(home)}
    return subprocess.run(words, cwd=repository, env=env, capture_output=True, text=True, timeout=60)


def test_neither_the_command_nor_the_daemon_takes_its_code_from_where_one_stands(repository: Path) -> None:
    command = str(Path(sys.executable).parent / "headcount")
    if not Path(command).exists():
        pytest.skip("the command is not installed")
    try:
        up = run(repository, command, "up", "--json")
        assert up.returncode == 0, up.stderr
        assert run(repository, command, "ps").returncode == 0
        assert not (repository.parent / "ran").exists()
    finally:
        run(repository, command, "down")


def test_python_itself_would_have_run_it(repository: Path) -> None:
    run(repository, sys.executable, "-m", "headcount", "up")
    assert (repository.parent / "ran").exists()
