"""The end of a transcript: what the conversation is called, which model answers, how the last turn stands.

Rules of this file
  1. Only the last TAIL bytes are ever read, and only when asked (accident H5).
  2. No text leaves this file: of a message only its kind, its time and the label of its tool.
  3. A line that is cut, damaged or unknown is passed over.
  4. The path was named by a payload: only a regular file of our own user that is called as the conversation.

Not here: when it is read (daemon/), what follows (core).
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from headcount.agents.claude_code.labels import ToolInput, label
from headcount.agents.claude_code.translate import ASKING_TOOLS, LIMITS, NAME, name_of
from headcount.agents.file_end import read_end
from headcount.agents.label import plain
from headcount.agents.lenient import count, moment, word
from headcount.core.activity import Turned
from headcount.core.detail import Spent
from headcount.core.evidence import Glimpse
from headcount.core.report import Turn, WaitingOn

TAIL = 64 * 1024

NOT_A_PROMPT = ("<command-", "<local-command", "<bash-", "<system-reminder>", "Caveat:")
INTERRUPTED = "[Request interrupted"
COST_MOST = 1e9

GOES_ON = frozenset({"tool_use", "pause_turn", ""})  # reasons after which the turn is not over


class Usage(msgspec.Struct):
    input_tokens: Any = 0
    cache_creation_input_tokens: Any = 0
    cache_read_input_tokens: Any = 0
    output_tokens: Any = 0


class ModelUsage(msgspec.Struct):
    """One model's part of a `cost-state`."""

    inputTokens: Any = 0
    outputTokens: Any = 0
    cacheReadInputTokens: Any = 0
    cacheCreationInputTokens: Any = 0


class Block(msgspec.Struct):
    type: Any = None
    text: Any = None
    name: Any = None
    input: msgspec.Raw = msgspec.Raw(b"{}")


class Message(msgspec.Struct):
    model: Any = None
    stop_reason: Any = None
    usage: Usage | None = None
    content: str | list[Block] = ""


class Line(msgspec.Struct):
    """The fields of a line that are looked at, by the CLI's own names."""

    type: Any = None
    subtype: Any = None
    timestamp: Any = None
    isSidechain: Any = False
    isMeta: Any = False
    isCompactSummary: Any = False
    isApiErrorMessage: Any = False
    error: Any = None
    cwd: Any = None
    customTitle: Any = None
    aiTitle: Any = None
    version: Any = None
    totalCostUSD: Any = None
    modelUsage: dict[str, ModelUsage] | None = None
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class Tail:
    """What the end of a transcript says. None: it does not."""

    turn: Turn | None = None
    turn_at: float = 0.0
    waiting_on: WaitingOn | None = None
    doing: str | None = None
    failure: str | None = None
    title: str | None = None
    model: str | None = None
    context_tokens: int | None = None  # what the last answer had before it
    output_tokens: int | None = None
    last_at: float | None = None
    spent: Spent | None = None  # as of when the CLI last left the conversation: only then does it write it
    version: str | None = None


_decoder = msgspec.json.Decoder(Line)
_input = msgspec.json.Decoder(ToolInput)


def read_tail(path: Path, conversation: str) -> Tail | None:
    """The end of that conversation's transcript; None when there is none to read."""
    if path.name != f"{conversation}.jsonl":
        return None
    end = read_end(path, TAIL)
    return None if end is None else parse(end.content)


def parse(content: bytes) -> Tail:
    """What whole lines say, the later over the earlier."""
    tail = Tail()
    for row in content.split(b"\n"):
        line = line_of(row)
        if line is not None and not line.isSidechain:
            tail = _after(tail, line)
    return tail


def glimpse(path: Path, conversation: str) -> Glimpse | None:
    """The tail as evidence: older than a hook of the same turn, newer than one of the turn before."""
    tail = read_tail(path, conversation)
    if tail is None:
        return None
    turned = None
    if tail.turn is not None:
        turned = Turned(
            tail.turn_at, tail.turn, "last turn", "transcript", tail.waiting_on, tail.doing, tail.failure
        )
    return Glimpse(
        NAME,
        conversation,
        tail.title,
        tail.model,
        tail.context_tokens,
        turned,
        spent=tail.spent,
        version=tail.version,
    )


def line_of(row: bytes) -> Line | None:
    if not row.startswith(b"{"):
        return None
    try:
        return _decoder.decode(row)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _after(tail: Tail, line: Line) -> Tail:
    at = moment(line.timestamp)
    version = plain(line.version, 40)
    if version is not None and version != tail.version:
        tail = replace(tail, version=version)
    if line.type == "cost-state":
        return replace(tail, spent=_spent(line) or tail.spent)
    if at is not None:
        tail = replace(tail, last_at=max(at, tail.last_at or at))
    if line.type in ("custom-title", "ai-title"):
        title = name_of(line.customTitle if isinstance(line.customTitle, str) else line.aiTitle)
        return tail if title is None else replace(tail, title=title)
    if at is None or line.message is None or line.isMeta:
        return tail
    if line.type == "assistant":
        return _answered(tail, line, line.message, at)
    return _given(tail, line.message, at) if line.type == "user" else tail


def _answered(tail: Tail, line: Line, message: Message, at: float) -> Tail:
    if line.isApiErrorMessage is True:
        failure = "limit" if word(line.error) in LIMITS else "error"
        return _turned(tail, Turn.FAILED, at, failure=failure)
    tail = _counted(tail, message)
    used = [block for block in message.content if isinstance(block, Block) and block.type == "tool_use"]
    if used and isinstance(used[-1].name, str):
        tool = used[-1].name
        asks = ASKING_TOOLS.get(tool)
        turn = Turn.ASKED if asks else Turn.TOOL
        return _turned(tail, turn, at, waiting_on=asks, doing=label_of(tool, used[-1], line.cwd))
    if word(message.stop_reason) in GOES_ON:
        return _turned(tail, Turn.PROMPTED, at)
    return _turned(tail, Turn.STOPPED, at)


def _given(tail: Tail, message: Message, at: float) -> Tail:
    """What the model was given: a prompt, the result of a tool, or the note that its user stopped it."""
    content = message.content
    texts = [content] if isinstance(content, str) else [b.text for b in content if isinstance(b.text, str)]
    if any(text.startswith(INTERRUPTED) for text in texts):
        return _turned(tail, Turn.SETTLED, at)
    if not isinstance(content, str) and any(block.type == "tool_result" for block in content):
        return _turned(tail, Turn.TOOL_DONE, at)
    if all(text.lstrip().startswith(NOT_A_PROMPT) for text in texts):
        return tail  # a command of the CLI itself, or nothing
    return _turned(tail, Turn.PROMPTED, at)


def _turned(
    tail: Tail,
    turn: Turn,
    at: float,
    waiting_on: WaitingOn | None = None,
    doing: str | None = None,
    failure: str | None = None,
) -> Tail:
    return replace(tail, turn=turn, turn_at=at, waiting_on=waiting_on, doing=doing, failure=failure)


def _counted(tail: Tail, message: Message) -> Tail:
    model, usage = plain(message.model, 100), message.usage
    if model is None or model.startswith("<"):
        return tail  # the CLI's own words, not a model's
    if usage is None:
        return replace(tail, model=model)
    parts = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    made = count(usage.output_tokens)
    return replace(tail, model=model, context_tokens=sum(map(count, parts)), output_tokens=made)


def _spent(line: Line) -> Spent | None:
    """All that went in counts as input, from a cache or not; a figure that is none is left out."""
    if line.modelUsage is None:
        return None
    models = line.modelUsage.values()
    given = sum(
        count(each.inputTokens) + count(each.cacheReadInputTokens) + count(each.cacheCreationInputTokens)
        for each in models
    )
    cost = line.totalCostUSD
    priced = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < COST_MOST
    return Spent(given, sum(count(each.outputTokens) for each in models), float(cost) if priced else None)


def label_of(tool: str, block: Block, cwd: Any) -> str:
    try:
        given = _input.decode(block.input)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        given = ToolInput()
    return label(tool, given, plain(cwd))
