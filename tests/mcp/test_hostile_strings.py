"""Two thousand hostile strings in every field that MCP answers with: none reaches a model as it is."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from headcount.client.values import Claim, Me, Session, claim_fields
from headcount.mcp import tool_results
from headcount.mcp.tool_results import TEXT_MOST, ToolResult
from tests.present.sample_rows import NOW
from tests.present.test_hostile_strings import CLAIM, ME, ROW
from tests.rig.security.hostile_strings import COUNT, filled, hostile, traces

TAME = "w0000"


def claim(string: str, **fields: Any) -> Claim:
    said = {**filled(CLAIM, string), "because": string, "code": string, "under": None, **fields}
    return Claim(**claim_fields(said))


def session(string: str) -> Session:
    return Session.of({**filled(ROW, string), "liveness": "alive"})


ANSWERS: dict[str, Callable[[str], ToolResult]] = {
    "who_is_here": lambda s: tool_results.here([session(s)], s, NOW),
    "who_holds": lambda s: tool_results.held([claim(s)], s, None),
    "who_holds, nobody": lambda s: tool_results.held([], s, None),
    "claim, held": lambda s: tool_results.asked(claim(s, granted=False), session(s), 1.0),
    "claim, refused": lambda s: tool_results.asked(claim(s, granted=False, holder=None), None, 0.0),
    "claim, granted": lambda s: tool_results.asked(claim(s, granted=True), None, 0.0),
    "claim, under": lambda s: tool_results.asked(claim(s, granted=True, under=s), None, 0.0),
    "release": tool_results.given_back,
    "handoff": lambda s: tool_results.handed(claim(s, granted=True)),
    "check": lambda s: tool_results.checked(s, 1, True),
    "my_session": lambda s: tool_results.myself(Me.of(filled(ME, s)), session(s)),
    "a refusal": lambda s: tool_results.refused(s, s, s),
    "a fault": lambda s: tool_results.fault(s, s),
}


@pytest.mark.parametrize("tool", ANSWERS)
def test_no_hostile_string_is_in_an_answer_as_it_is(tool: str) -> None:
    lines = ANSWERS[tool](TAME).text.count("\n")
    for string in hostile():
        answer = ANSWERS[tool](string)
        assert traces(answer.text) == [] and answer.text.count("\n") == lines, repr(string)
        assert traces(_strings(answer.data), lines=False) == [], repr(string)
        json.dumps(answer.data, allow_nan=False)


def _strings(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(map(_strings, [*value, *value.values()]))
    return "".join(map(_strings, value)) if isinstance(value, list) else str(value)


def test_the_naive_way_is_caught_by_the_same_look() -> None:
    assert sum(bool(traces(_strings({"name": string}), lines=False)) for string in hostile()) > COUNT / 3


def test_a_flood_is_cut() -> None:
    for tool, answer in ANSWERS.items():
        assert len(answer("x" * 100_000).text) < 20 * TEXT_MOST, tool
