"""The lock pins what pyproject.toml asks for, by hash, and names no place to get it from; the audit says what it does not know."""

import importlib.metadata
import importlib.util
import re
import tomllib
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.rules.source import ROOT

LOCK = ROOT / "requirements" / "lock.txt"
EXTRAS = ("fleet", "mcp")
PINNED = re.compile(
    r"^([A-Za-z0-9._-]+)==([^\s;]+)((?:\s*;[^\\\n]*)?) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)",
    re.MULTILINE,
)


def wanted() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [
        *project["dependencies"],
        *(each for extra in EXTRAS for each in project["optional-dependencies"][extra]),
    ]
    return [Requirement(each) for each in named]


def pinned(text: str) -> dict[str, str]:
    return {canonicalize_name(name): version for name, version, _, _ in PINNED.findall(text)}


def unmet(text: str) -> list[str]:
    found = pinned(text)
    return [
        str(each)
        for each in wanted()
        if canonicalize_name(each.name) not in found
        or found[canonicalize_name(each.name)] not in each.specifier
    ]


def test_the_lock_satisfies_what_the_project_asks_for() -> None:
    assert unmet(LOCK.read_text("utf-8")) == [], "run: make lock"


def test_a_lock_that_lags_behind_is_seen() -> None:
    text = LOCK.read_text("utf-8")
    assert unmet(re.sub("^httptools==[^ ]+", "httptools==0.1", text, flags=re.MULTILINE)) == [
        "httptools>=0.6"
    ]
    assert unmet(text.replace("msgspec==", "another==")) == ["msgspec>=0.19"]


def test_every_line_of_the_lock_is_a_pin_with_hashes_and_nothing_else() -> None:
    text = LOCK.read_text("utf-8")
    left = "".join(line for line in PINNED.sub("", text).splitlines() if not line.startswith("#"))
    assert left == "", "no address, no index, no option, nothing without a hash"


def test_what_the_pinned_packages_ask_for_is_pinned_too() -> None:
    found = pinned(LOCK.read_text("utf-8"))
    missing = set()
    for name in found:
        try:
            asked = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # of another platform
        for each in map(Requirement, asked):
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                missing |= {each.name} if canonicalize_name(each.name) not in found else set()
    assert missing == set()


def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "requirements" / "audit.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CLEAN = {"name": "a", "version": "1", "vulns": []}
FAULTY = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}
SKIPPED = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("found", "code"),
    [([CLEAN], 0), ([CLEAN, FAULTY], 1), ([CLEAN, SKIPPED], 4), ([FAULTY, SKIPPED], 1), ([], 4)],
)
def test_an_audit_that_could_not_ask_is_not_clean(found, code) -> None:
    words, exit_code = audit().judged(found)
    assert exit_code == code
    assert any("Not known" in line for line in words) == (SKIPPED in found or not found)
