"""Codex's rollouts: state of the last turn (`glimpse`), and the last lines for a person (`peek`).

Rules
  1. Only the end of the file is read, and only when asked: TAIL bytes for a glimpse, MOST for a person (accident H5).
  2. A path comes from a payload or from the kernel: only a regular file of our own user that is named after the
     conversation is read.
  3. A line that is cut, damaged or unknown is skipped.
  4. A glimpse has no text: of an item only its kind, time and tool label. A thread's name is not taken: a client may
     make it from the first prompt, and the rollout does not say who gave it.
  5. Approvals are not written to the rollout. While one is open, the rollout shows the tool it is for.
  6. `peek` reads `item_completed`, which is what the terminal shows: other items also hold Codex's own instructions to
     the model. A tool is shown by its label, without its result.
  7. `peek` returns text as it was written; the caller cleans it before printing. Nothing is stored.

Not here: when a rollout is read (daemon/observers/transcripts.py), its first line (open_conversations.py), what follows
(core), who may ask (daemon/routes/peek.py).
"""

from pathlib import Path

import msgspec
from msgspec.structs import replace

from headcount.agents.codex import NAME
from headcount.agents.codex.open_conversations import ROLLOUT
from headcount.agents.kit import safe_reading
from headcount.agents.kit.hook_events import code_in_words
from headcount.agents.kit.labels import one_line, plain, redacted
from headcount.agents.kit.safe_reading import JsonReader, count_of, moment_of, read_end, text_of
from headcount.agents.kit.transcripts import TAIL, ConversationLine, Tail, last_spoken, spoken
from headcount.core.values.evidence import Glimpse
from headcount.core.values.report import Turn
from headcount.core.values.session import Spent

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
LIMITS = frozenset({"usage_limit_exceeded", "rate_limit_exceeded"})
SHELLS = frozenset({"exec_command", "shell", "shell_command", "local_shell"})

READ_TYPES = frozenset({"event_msg", "response_item", "turn_context", "session_meta"})

MOST = 512 * 1024
"""More than a glimpse reads: tool results lie between the messages."""

WHO = {"UserMessage": "user", "AgentMessage": "agent"}


class Failure(msgspec.Struct):
    codex_error_info: object = None


class RolloutUsage(msgspec.Struct):
    input_tokens: object = None  # includes cached tokens
    output_tokens: object = None


class TokenInfo(msgspec.Struct):
    last_token_usage: RolloutUsage | None = None
    total_token_usage: RolloutUsage | None = None
    model_context_window: object = None


class Item(msgspec.Struct):
    """The fields of a payload that are read, under the CLI's own names."""

    type: object = None
    name: object = None
    arguments: object = None
    model: object = None
    reason: object = None
    error: Failure | None = None
    info: TokenInfo | None = None
    cli_version: object = None


class RolloutLine(msgspec.Struct):
    timestamp: object = None
    type: object = None
    payload: msgspec.Raw = msgspec.Raw(b"{}")


class ToolArguments(msgspec.Struct):
    cmd: object = None
    command: object = None


_line = msgspec.json.Decoder(RolloutLine)
_item = msgspec.json.Decoder(Item)
_arguments = msgspec.json.Decoder(ToolArguments)


def glimpse(path: Path, conversation: str) -> Glimpse | None:
    tail = read_tail(path, conversation)
    return None if tail is None else tail.glimpse(NAME, conversation)


def is_of(path: Path, conversation: str) -> bool:
    match = ROLLOUT.fullmatch(str(path))
    return match is not None and match.group(1) == conversation


def read_tail(path: Path, conversation: str) -> Tail | None:
    end = read_end(path, TAIL) if is_of(path, conversation) else None
    return None if end is None else parse(end)


def parse(content: bytes) -> Tail:
    """What the complete lines say; later lines override earlier ones."""
    tail = Tail()
    for row in content.split(b"\n"):
        line = line_of(row)
        item = item_of(line) if line is not None and text_of(line.type) in READ_TYPES else None
        if line is not None and item is not None:
            tail = _after(tail, text_of(line.type), item, moment_of(line.timestamp))
    return tail


def line_of(row: bytes) -> RolloutLine | None:
    return safe_reading.line_of(_line, row)


def item_of(line: RolloutLine) -> Item | None:
    return safe_reading.decoded(_item, line.payload)


def _after(tail: Tail, kind: str, item: Item, at: float | None) -> Tail:
    if kind == "turn_context":
        model = plain(item.model, 100)
        return tail if model is None else replace(tail, model=model, model_at=at)
    if kind == "session_meta":
        return replace(tail, version=plain(item.cli_version, 40) or tail.version)
    if item.type == "token_count":
        return tail if item.info is None else _counted(tail, item.info)
    if at is None:
        return tail
    return _turned(tail, kind, item, at)


def _counted(tail: Tail, info: TokenInfo) -> Tail:
    last, total = info.last_token_usage or RolloutUsage(), info.total_token_usage or RolloutUsage()
    given, made = count_of(total.input_tokens), count_of(total.output_tokens)
    return replace(
        tail,
        context_tokens=count_of(last.input_tokens) or tail.context_tokens,
        context_window=count_of(info.model_context_window) or tail.context_window,
        spent=Spent(given, made) if given or made else tail.spent,
    )


def _turned(tail: Tail, kind: str, item: Item, at: float) -> Tail:
    if kind == "response_item":
        if text_of(item.type) in CALLS:
            return tail.after(Turn.TOOL, at, doing=label_of(item))
        return tail.after(Turn.TOOL_DONE, at) if text_of(item.type) in OUTPUTS else tail
    if item.type == "task_started":
        return tail.after(Turn.PROMPTED, at)
    if item.type == "turn_aborted":  # interrupted by the user: idle, with nothing new to read
        return tail.after(Turn.SETTLED, at)
    if item.type == "task_complete":
        return _ended(tail, item.error, at)
    return tail


def _ended(tail: Tail, error: Failure | None, at: float) -> Tail:
    if error is None:
        return tail.after(Turn.STOPPED, at)
    if text_of(error.codex_error_info) in LIMITS:
        return tail.after(Turn.FAILED, at, failure="limit")
    return tail.after(
        Turn.FAILED, at, doing=code_in_words(error.codex_error_info) or "error", failure="error"
    )


def label_of(item: Item) -> str:
    """A command is labelled as hooks label it; any other tool by its name only."""
    name = item.name if isinstance(item.name, str) else str(item.type)
    if name not in SHELLS:
        return one_line(name)
    given = safe_reading.decoded(_arguments, item.arguments) if isinstance(item.arguments, str) else None
    command = None if given is None else given.cmd if isinstance(given.cmd, str) else given.command
    if isinstance(command, list) and command:
        command = command[-1]
    return one_line(f"Bash: {redacted(command)}") if isinstance(command, str) and command else "Bash"


class Piece(msgspec.Struct):
    text: object = None


class Completed(msgspec.Struct, frozen=True):
    type: object = None
    content: tuple[Piece, ...] = ()


class RolloutEvent(msgspec.Struct):
    type: object = None
    item: Completed = Completed()


_event = JsonReader(RolloutEvent)


def peek(path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
    """The last `most` lines; None: there is no rollout to read."""
    end = read_end(path, MOST) if is_of(path, conversation) else None
    return None if end is None else last_spoken(end, lines, _said)


def _said(row: bytes) -> list[ConversationLine]:
    line = line_of(row)
    if line is None:
        return []
    item, at = item_of(line), moment_of(line.timestamp)
    if item is None:
        return []
    if line.type == "response_item" and text_of(item.type) in CALLS:
        return [ConversationLine("tool", label_of(item), at)]
    if line.type != "event_msg" or item.type != "item_completed":
        return []
    completed = _event.read_or_empty(line.payload).item
    who = WHO.get(completed.type) if isinstance(completed.type, str) else None
    return (
        [] if who is None else [each for piece in completed.content for each in spoken(who, piece.text, at)]
    )
