"""Folders are rooms: small, described, and with class names that mean one thing."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.rules.source import SRC, modules, short, tree

ENTRIES_MOST = 16
LARGER = {
    ".": (20, "the base modules and one folder for each layer"),
    "cli/commands": (60, "one file for each verb"),
    "daemon/routes": (20, "one file for each subject of the wire"),
}
SAME_ON_TWO_LAYERS = {
    "Claim": "the client's typed result of the core's value",
    "Ended": "the wire's row of the core's value",
    "Event": "the client's typed result of the core's value",
    "Holder": "the client's typed result of the wire's row",
    "Lane": "the wire's row of the core's value",
    "Me": "the client's typed result of the wire's row",
    "Rebooted": "the wire's list of what that evidence ended",
    "Registration": "the wire's request of the core's value",
    "Rung": "the wire's row of the daemon's value",
    "Session": "the client's typed result of the core's value",
    "Span": "the wire's row of the core's value",
}


def folders() -> list[Path]:
    return sorted({path.parent for path in modules()})


def name_of(folder: Path) -> str:
    return str(folder.relative_to(SRC))


def entries(folder: Path) -> list[str]:
    """What somebody sees who opens it."""
    kept = {"__init__.py", "__pycache__"}
    return sorted(each.name for each in folder.iterdir() if each.name not in kept)


@pytest.mark.parametrize("folder", folders(), ids=name_of)
def test_a_folder_can_be_read_at_a_glance(folder: Path) -> None:
    most, _ = LARGER.get(name_of(folder), (ENTRIES_MOST, ""))
    assert len(entries(folder)) <= most, "which of them belong together in a folder of their own?"


@pytest.mark.parametrize("folder", folders(), ids=name_of)
def test_a_folder_says_what_it_is_for_and_what_enters_and_leaves_it(folder: Path) -> None:
    said = ast.get_docstring(tree(folder / "__init__.py")) or ""
    if folder != SRC:  # its docstring is the package's own
        assert "\nEnters: " in said and "\nLeaves: " in said
    assert len(said.partition("\n")[0].split()) >= 4


def classes() -> dict[str, list[str]]:
    found = defaultdict(list)
    for path in modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(SRC)))
    return found


def test_a_class_name_means_one_thing() -> None:
    twice = {name: paths for name, paths in classes().items() if len(paths) > 1}
    assert {name: paths for name, paths in twice.items() if name not in SAME_ON_TWO_LAYERS} == {}
    assert sorted(set(SAME_ON_TWO_LAYERS) - set(twice)) == [], "no longer needed in the list"


NAMED_FILE = re.compile(r"(?<![\w./<>])((?:[a-z_]+/)*[a-z_]+\.py)\b")


def missing_files(said: str, path: Path) -> list[str]:
    """Of the files that a docstring names: those that are neither beside it nor at the end of a path in the tree."""
    paths = [str(each.relative_to(SRC)) for each in modules()]
    return [
        name
        for name in NAMED_FILE.findall(said)
        if not name.startswith(("tests/", "docs/"))
        and (path.parent / name not in modules() or path.parent / name == path)
        and name not in paths
        and not any("/" in name and each.endswith(f"/{name}") for each in paths)
    ]


@pytest.mark.parametrize("path", modules(), ids=short)
def test_a_docstring_sends_nobody_to_a_file_that_is_gone(path: Path) -> None:
    assert missing_files(ast.get_docstring(tree(path)) or "", path) == []


def test_a_file_that_is_gone_is_seen() -> None:
    said = "Not here: who may (authority.py), the words (present/nothing.py), the rules (core/decide.py, world.py)."
    assert missing_files(said, SRC / "core" / "state" / "claims.py") == ["authority.py", "present/nothing.py"]
