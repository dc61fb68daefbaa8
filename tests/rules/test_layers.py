"""Imports only point down: the contracts of pyproject.toml, run as a test too."""

import subprocess
import sys
from pathlib import Path

from tests.rules.source import ROOT


def test_imports_only_point_down() -> None:
    """The same command as `make layers`; here so that `pytest` alone cannot pass with a broken layer."""
    lint = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([str(lint), "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
