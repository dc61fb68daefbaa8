"""The end of a transcript, as the real CLI wrote it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.agents.claude_code.transcript import TAIL, Tail, glimpse, parse, read_tail
from headcount.core.values.report import Turn, WaitingOn
from headcount.core.values.session import Spent

SAMPLE = Path(__file__).parents[2] / "rig" / "samples" / "claude-code" / "transcript.jsonl"
LINES = SAMPLE.read_bytes().splitlines(keepends=True)


def until(part: str, nth: int = 1) -> Tail:
    """The tail when the nth line with that text was the last one written."""
    seen = 0
    for index, line in enumerate(LINES):
        seen += part.encode() in line
        if seen == nth:
            return parse(b"".join(LINES[: index + 1]))
    raise AssertionError(part)


def test_a_prompt_is_work() -> None:
    assert until('"role": "user"').turn is Turn.PROMPTED


def test_a_tool_is_named() -> None:
    tail = until('"type": "tool_use"')
    assert (tail.turn, tail.doing, tail.model) == (Turn.TOOL, "Bash: echo hi", "claude-opus-5-5")
    assert tail.model_at == tail.turn_at
    assert tail.context_tokens is not None and tail.context_tokens > 10_000


def test_a_tools_result_is_work() -> None:
    assert until("tool_result").turn is Turn.TOOL_DONE


def test_a_turn_that_ended_is_seen() -> None:
    assert until('"end_turn"').turn is Turn.STOPPED
    assert until("turn_duration").turn is Turn.STOPPED


def test_a_command_of_the_cli_itself_is_no_turn() -> None:
    assert until("The user named this session").turn is Turn.STOPPED
    assert parse(b"".join(LINES)).turn is Turn.FAILED  # /compact came after it, and did nothing


def test_an_interrupted_turn_is_idle() -> None:
    assert until("[Request interrupted by user]").turn is Turn.SETTLED
    assert until("[Request interrupted by user for tool use]").turn is Turn.SETTLED


def test_an_error_and_a_limit_are_distinguished() -> None:
    assert (until("isApiErrorMessage").turn, until("isApiErrorMessage").failure) == (Turn.FAILED, "error")
    assert until("isApiErrorMessage", 2).failure == "limit"


def test_the_given_title_is_read() -> None:
    assert parse(b"".join(LINES)).title == "my-name"


def test_a_branch_is_not_named_after_its_prompt() -> None:
    assert parse(row(type="custom-title", customTitle="my secret prompt (Branch)")).title is None


def row(**fields: Any) -> bytes:
    return json.dumps({"timestamp": "2026-11-15T10:00:00.000Z", **fields}).encode() + b"\n"


def test_a_question_waits() -> None:
    use = {"type": "tool_use", "name": "AskUserQuestion", "input": {"questions": []}}
    tail = parse(row(type="assistant", message={"content": [use], "stop_reason": "tool_use"}))
    assert (tail.turn, tail.waiting_on) == (Turn.ASKED, WaitingOn.QUESTION)


def test_a_subagents_lines_do_not_change_the_main_turn() -> None:
    side = row(
        type="assistant", isSidechain=True, message={"content": [{"type": "text"}], "stop_reason": "end_turn"}
    )
    assert parse(side).turn is None


def test_no_text_leaves_the_transcript() -> None:
    private = {"content": [{"type": "text", "text": "PRIVATE"}], "stop_reason": "end_turn"}
    content = row(type="user", message={"content": "PRIVATE"}) + row(type="assistant", message=private)
    assert "PRIVATE" not in repr(parse(content))


@pytest.mark.parametrize(
    "damage", [b"{", b"\xff\n", b"[]\n", b'{"type":7,"message":3}\n', b'{"timestamp":"x"}\n', b"\n\n"]
)
def test_damaged_and_unknown_lines_are_skipped(damage: bytes) -> None:
    whole = b"".join(LINES)
    assert parse(damage + b"\n" + whole) == parse(whole)
    assert parse(whole + damage).turn is parse(whole).turn


@given(st.binary(max_size=300))
def test_no_bytes_can_break_the_reader(content: bytes) -> None:
    parse(content)
    parse(b'{"type":"user","message":' + content + b"}")


def test_only_the_end_of_a_long_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "conv.jsonl"
    path.write_bytes(LINES[2] * 20_000 + b"".join(LINES))
    sizes: list[int] = []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: sizes.append(size) or real(fd, size, at))
    assert read_tail(path, "conv") == parse(b"".join(LINES[:2]) + LINES[2] + b"".join(LINES))
    assert sizes == [TAIL]


def test_only_the_conversations_own_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "conv.jsonl"
    path.write_bytes(b"".join(LINES))
    assert read_tail(path, "conv") is not None
    assert read_tail(path, "other") is None
    (tmp_path / "link.jsonl").symlink_to(path)
    assert read_tail(tmp_path / "link.jsonl", "link") is None
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert read_tail(tmp_path / "pipe.jsonl", "pipe") is None
    assert read_tail(tmp_path / "gone.jsonl", "gone") is None


def test_a_tail_becomes_a_glimpse_at_its_own_time(tmp_path: Path) -> None:
    path = tmp_path / "conv.jsonl"
    path.write_bytes(SAMPLE.read_bytes())
    seen, tail = glimpse(path, "conv"), parse(path.read_bytes())
    assert seen is not None and seen.turned is not None
    assert (seen.turned.turn, seen.turned.at, seen.turned.source) == (tail.turn, tail.turn_at, "transcript")
    assert (seen.title, seen.model, seen.context_tokens) == (tail.title, tail.model, tail.context_tokens)
    assert glimpse(tmp_path / "other.jsonl", "other") is None


# --- what it cost ------------------------------------------------------------------------------------


def cost_state(**fields: Any) -> bytes:
    usage = {
        "claude-opus-5-5": {
            "inputTokens": 100,
            "outputTokens": 20,
            "cacheReadInputTokens": 1000,
            "cacheCreationInputTokens": 10,
            "costUSD": 0.5,
        },
        "claude-small": {"inputTokens": 5, "outputTokens": 1},
    }
    state = {"type": "cost-state", "sessionId": "s", "totalCostUSD": 0.53, "modelUsage": usage, **fields}
    return json.dumps(state).encode() + b"\n"


def test_the_cost_is_the_one_the_cli_wrote_on_leaving() -> None:
    assert parse(cost_state()).spent == Spent(1115, 21, 0.53)
    assert parse(cost_state(totalCostUSD=0.1) + cost_state()).spent == Spent(1115, 21, 0.53)


def test_a_conversation_that_is_still_open_has_no_cost() -> None:
    """Its answers in the tail are a part of it, and a part would be told as the whole."""
    assert parse(b"".join(LINES)).spent is None


@pytest.mark.parametrize(
    "fields",
    [
        {"modelUsage": None},
        {"modelUsage": "much"},
        {"modelUsage": {"m": "much"}},
        {"modelUsage": {}},
        {"modelUsage": {"m": {"inputTokens": -5, "outputTokens": "x", "cacheReadInputTokens": 1e300}}},
    ],
)
def test_values_that_are_not_numbers_are_not_counted(fields: dict[str, Any]) -> None:
    assert parse(cost_state(**fields)).spent in (None, Spent(0, 0, 0.53))


@pytest.mark.parametrize("cost", [None, "free", True, -1, 1e300])
def test_a_missing_cost_is_not_reported(cost: object) -> None:
    assert parse(cost_state(totalCostUSD=cost)).spent == Spent(1115, 21, None)


def test_the_version_is_that_of_the_newest_line() -> None:
    lines = [{"type": "user", "version": version, "timestamp": None} for version in ("2.1.197", "2.1.325")]
    assert parse(b"\n".join(json.dumps(each).encode() for each in lines)).version == "2.1.325"
