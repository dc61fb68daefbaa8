"""The threat model names, for every adversary, defences with tests that exist, and what is not defended."""

import re

import pytest

from tests.rules.source import ROOT
from tests.rules.test_docs import NAMED_TEST, missing_tests

WALLS = ("A web page", "Another user of the machine", "A container, or another namespace", "A malicious repository",
         "The network")  # fmt: skip
GUARD_RAILS = ("An agent with an injected prompt",)
ADVERSARIES = (*WALLS, *GUARD_RAILS)


def sections(text: str) -> dict[str, str]:
    return {part.partition("\n")[0]: part for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]}


def model() -> dict[str, str]:
    return sections((ROOT / "docs" / "threat-model.md").read_text("utf-8"))


def defences(section: str) -> list[tuple[str, str]]:
    rows = re.findall(r"^\| (.+?) \| (.*) \|$", section, re.MULTILINE)
    return [(said, tests) for said, tests in rows if said not in ("defence", "---")]


def unproved(section: str) -> list[str]:
    """Defences that no test is named for, or only one that does not exist."""
    return [said for said, tests in defences(section) if not NAMED_TEST.search(tests) or missing_tests(tests)]


def test_every_adversary_stands_once_under_walls_or_guard_rails() -> None:
    text = (ROOT / "docs" / "threat-model.md").read_text("utf-8")
    walls, rails = re.split(r"^## Guard rails$", text, flags=re.MULTILINE)
    assert re.findall(r"^### (.*)$", walls.partition("\n## Walls\n")[2], re.MULTILINE) == list(WALLS)
    assert re.findall(r"^### (.*)$", rails, re.MULTILINE) == list(GUARD_RAILS)
    headings = ["Walls", "Guard rails", "What is shown again and again"]
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == headings


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_every_defence_names_a_test_that_exists(adversary: str) -> None:
    assert len(defences(model()[adversary])) >= 4
    assert unproved(model()[adversary]) == []


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_every_adversary_is_told_what_is_not_defended(adversary: str) -> None:
    assert "\nNot defended: " in model()[adversary]


def test_a_defence_without_a_test_is_seen() -> None:
    row = "| It is safe. | `tests/core/test_decide.py::test_that_nobody_wrote` |\n"
    assert unproved(row) == ["It is safe."]
    assert unproved("| It is safe. | see the code |\n") == ["It is safe."]


def test_the_security_page_and_the_model_know_each_other() -> None:
    assert "docs/threat-model.md" in (ROOT / "SECURITY.md").read_text("utf-8")
    assert "SECURITY.md" in (ROOT / "docs" / "threat-model.md").read_text("utf-8")
