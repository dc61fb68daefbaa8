"""One file, one idea, and the file says so first."""

import ast
import re

import pytest

from tests.rules.source import modules, short, tree

LINES_MOST = 400
RULES_FROM = 120  # lines: a file of this size has rules worth writing down
EMPTY_NAMES = re.compile(r"(^|_)(utils?|helpers?|manager|misc|common|stuff)(_|$)")


@pytest.mark.parametrize("path", modules(), ids=short)
def test_a_module_opens_with_its_idea(path) -> None:
    said = ast.get_docstring(tree(path)) or ""
    first = said.partition("\n\n")[0]
    assert len(first.split()) >= 4, "the first sentence says what the file is for"
    assert first.rstrip().endswith((".", ":")), "it is a sentence"
    lines = path.read_text("utf-8").count("\n")
    assert lines < RULES_FROM or re.search(r"^Rules\b", said, re.M), f"{lines} lines without a rule"


@pytest.mark.parametrize("path", modules(), ids=short)
def test_no_file_outgrows_a_head(path) -> None:
    if path.name == "times.py":
        return  # one line and its reason for each constant of time, and all of them in one place
    lines = path.read_text("utf-8").count("\n")
    assert lines <= LINES_MOST, f"{lines} lines: which of its ideas is a file of its own?"


def test_no_file_is_named_after_nothing() -> None:
    assert [short(path) for path in modules() if EMPTY_NAMES.search(path.stem)] == []
