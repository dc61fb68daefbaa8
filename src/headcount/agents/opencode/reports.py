"""From what our plugin tells of OpenCode to a report.

What a tool call of OpenCode is called: "bash: npm test", "edit: src/app.ts".

Rules
  1. Never raises. The plugin is ours, but whoever can write a file can write anything into it.
  2. One process has many conversations: every report says so (`beside`).
  3. A subagent is a conversation of its own in OpenCode, and background work of its parent here. Only a
     dialog in it speaks for the parent: it waits on the user all the same, and nothing else would show it
     (S3).
  4. The plugin's own time stands, unless it is later than the file's.
  5. A tool that is not in the table shows its name only: nobody knows what its input holds.
  6. Of an input only the one field in the table is read: no content, no prompt.

Not here: which events there are (hooks.py), what follows from a report (core); cutting and redacting
  (agents/kit/labels.py).
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from headcount.agents.interface import Unread
from headcount.agents.kit.hook_events import NOTHING, Said, code_in_words, event_of, report, unknown
from headcount.agents.kit.labels import one_line, plain, tool_line, tool_path
from headcount.agents.kit.safe_reading import NO_RAW, Reader, absolute, below, count_of, id_of, text_of
from headcount.agents.opencode import NAME
from headcount.agents.opencode.hooks import EVENTS, FIELDS
from headcount.core.values.report import Background, Details, Opening, Report, Turn, WaitingOn


class Args(msgspec.Struct):
    command: Any = None
    filePath: Any = None
    filepath: Any = None
    pattern: Any = None
    path: Any = None
    url: Any = None
    query: Any = None
    description: Any = None


FIELD_OF = {
    "bash": "command",
    "read": "filePath",
    "edit": "filePath",
    "write": "filePath",
    "list": "path",
    "glob": "pattern",
    "grep": "pattern",
    "webfetch": "url",
    "websearch": "query",
    "task": "description",
}
PATHS = frozenset({"filePath", "path"})


_args = Reader(Args)


def args_of(given: msgspec.Raw) -> Args:
    return _args.read_or_empty(given)


def label(tool: str, args: msgspec.Raw, directory: Any) -> str:
    """ "bash: npm test"; of a tool that is not in the table only its name."""
    field = FIELD_OF.get(tool)
    given = args_of(args)
    value = (getattr(given, field) or (given.filepath if field == "filePath" else None)) if field else None
    if field in PATHS:
        return tool_path(tool, value, directory)
    if field == "url":
        value = text_of(value).partition("?")[0]
    return tool_line(tool, value)


EVENT_NAME = re.compile(r"[a-z]{1,20}(?:\.[a-z]{1,20}){0,3}", re.ASCII)
EDITING_TOOLS = frozenset({"edit", "write", "multiedit", "patch"})
ABORTED = "MessageAbortedError"
TOO_MANY = 429


class Payload(msgspec.Struct):
    event: Any = None
    session: Any = None
    subagent: Any = None
    directory: Any = None
    at: Any = None
    database: Any = None
    agent: Any = None
    status: Any = None
    rejected: Any = None
    error: Any = None
    code: Any = None
    tool: Any = None
    reply: Any = None
    header: Any = None
    options: Any = None
    questions: Any = None
    model: Any = None
    args: msgspec.Raw = NO_RAW


_payload = Reader(Payload)


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = _payload.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = id_of(read.session)
    if conversation is None:
        return Unread("no usable session id")
    event = event_of(read.event, EVENT_NAME)
    said = SAYS[event](read) if event in SAYS else NOTHING
    when = _time(read.at, at)
    inner = id_of(read.subagent)
    details = Details(
        cwd=absolute(read.directory),
        model=plain(read.model, 100) if inner is None else None,
        transcript=absolute(read.database),
    )
    edits = _file(read) if event == "tool.execute.after" else None
    would_edit = _file(read) if event == "tool.execute.before" else None
    asks = said.turn is Turn.ASKED or event in ANSWERS
    subagent = None if asks else inner
    if inner is not None:
        said = _of_subagent(said, inner, event, read)
    return report(
        NAME,
        conversation,
        when,
        source,
        event,
        said,
        details,
        subagent=subagent,
        edits=edits,
        would_edit=would_edit,
        beside=True,
    )


def unknown_fields(payload: bytes) -> tuple[str, ...]:
    read = _payload.read(payload)
    return () if isinstance(read, str) else unknown(read.event, payload, EVENTS, FIELDS)


def _of_subagent(said: Said, inner: str, event: str, read: Payload) -> Said:
    """It opens and ends as its parent's background work, not as a conversation."""
    begun = Background(inner, "subagent", one_line(text_of(read.agent), 40))
    return msgspec.structs.replace(
        said,
        opening=None,
        leaving=None,
        started=begun if event in BEGINNINGS else None,
        ended=inner if event in ENDINGS else None,
    )


def _created(read: Payload) -> Said:
    return Said(Turn.STARTED, opening=Opening.STARTUP)


def _deleted(read: Payload) -> Said:
    return Said(leaving="deleted")


def _compacted(read: Payload) -> Said:
    return Said(Turn.COMPACTED)


def _busy(read: Payload) -> Said:
    return Said(Turn.PROMPTED, doing="retrying" if read.status == "retry" else None)


def _idle(read: Payload) -> Said:
    """After a dialog that its user refused there is nothing new to look at."""
    return Said(Turn.SETTLED if read.rejected is True else Turn.STOPPED)


def _error(read: Payload) -> Said:
    if read.error == ABORTED:
        return Said(Turn.SETTLED)
    failure = "limit" if read.code == TOO_MANY else "error"
    return Said(
        Turn.FAILED,
        failure=failure,
        doing=code_in_words(read.error),
    )


def _permission(read: Payload) -> Said:
    return Said(Turn.ASKED, waiting_on=WaitingOn.PERMISSION, doing=_doing(read))


def _question(read: Payload) -> Said:
    """The header of the first question and how many answers it offers, never the question itself."""
    header = one_line(read.header, 50) if isinstance(read.header, str) and read.header.strip() else "question"
    questions, options = count_of(read.questions), count_of(read.options)
    if questions > 1:
        shown = f"{header} ({questions} questions)"
    else:
        shown = f"{header} ({options} options)" if options else header
    return Said(Turn.ASKED, waiting_on=WaitingOn.QUESTION, doing=shown)


def _answered(read: Payload) -> Said:
    return Said(Turn.TOOL_DONE)


def _before_tool(read: Payload) -> Said:
    return Said(Turn.TOOL, doing=_doing(read))


SAYS: dict[str, Callable[[Payload], Said]] = {
    "session.created": _created,
    "session.deleted": _deleted,
    "session.compacted": _compacted,
    "session.status": _busy,
    "session.idle": _idle,
    "session.error": _error,
    "chat.message": _busy,
    "permission.asked": _permission,
    "permission.replied": _answered,
    "question.asked": _question,
    "question.replied": _answered,
    "question.rejected": _answered,
    "tool.execute.before": _before_tool,
    "tool.execute.after": _answered,
}

ANSWERS = frozenset({"permission.replied", "question.replied", "question.rejected"})
BEGINNINGS = frozenset({"session.created", "session.updated"})
ENDINGS = frozenset({"session.idle", "session.error", "session.deleted"})


def _doing(read: Payload) -> str | None:
    return label(read.tool, read.args, read.directory) if isinstance(read.tool, str) and read.tool else None


def _file(read: Payload) -> str | None:
    """The file that an editing tool is given, absolute; None: another tool, or no usable path."""
    if text_of(read.tool) not in EDITING_TOOLS:
        return None
    return below(read.directory, plain(args_of(read.args).filePath))


def _time(told: Any, at: float) -> float:
    """The plugin's own, where it is one; compared as it came, since a number may be too large for a float."""
    return float(told) if type(told) in (int, float) and 0 < told < at else at
