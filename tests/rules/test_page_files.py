"""Rules of the page's files: taken unchanged or written without a way to markup, and in the wheel."""

import hashlib
import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from headcount.daemon.routes.dispatch import PLACE, files
from tests.rules.source import ROOT

OWN = sorted(path for path in PLACE.rglob("*.js") if "vendor" not in path.parts)
FORBIDDEN = (
    "innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "document.write", "DOMParser",
    "createContextualFragment", "srcdoc", "eval(", "new Function", "localStorage", "document.cookie", "XMLHttpRequest",
    "postMessage", "setAttribute(", "import(",
)  # fmt: skip
LINES_MOST = 250


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_our_scripts_have_no_way_to_markup_and_say_their_idea(path: Path) -> None:
    text = path.read_text()
    assert [word for word in FORBIDDEN if word in text] == []
    assert re.findall(r"https?://", text) == []
    assert text.startswith("// ") and "Not here:" in text
    assert len(text.splitlines()) <= LINES_MOST
    assert re.findall(r'setTimeout\(\s*["\'`]', text) == []


def test_what_is_vendored_is_what_was_recorded() -> None:
    vendor = PLACE / "vendor"
    recorded = {}
    for line in (vendor / "HASHES.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            digest, name, _ = line.split("  ", 2)
            recorded[name] = digest
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in vendor.iterdir()
        if path.name != "HASHES.txt"
    }
    assert found == recorded


def test_the_document_names_only_our_own_files_and_has_nothing_inline() -> None:
    text = (PLACE / "index.html").read_text()
    named = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert named and all(name in files() for name in named)
    assert "<style" not in text and " style=" not in text and not re.search(r"\son\w+=", text)
    assert re.findall(r"<script(?![^>]*\ssrc=)", text) == []


def test_every_import_of_our_scripts_is_a_file_that_is_served() -> None:
    for path in OWN:
        for name in re.findall(r'from "([^"]+)"', path.read_text()):
            wanted = (path.parent / name).resolve()
            assert f"/{wanted.relative_to(PLACE).as_posix()}" in files(), (path.name, name)


def test_the_page_is_in_the_wheel(tmp_path: Path) -> None:
    offline = ["--no-build-isolation"] if find_spec("hatchling") else []
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        *offline,
        "-w",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    assert {f"headcount/web/static{path}" for path in files() if path != "/"} <= inside
