"""The end of a rollout: how the last turn stands, which model answers, how full its context is.

Rules of this file
  1. Only the last TAIL bytes are ever read, and only when asked (accident H5).
  2. No text leaves this file: of an item only its kind, its time and the label of its tool.
  3. A line that is cut, damaged or unknown is passed over.
  4. The path was named by a payload or by the kernel: only a regular file of our own user that is called as the
     conversation.
  5. An approval is not written here: while one is open, the rollout shows the tool it is asked for.

Not here: when it is read (daemon/), what follows (core), its first line (hosting.py).
"""

import os
import stat
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from headcount.agents.codex.hosting import ROLLOUT
from headcount.agents.codex.translate import NAME
from headcount.agents.label import one_line, plain, redacted
from headcount.core.activity import Turned
from headcount.core.evidence import Glimpse
from headcount.core.report import Turn

TAIL = 64 * 1024

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
LIMITS = frozenset({"usage_limit_exceeded", "rate_limit_exceeded"})
SHELLS = frozenset({"exec_command", "shell", "shell_command", "local_shell"})


class Failure(msgspec.Struct):
    codex_error_info: Any = None


class Usage(msgspec.Struct):
    input_tokens: Any = None


class Info(msgspec.Struct):
    last_token_usage: Usage | None = None


class Item(msgspec.Struct):
    """The fields of a payload that are looked at, by the CLI's own names."""

    type: Any = None
    name: Any = None
    arguments: Any = None
    model: Any = None
    reason: Any = None
    error: Failure | None = None
    info: Info | None = None
    thread_name: Any = None


class Line(msgspec.Struct):
    timestamp: Any = None
    type: Any = None
    payload: msgspec.Raw = msgspec.Raw(b"{}")


class Arguments(msgspec.Struct):
    cmd: Any = None
    command: Any = None


@dataclass(frozen=True, slots=True)
class Tail:
    """What the end of a rollout says. None: it does not."""

    turn: Turn | None = None
    turn_at: float = 0.0
    doing: str | None = None
    failure: str | None = None
    title: str | None = None
    model: str | None = None
    context_tokens: int | None = None


READ_TYPES = frozenset({"event_msg", "response_item", "turn_context"})

_line = msgspec.json.Decoder(Line)
_item = msgspec.json.Decoder(Item)
_arguments = msgspec.json.Decoder(Arguments)


def glimpse(path: Path, conversation: str) -> Glimpse | None:
    tail = read_tail(path, conversation)
    return None if tail is None else evidence(tail, conversation)


def evidence(tail: Tail, conversation: str) -> Glimpse:
    """The tail as a word like a hook's, by the CLI's own time."""
    turned = None
    if tail.turn is not None:
        turned = Turned(tail.turn_at, tail.turn, "last turn", "transcript", None, tail.doing, tail.failure)
    return Glimpse(NAME, conversation, tail.title, tail.model, tail.context_tokens, turned)


def read_tail(path: Path, conversation: str) -> Tail | None:
    match = ROLLOUT.fullmatch(str(path))
    if match is None or match.group(1) != conversation:
        return None
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode) or seen.st_uid != os.geteuid():
            return None
        start = max(0, seen.st_size - TAIL)
        content = os.pread(fd, TAIL, start)
    except OSError:
        return None
    finally:
        os.close(fd)
    return parse(content if start == 0 else content.partition(b"\n")[2])


def parse(content: bytes) -> Tail:
    """What whole lines say, the later over the earlier."""
    tail = Tail()
    for row in content.split(b"\n"):
        try:
            line = _line.decode(row) if row.startswith(b"{") else None
            if line is not None and line.type in READ_TYPES:
                tail = _after(tail, line.type, _item.decode(line.payload), _time(line.timestamp))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
    return tail


def _after(tail: Tail, kind: str, item: Item, at: float | None) -> Tail:
    if kind == "turn_context":
        return replace(tail, model=plain(item.model, 100) or tail.model)
    if item.type == "token_count":
        usage = item.info.last_token_usage if item.info is not None else None
        used = usage.input_tokens if usage is not None else None
        return replace(tail, context_tokens=used) if isinstance(used, int) and used > 0 else tail
    if item.type == "thread_name_updated":
        name = item.thread_name
        return replace(tail, title=one_line(name) or None) if isinstance(name, str) else tail
    if at is None:
        return tail
    return _turned(tail, kind, item, at)


def _turned(tail: Tail, kind: str, item: Item, at: float) -> Tail:
    if kind == "response_item":
        if item.type in CALLS:
            return _said(tail, Turn.TOOL, at, doing=_label(item))
        return _said(tail, Turn.TOOL_DONE, at) if item.type in OUTPUTS else tail
    if item.type == "task_started":
        return _said(tail, Turn.PROMPTED, at)
    if item.type == "turn_aborted":  # by its user: at rest, and nothing new to look at
        return _said(tail, Turn.SETTLED, at)
    if item.type == "task_complete":
        return _ended(tail, item.error, at)
    return tail


def _ended(tail: Tail, error: Failure | None, at: float) -> Tail:
    if error is None:
        return _said(tail, Turn.STOPPED, at)
    said = error.codex_error_info
    word = said if isinstance(said, str) else "error"
    if word in LIMITS:
        return _said(tail, Turn.FAILED, at, failure="limit")
    return _said(tail, Turn.FAILED, at, doing=one_line(word.replace("_", " ")), failure="error")


def _said(tail: Tail, turn: Turn, at: float, doing: str | None = None, failure: str | None = None) -> Tail:
    return replace(tail, turn=turn, turn_at=at, doing=doing, failure=failure)


def _label(item: Item) -> str | None:
    """A command under the name that hooks give it; of any other tool its name only."""
    name = item.name if isinstance(item.name, str) else str(item.type)
    if name not in SHELLS:
        return one_line(name)
    try:
        given = _arguments.decode(item.arguments) if isinstance(item.arguments, str) else Arguments()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        given = Arguments()
    command = given.cmd if isinstance(given.cmd, str) else given.command
    if isinstance(command, list) and command:
        command = command[-1]
    return one_line(f"Bash: {redacted(command)}") if isinstance(command, str) and command else "Bash"


def _time(value: Any) -> float | None:
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None else None
