"""Gemini CLI's chats: state of the last turn (`glimpse`), and the last lines for a person (`peek`).

Rules
  1. Only the end of the file is read, and only when asked: TAIL bytes for a glimpse, MOST for a person (accident H5).
  2. A path comes from a payload: only a regular file of our own user that is named after the conversation is read.
  3. A line that is cut, damaged or unknown is skipped; so is `$set`, which rewrites earlier messages.
  4. A glimpse has no text: of a message only its kind, time, model and tool label.
  5. Only the chat shows an Esc at a dialog and an error: no hook reports either (L5).
  6. An answer is written again under the same id when its tools have ended; the later version replaces the earlier.
     The CLI's own instructions to the model and tool results are left out.
  7. `peek` returns text as it was written; the caller cleans it before printing. Nothing is stored.

Not here: when a chat is read (daemon/observers/transcripts.py), what follows (core), who may ask
(daemon/routes/peek.py).
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from headcount.agents.gemini import NAME
from headcount.agents.gemini.reports import GeminiToolInput, label
from headcount.agents.kit.labels import plain
from headcount.agents.kit.safe_reading import NO_RAW, JsonReader, count_of, moment_of, read_end
from headcount.agents.kit.transcripts import TAIL, ConversationLine, Tail, spoken
from headcount.core.values.evidence import Glimpse
from headcount.core.values.report import Turn

REWRITE = 40  # bytes within which a `$set` names what it sets
CANCELLED = "Request cancelled."
CONTEXT = "<session_context>"  # how the CLI's own messages begin
LIMITS = ('"code":429', "RESOURCE_EXHAUSTED", "quota")

MOST = 512 * 1024
"""More than a glimpse reads: tool results lie between the messages."""

WHO = {"user": "user", "gemini": "agent"}


class ChatTokens(msgspec.Struct):
    input: object = None


class ToolCall(msgspec.Struct):
    name: object = None
    status: object = None
    timestamp: object = None
    args: msgspec.Raw = NO_RAW


class ChatPart(msgspec.Struct):
    text: object = None
    functionResponse: object = None


class ChatLine(msgspec.Struct):
    id: object = None
    type: object = None
    timestamp: object = None
    model: object = None
    content: str | list[ChatPart] | None = None
    tokens: ChatTokens | None = None
    toolCalls: list[ToolCall] | None = None


_lines = JsonReader(ChatLine)
_input = JsonReader(GeminiToolInput)


def glimpse(path: Path, conversation: str) -> Glimpse | None:
    content = read(path, conversation, TAIL)
    return None if content is None else parse(content).glimpse(NAME, conversation)


def parse(content: bytes) -> Tail:
    """What the complete lines say; later lines override earlier ones."""
    tail = Tail()
    for line in lines_of(content):
        tail = _after(tail, line)
    return tail


def read(path: Path, conversation: str, most: int) -> bytes | None:
    if not path.name.startswith("session-") or not path.name.endswith(f"-{conversation[:8]}.jsonl"):
        return None
    return read_end(path, most)


def lines_of(content: bytes) -> Iterator[ChatLine]:
    """The messages in order, each once: after an Esc the CLI writes all earlier messages again, until `$set`."""
    again = False
    for row in content.split(b"\n"):
        if row.startswith(b'{"$set"') and b'"messages"' in row[:REWRITE]:
            again = False
        elif row.startswith(b'{"id"'):
            line = _lines.read(row)
            if not isinstance(line, str) and not (again and line.type in ("user", "gemini")):
                yield line
                again = again or line.content == CANCELLED


def _after(tail: Tail, line: ChatLine) -> Tail:
    at = moment_of(line.timestamp)
    if at is None:
        return tail
    if line.type == "gemini":
        return _answered(tail, line, at)
    if line.type == "user":
        return _given(tail, line, at)
    if line.type == "info" and line.content == CANCELLED:
        return tail.after(Turn.SETTLED, at)
    if line.type == "error":
        limit = isinstance(line.content, str) and any(sign in line.content for sign in LIMITS)
        return tail.after(Turn.FAILED, at, failure="limit" if limit else "error")
    return tail


def _answered(tail: Tail, line: ChatLine, at: float) -> Tail:
    if isinstance(line.content, list):
        return tail  # after an Esc earlier answers are written again, in parts, under the time of the Esc
    model = plain(line.model, 100)
    used = count_of(line.tokens.input) if line.tokens is not None else 0
    if model is not None:
        tail = replace(tail, model=model, model_at=at)
    if used:
        tail = replace(tail, context_tokens=used)
    if line.toolCalls:
        return _called(tail, line.toolCalls[-1], at)
    return tail.after(Turn.STOPPED if line.content else Turn.PROMPTED, at)


def _called(tail: Tail, call: ToolCall, at: float) -> Tail:
    """Apply a tool call. Its line is written again when the tool ends, with the time of the answer."""
    ended = moment_of(call.timestamp) or at
    if call.status in ("success", "error", "cancelled"):
        return tail.after(Turn.TOOL_DONE, ended)
    return tail.after(Turn.TOOL, ended, doing=label_of(call))


def label_of(call: ToolCall) -> str:
    name = call.name if isinstance(call.name, str) else "tool"
    return label(name, _input.read_or_empty(call.args), None)


def _given(tail: Tail, line: ChatLine, at: float) -> Tail:
    """Apply what was sent to the model: a prompt or a tool result."""
    parts = line.content if isinstance(line.content, list) else []
    if any(part.functionResponse is not None for part in parts):
        return tail.after(Turn.TOOL_DONE, at)
    if any(isinstance(part.text, str) and part.text.startswith(CONTEXT) for part in parts):
        return tail
    return tail.after(Turn.PROMPTED, at)


def peek(path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
    """The last `most` lines; None: there is no chat to read."""
    content = read(path, conversation, MOST)
    if content is None:
        return None
    said: dict[object, list[ConversationLine]] = {}
    for nth, line in enumerate(lines_of(content)):
        said[line.id if isinstance(line.id, str) else nth] = _said(line)
    return [each for some in said.values() for each in some][-lines:]


def _said(line: ChatLine) -> list[ConversationLine]:
    at, who = moment_of(line.timestamp), WHO.get(line.type) if isinstance(line.type, str) else None
    if who is None:
        return []
    parts = [line.content] if isinstance(line.content, str) else [part.text for part in line.content or ()]
    texts = [text for text in parts if not (isinstance(text, str) and text.startswith(CONTEXT))]
    found = [each for text in texts for each in spoken(who, text, at)]
    return found + [
        ConversationLine("tool", label_of(call), moment_of(call.timestamp) or at)
        for call in line.toolCalls or ()
    ]
