"""The documents say what the code says, and name only what exists.

Rules of this file
  1. What can be drawn from the code is (docs/generate.py), and what is committed must be current.
  2. What a person wrote is checked for what it names: tests, files, links, routes, codes, verbs.
"""

import ast
import importlib.util
import re
from functools import cache
from types import ModuleType

import pytest

from headcount.cli.command_table import VERBS
from headcount.core.values.events import EventType
from headcount.daemon.routes.table import ROUTES
from headcount.wire import exit_codes
from tests.rules.source import ROOT, project_files, short, tree

DOCUMENTS = tuple(path for path in project_files() if path.suffix == ".md")
DECISIONS = tuple(path for path in DOCUMENTS if path.parent.name == "decisions" and path.name != "README.md")
PROMISES = [f"G{number}" for number in range(1, 12)]

NAMED_TEST = re.compile(r"(tests/[\w/]+\.py)(?:::(\w+))?")
SUPERSEDED = re.compile(r"# .*\n\nSuperseded (?:in part )?by \[\d{4}\]\((\d{4}-[\w-]+\.md)\)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
ROUTE = re.compile(r"`(GET|POST|DELETE|PUT|PATCH) (/[^\s`]*)`")
COMMAND = re.compile(r"(?:^|`|&& |\$ )headcount ([a-z]+)\b", re.MULTILINE)
SOURCE_FILE = re.compile(r"`((?:core|wire|system|agents|store|daemon|client|cli)/[\w/]+\.py)`")


@cache
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def text(document: str) -> str:
    return (ROOT / document).read_text("utf-8")


@cache
def functions_of(path: str) -> frozenset[str]:
    nodes = ast.walk(tree(ROOT / path))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def missing_tests(said: str) -> list[str]:
    found = []
    for path, name in NAMED_TEST.findall(said):
        if not (ROOT / path).is_file() or (name and name not in functions_of(path)):
            found.append(f"{path}::{name}")
    return found


@pytest.mark.parametrize("document", list(generator().PARTS))
def test_what_is_drawn_from_the_code_is_current(document: str) -> None:
    assert text(document) == generator().renewed(document), "run: python docs/generate.py"


@pytest.mark.parametrize("path", DOCUMENTS, ids=short)
def test_every_test_that_a_document_names_exists(path) -> None:
    assert missing_tests(path.read_text("utf-8")) == []


def test_a_test_that_does_not_exist_is_seen() -> None:
    assert missing_tests("`tests/core/test_decide.py::test_that_nobody_wrote`") != []
    assert missing_tests("`tests/core/test_nothing.py`") != []


@pytest.mark.parametrize("path", DOCUMENTS, ids=short)
def test_every_link_leads_somewhere(path) -> None:
    dead = []
    for target in LINK.findall(path.read_text("utf-8")):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        aim = (path.parent / name) if name else path
        if not aim.exists() or (anchor and anchor not in anchors(aim.read_text("utf-8"))):
            dead.append(target)
    assert dead == []


def anchors(said: str) -> set[str]:
    """As the usual renderers make them from headings."""
    heads = re.findall(r"^#+ (.+)$", said, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("path", DOCUMENTS, ids=short)
def test_every_route_that_is_named_exists(path) -> None:
    known = {(route.method, route.path) for route in ROUTES}
    named = set(ROUTE.findall(path.read_text("utf-8")))
    assert named <= known


def test_the_protocol_names_every_route_event_type_and_error_code() -> None:
    protocol = text("docs/protocol.md")
    assert [route.path for route in ROUTES if f"| `{route.method} {route.path}` |" not in protocol] == []
    assert [each.value for each in EventType if f"`{each.value}`" not in protocol] == []


def test_the_generator_has_words_for_every_type_of_event() -> None:
    assert set(generator().EVENT_WORDS) == set(EventType)


def test_every_code_of_a_claim_has_its_words() -> None:
    assert generator().codes_of_claims() | {"granted", "again", "under", "held"} == set(
        generator().CLAIM_WORDS
    )


def test_no_code_of_a_fault_or_a_reason_is_undocumented() -> None:
    """Codes are found by how they are written; one that is written in another way would be missed."""
    listed = set(re.findall(r"^\| `([a-z-]+)` \| [45]\d\d", generator().error_codes(), re.MULTILINE))
    reasons = re.findall(
        r"^\| `(?:liveness|activity|binding|context)` \| .*", (ROOT / "docs/service.md").read_text(), re.M
    )
    listed |= set(re.findall(r"[a-z-]+", " ".join(reasons)))
    for path in sorted((ROOT / "src/headcount/daemon").rglob("*.py")):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call):
                for keyword in node.keywords:
                    if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                        assert keyword.value.value in listed, f"{short(path)}:{node.lineno}"


def test_the_readme_tells_the_exit_codes_as_they_are() -> None:
    words = {
        "done": exit_codes.DONE,
        "fault": exit_codes.FAULT,
        "usage": exit_codes.USAGE,
        "refused": exit_codes.REFUSED,
    }
    words |= {"daemon unavailable": exit_codes.UNAVAILABLE, "not found": exit_codes.NOT_FOUND}
    told = text("README.md").partition("Exit codes:")[2].partition(".")[0]
    assert {word: int(number) for number, word in re.findall(r"(\d) ([a-z ]+)", told)} == words


@pytest.mark.parametrize("path", [each for each in DOCUMENTS if each not in DECISIONS], ids=short)
def test_every_verb_that_is_named_exists(path) -> None:
    assert set(COMMAND.findall(path.read_text("utf-8"))) <= set(VERBS)


def test_the_readme_has_the_two_commands_and_a_picture_first() -> None:
    first_screen = text("README.md").splitlines()[:45]
    assert any("pip install . && headcount up" in line for line in first_screen)
    assert any(line.startswith("make test") for line in first_screen)
    assert "$ headcount ps" in first_screen


def test_every_promise_names_its_proof_its_control_and_its_limit() -> None:
    sections = re.split(r"^## ", text("docs/guarantees.md"), flags=re.MULTILINE)
    by_promise = {each.split()[0]: each for each in sections if each[:1] == "G"}
    assert list(by_promise) == PROMISES
    for promise, said in by_promise.items():
        for part in ("- Proof: ", "- Negative control: ", "- Does not promise: "):
            assert part in said, f"{promise} has no {part}"


def test_every_accident_is_recorded_and_every_named_test_has_its_line() -> None:
    record = text("docs/trackrecord.md")
    ids = set(re.findall(r"^\| ([A-Z]\d+)", record, re.MULTILINE))
    assert {"I1", "I10", "D1", "D10", "L1", "L7", "S1", "S6", "H1", "H18", "C1", "K1"} <= ids
    sagas = re.findall(r"^\| saga (\d+) \|.*named: `tests/accidents/test_claim_saga.py", record, re.MULTILINE)
    assert sagas == [str(number) for number in range(1, 17)]
    for path, names in generator().tests_in(ROOT / "tests" / "accidents").items():
        for name in names:
            if re.match(r"test_([A-Z]\d+|saga_\d\d)_", name):
                assert f"{path}::{name}" in record, "run: python docs/generate.py"


@pytest.mark.parametrize("path", DECISIONS, ids=short)
def test_a_decision_says_what_would_change_our_mind(path) -> None:
    said = path.read_text("utf-8")
    assert said.startswith(f"# {path.name[:4]}")
    assert "what would change our mind" in said.lower()
    assert path.name in text("docs/decisions/README.md"), "the list names it"


def test_a_decision_that_is_superseded_says_by_which_and_that_one_names_it() -> None:
    found = [(path, SUPERSEDED.match(path.read_text("utf-8"))) for path in DECISIONS]
    marked = [(path, match) for path, match in found if match is not None]
    assert marked
    for path, match in marked:
        newer = path.parent / match[1]
        assert newer.name > path.name and path.name[:4] in newer.read_text("utf-8")


def test_decisions_are_numbered_without_gap_or_double() -> None:
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert numbers == list(range(1, len(numbers) + 1))


def test_every_source_file_that_the_architecture_names_exists() -> None:
    named = set(SOURCE_FILE.findall(text("ARCHITECTURE.md")))
    assert named and [each for each in sorted(named) if not (ROOT / "src/headcount" / each).is_file()] == []
