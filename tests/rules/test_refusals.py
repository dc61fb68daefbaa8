"""Every refusal has a code of the table, with a status that the table names; and the table names no other."""

import ast
import re
from collections.abc import Iterator

from headcount.wire.faults import REFUSALS
from tests.rules.source import SRC, tree

CODE = re.compile(r"[a-z]+(-[a-z]+)*")


def made() -> Iterator[tuple[str, int | None]]:
    """Every code in the source of the daemon and the core, with its status where that stands beside it."""
    for path in sorted([*(SRC / "daemon").rglob("*.py"), *(SRC / "core").rglob("*.py")]):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call):
                yield from _codes(node)


def _codes(node: ast.Call) -> Iterator[tuple[str, int | None]]:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    constants = [each.value if isinstance(each, ast.Constant) else None for each in node.args[:2]]
    match called, constants:
        case "HttpRefusal", [int(status), str(code)]:
            yield code, status
        case "ClaimRefused" | "JoinRefused" | "TurnedAway", [str(code), *_]:
            yield code, 409 if called == "JoinRefused" else None
        case "TurnedAway", [_, str(code)]:
            yield code, 409
        case "_refuse", [bytes(line), str(code)]:
            yield code, int(line.split()[0])
    for keyword in node.keywords:
        if called == "Fault" and keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
            yield str(keyword.value.value), None


def test_every_code_that_is_made_stands_in_the_table_with_its_status() -> None:
    found = list(made())
    assert len(found) > 60
    missing = {(code, status) for code, status in found if status is None and code not in REFUSALS}
    wrong = {
        (code, status)
        for code, status in found
        if status is not None and status not in REFUSALS.get(code, ())
    }
    assert missing | wrong == set()


def test_the_table_names_no_code_that_nobody_makes() -> None:
    written = "".join(
        path.read_text("utf-8") for part in ("daemon", "core") for path in (SRC / part).rglob("*.py")
    )
    assert [code for code in REFUSALS if f'"{code}"' not in written] == []


def test_codes_are_plain_words_and_statuses_are_errors() -> None:
    for code, statuses in REFUSALS.items():
        assert CODE.fullmatch(code) and statuses and all(400 <= status < 600 for status in statuses)
    assert list(REFUSALS) == sorted(REFUSALS)


def test_the_document_names_them_all() -> None:
    from headcount.daemon.api.openapi import document
    from headcount.daemon.routes.table import ROUTES

    fault = document(ROUTES)["components"]["schemas"]["Fault"]
    assert fault["properties"]["code"]["enum"] == sorted(REFUSALS)
