"""Claude Code's transcripts: state of the last turn (`glimpse`), and the last lines for a person (`peek`).

Rules
  1. Only the end of the file is read, and only when asked: TAIL bytes for a glimpse, MOST for a person (accident H5).
  2. A path comes from a payload: only a regular file of our own user that is named after the conversation is read.
  3. A line that is cut, damaged or unknown is skipped.
  4. A glimpse has no text: of a message only its kind, time, model and tool label; of titles only one that a user
     gave.
  5. `peek` returns text as it was written; the caller cleans it before printing. Nothing is stored. A tool is shown by its label,
     without its result. Reminders and commands of the CLI itself are left out.

Not here: when a transcript is read (daemon/observers/transcripts.py), what follows (core), who may ask
(daemon/routes/peek.py), two writers of one transcript (transcript_forks.py).
"""

from pathlib import Path

import msgspec
from msgspec.structs import replace

from headcount.agents.claude_code import NAME
from headcount.agents.claude_code.registry import name_of
from headcount.agents.claude_code.reports import ASKING_TOOLS, LIMITS
from headcount.agents.kit import safe_reading
from headcount.agents.kit.claude_style_payload import ToolInput, label
from headcount.agents.kit.labels import plain
from headcount.agents.kit.safe_reading import count_of, moment_of, read_end, text_of
from headcount.agents.kit.transcripts import TAIL, ConversationLine, Tail, last_spoken, spoken
from headcount.core.values.evidence import Glimpse
from headcount.core.values.report import Turn
from headcount.core.values.session import Spent

NOT_A_PROMPT = ("<command-", "<local-command", "<bash-", "<system-reminder>", "Caveat:")
INTERRUPTED = "[Request interrupted"
COST_MOST = 1e9

GOES_ON = frozenset({"tool_use", "pause_turn", ""})  # reasons after which the turn is not over

MOST = 512 * 1024
"""More than a glimpse reads: the newest CLI also writes each request into the file, in lines of 20 KB."""


class Usage(msgspec.Struct):
    input_tokens: object = 0
    cache_creation_input_tokens: object = 0
    cache_read_input_tokens: object = 0


class ModelUsage(msgspec.Struct):
    """One model's part of a `cost-state`."""

    inputTokens: object = 0
    outputTokens: object = 0
    cacheReadInputTokens: object = 0
    cacheCreationInputTokens: object = 0


class Block(msgspec.Struct):
    type: object = None
    text: object = None
    name: object = None
    input: msgspec.Raw = msgspec.Raw(b"{}")


class TranscriptMessage(msgspec.Struct):
    model: object = None
    stop_reason: object = None
    usage: Usage | None = None
    content: str | list[Block] = ""


class TranscriptLine(msgspec.Struct):
    """The fields of a line that are read, under the CLI's own names."""

    type: object = None
    subtype: object = None
    timestamp: object = None
    isSidechain: object = False
    isMeta: object = False
    isCompactSummary: object = False
    isApiErrorMessage: object = False
    error: object = None
    cwd: object = None
    customTitle: object = None
    version: object = None
    totalCostUSD: object = None
    modelUsage: dict[str, ModelUsage] | None = None
    message: TranscriptMessage | None = None


_decoder = msgspec.json.Decoder(TranscriptLine)
_input = msgspec.json.Decoder(ToolInput)


def read_tail(path: Path, conversation: str) -> Tail | None:
    """The end of that conversation's transcript; None when there is none to read."""
    if path.name != f"{conversation}.jsonl":
        return None
    end = read_end(path, TAIL)
    return None if end is None else parse(end)


def parse(content: bytes) -> Tail:
    """What the complete lines say; later lines override earlier ones."""
    tail = Tail()
    for row in content.split(b"\n"):
        line = line_of(row)
        if line is not None and not line.isSidechain:
            tail = _after(tail, line)
    return tail


def glimpse(path: Path, conversation: str) -> Glimpse | None:
    tail = read_tail(path, conversation)
    return None if tail is None else tail.glimpse(NAME, conversation)


def line_of(row: bytes) -> TranscriptLine | None:
    return safe_reading.line_of(_decoder, row)


def _after(tail: Tail, line: TranscriptLine) -> Tail:
    at = moment_of(line.timestamp)
    version = plain(line.version, 40)
    if version is not None and version != tail.version:
        tail = replace(tail, version=version)
    if line.type == "cost-state":
        return replace(tail, spent=_spent(line) or tail.spent)
    if line.type == "custom-title":  # not `ai-title` nor `agent-name`: a model makes those from a prompt
        title = name_of(line.customTitle)
        return tail if title is None else replace(tail, title=title)
    if at is None or line.message is None or line.isMeta:
        return tail
    if line.type == "assistant":
        return _answered(tail, line, line.message, at)
    return _given(tail, line.message, at) if line.type == "user" else tail


def _answered(tail: Tail, line: TranscriptLine, message: TranscriptMessage, at: float) -> Tail:
    if line.isApiErrorMessage is True:
        failure = "limit" if text_of(line.error) in LIMITS else "error"
        return tail.after(Turn.FAILED, at, failure=failure)
    tail = _counted(tail, message, at)
    used = [block for block in message.content if isinstance(block, Block) and block.type == "tool_use"]
    if used and isinstance(used[-1].name, str):
        tool = used[-1].name
        asks = ASKING_TOOLS.get(tool)
        turn = Turn.ASKED if asks else Turn.TOOL
        return tail.after(turn, at, waiting_on=asks, doing=label_of(tool, used[-1], line.cwd))
    if text_of(message.stop_reason) in GOES_ON:
        return tail.after(Turn.PROMPTED, at)
    return tail.after(Turn.STOPPED, at)


def _given(tail: Tail, message: TranscriptMessage, at: float) -> Tail:
    """Apply what was sent to the model: a prompt, a tool result, or the note that the user interrupted it."""
    content = message.content
    texts = [content] if isinstance(content, str) else [b.text for b in content if isinstance(b.text, str)]
    if any(text.startswith(INTERRUPTED) for text in texts):
        return tail.after(Turn.SETTLED, at)
    if not isinstance(content, str) and any(block.type == "tool_result" for block in content):
        return tail.after(Turn.TOOL_DONE, at)
    if all(text.lstrip().startswith(NOT_A_PROMPT) for text in texts):
        return tail  # a command of the CLI itself, or empty
    return tail.after(Turn.PROMPTED, at)


def _counted(tail: Tail, message: TranscriptMessage, at: float) -> Tail:
    model, usage = plain(message.model, 100), message.usage
    if model is None or model.startswith("<"):
        return tail  # written by the CLI itself, not by a model
    tail = replace(tail, model=model, model_at=at)
    if usage is None:
        return tail
    parts = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    used = sum(map(count_of, parts))
    return replace(tail, context_tokens=used)


def _spent(line: TranscriptLine) -> Spent | None:
    """Tokens and cost. The CLI writes them only when it leaves the conversation. Input includes cached tokens; values
    that are not numbers are left out."""
    if line.modelUsage is None:
        return None
    models = line.modelUsage.values()
    given = sum(
        count_of(each.inputTokens)
        + count_of(each.cacheReadInputTokens)
        + count_of(each.cacheCreationInputTokens)
        for each in models
    )
    cost = line.totalCostUSD
    made = sum(count_of(each.outputTokens) for each in models)
    if not isinstance(cost, int | float) or isinstance(cost, bool) or not 0 <= cost < COST_MOST:
        return Spent(given, made, None)
    return Spent(given, made, float(cost))


def label_of(tool: str, block: Block, cwd: object) -> str:
    return label(tool, safe_reading.decoded(_input, block.input) or ToolInput(), plain(cwd))


def peek(path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
    """The last `most` lines; None: there is no transcript to read."""
    end = read_end(path, MOST) if path.name == f"{conversation}.jsonl" else None
    return None if end is None else last_spoken(end, lines, _said)


def _said(row: bytes) -> list[ConversationLine]:
    line = line_of(row)
    if line is None or line.isSidechain or line.isMeta or line.isCompactSummary:
        return []
    message, at = line.message, moment_of(line.timestamp)
    if message is None or line.type not in ("user", "assistant"):
        return []
    who = "agent" if line.type == "assistant" else "user"
    if isinstance(message.content, str):
        return _texts(who, message.content, at)
    found: list[ConversationLine] = []
    for block in message.content:
        if block.type == "tool_use" and isinstance(block.name, str):
            found.append(ConversationLine("tool", label_of(block.name, block, line.cwd), at))
        elif block.type == "text":
            found += _texts(who, block.text, at)
    return found


def _texts(who: str, text: object, at: float | None) -> list[ConversationLine]:
    if isinstance(text, str) and text.lstrip().startswith(NOT_A_PROMPT):
        return []
    return spoken(who, text, at)
