"""The types that the faces read (wire/views.pyi) are those of the messages that the daemon sends."""

import ast
from runpy import run_path

from tests.rules.source import ROOT

GENERATOR = run_path(str(ROOT / "docs" / "generate_views.py"))


def test_the_views_are_current() -> None:
    assert GENERATOR["STUB"].read_text("utf-8") == GENERATOR["stub"](), "run: python docs/generate.py"


def test_a_view_has_the_fields_of_its_struct_and_no_open_types() -> None:
    (struct,) = ast.parse(
        "class Row(msgspec.Struct):\n    id: str\n    facts: dict[str, Any] | None = None"
    ).body
    assert GENERATOR["_view"](struct, "TypedDict") == (
        "class Row(TypedDict, total=False):\n    id: str\n    facts: dict[str, object] | None\n"
    )
