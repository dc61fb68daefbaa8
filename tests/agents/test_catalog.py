"""Whether any package brings an adapter is seen without what reads package metadata."""

import subprocess
import sys
import zipfile
from pathlib import Path

from headcount.agents.catalog import GROUP, is_named
from tests.rig.agents import toy


def test_a_package_that_names_the_group_is_seen_and_another_is_not(tmp_path: Path) -> None:
    other = toy.package(tmp_path / "other")
    points = next(other.glob("*-info/entry_points.txt"))
    points.write_text("[console_scripts]\nother = other:main\n")
    assert not is_named(GROUP, [str(other), str(tmp_path / "missing"), ""])
    assert is_named(GROUP, [str(other), str(toy.package(tmp_path / "toy"))])


def test_unreadable_metadata_counts_as_naming_the_group(tmp_path: Path) -> None:
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("nothing.py", "")
    assert is_named(GROUP, [str(archive)])
    unreadable = toy.package(tmp_path / "toy")
    points = next(unreadable.glob("*-info/entry_points.txt"))
    points.unlink()
    points.mkdir()  # unreadable even for root
    assert is_named(GROUP, [str(unreadable)])


def test_a_daemon_without_foreign_adapters_does_not_read_package_metadata() -> None:
    code = (
        "import sys; from headcount.agents.catalog import AGENTS; import headcount.daemon.composition; list(AGENTS); "
        "print([name for name in ('importlib.metadata', 'email', 'zipfile', 'argparse', 'http.client', 'uvicorn') "
        "if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]", said.stdout
