"""What our plugin in OpenCode writes: all events in one table, and what each says in a report.

Rules
  1. Never raises. The plugin is ours, but anything of the user's can write such a file.
  2. One process has many conversations: every report says so (`beside`).
  3. A subagent is a conversation of its own in OpenCode, and background work of its parent here. Only a dialog in it
     changes the parent: it waits for the user, and no other event shows that (S3).
  4. The plugin's own time counts, unless it is later than the file's.
  5. Written always: rare events. Written only while the daemon listens: events of every tool call.
  6. Of a tool's input only the one field in `FIELD_OF` is read; a tool that is not there shows its name only:
     "bash: npm test", "edit: src/app.ts".

Not here: the plugin (plugin.js) and installing it (hooks.py), what follows from a report (core), cutting and redacting
(agents/kit/labels.py).
"""

import re

import msgspec

from headcount.agents.interface import Unread
from headcount.agents.kit import hook_events
from headcount.agents.kit.hook_events import (
    HookEvent,
    HookFields,
    HookTable,
    Payload,
    Use,
    code_in_words,
    event_of,
    report,
)
from headcount.agents.kit.labels import one_line, plain, tool_line, tool_path
from headcount.agents.kit.safe_reading import JsonReader, absolute, below, count_of, id_of, text_of
from headcount.agents.opencode import NAME
from headcount.core.values.report import Background, Details, Opening, Report, Turn, WaitingOn

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

EVENT_NAME = re.compile(r"[a-z]{1,20}(?:\.[a-z]{1,20}){0,3}", re.ASCII)
EDITING_TOOLS = frozenset({"edit", "write", "multiedit", "patch"})
ABORTED = "MessageAbortedError"
TOO_MANY = 429
DIALOGS = ("permission.", "question.")


class Args(msgspec.Struct):
    command: object = None
    filePath: object = None
    filepath: object = None
    pattern: object = None
    path: object = None
    url: object = None
    query: object = None
    description: object = None


_args = JsonReader(Args)


def args_of(given: msgspec.Raw) -> Args:
    return _args.read_or_empty(given)


def label(tool: str, args: msgspec.Raw, directory: object) -> str:
    """ "bash: npm test"; of a tool that is not in the table only its name."""
    field = FIELD_OF.get(tool)
    given = args_of(args)
    value = (getattr(given, field) or (given.filepath if field == "filePath" else None)) if field else None
    if field in PATHS:
        return tool_path(tool, value, directory)
    if field == "url":
        value = text_of(value).partition("?")[0]
    return tool_line(tool, value)


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = hook_events.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = id_of(read["session"])
    if conversation is None:
        return Unread("no usable session id")
    event = event_of(read["event"], EVENT_NAME)
    said = EVENTS.said(event, read)
    when = _time(read["at"], at)
    inner = id_of(read["subagent"])
    details = Details(
        cwd=absolute(read["directory"]),
        model=plain(read["model"], 100) if inner is None else None,
        transcript=absolute(read["database"]),
    )
    subagent = None if event.startswith(DIALOGS) else inner
    return report(NAME, conversation, when, source, event, said, details, subagent=subagent, beside=True)


def unknown_fields(payload: bytes) -> tuple[str, ...]:
    read = hook_events.read(payload)
    return () if isinstance(read, str) else EVENTS.unknown(read["event"], read)


def _created(read: Payload) -> HookFields:
    started = _subagent(read)
    return HookFields(Turn.STARTED, started=started, opening=None if started else Opening.STARTUP)


def _updated(read: Payload) -> HookFields:
    return HookFields(started=_subagent(read))


def _deleted(read: Payload) -> HookFields:
    inner = id_of(read["subagent"])
    return HookFields(ended=inner, leaving=None if inner else "deleted")


def _busy(read: Payload) -> HookFields:
    return HookFields(Turn.PROMPTED, doing="retrying" if read["status"] == "retry" else None)


def _idle(read: Payload) -> HookFields:
    """The turn ended: idle after a dialog that the user refused, done otherwise."""
    return HookFields(
        Turn.SETTLED if read["rejected"] is True else Turn.STOPPED, ended=id_of(read["subagent"])
    )


def _error(read: Payload) -> HookFields:
    ended = id_of(read["subagent"])
    if read["error"] == ABORTED:
        return HookFields(Turn.SETTLED, ended=ended)
    failure = "limit" if read["code"] == TOO_MANY else "error"
    return HookFields(Turn.FAILED, failure=failure, doing=code_in_words(read["error"]), ended=ended)


def _subagent(read: Payload) -> Background | None:
    inner = id_of(read["subagent"])
    return None if inner is None else Background(inner, "subagent", one_line(text_of(read["agent"]), 40))


def _permission(read: Payload) -> HookFields:
    return HookFields(Turn.ASKED, waiting_on=WaitingOn.PERMISSION, doing=_doing(read))


def _question(read: Payload) -> HookFields:
    """The header of the first question and how many answers it offers, never the question itself."""
    header = one_line(text_of(read["header"]), 50) if text_of(read["header"]).strip() else "question"
    questions, options = count_of(read["questions"]), count_of(read["options"])
    if questions > 1:
        shown = f"{header} ({questions} questions)"
    else:
        shown = f"{header} ({options} options)" if options else header
    return HookFields(Turn.ASKED, waiting_on=WaitingOn.QUESTION, doing=shown)


def _answered(read: Payload) -> HookFields:
    return HookFields(Turn.TOOL_DONE)


def _before_tool(read: Payload) -> HookFields:
    return HookFields(Turn.TOOL, doing=_doing(read), would_edit=_file(read))


def _after_tool(read: Payload) -> HookFields:
    return HookFields(Turn.TOOL_DONE, edits=_file(read))


EVENTS = HookTable(
    "event session subagent directory at database agent",
    (
        HookEvent("session.created", Use.ALWAYS, "a conversation opens, or a subagent's beside it", "", _created),
        HookEvent("session.updated", Use.ALWAYS, "only the first of a conversation that this process did not create",
                  "", _updated),
        HookEvent("session.deleted", Use.ALWAYS, "its user deleted the conversation", "", _deleted),
        HookEvent("session.compacted", Use.ALWAYS, "the conversation was made shorter; work goes on",
                  "", lambda read: HookFields(Turn.COMPACTED)),
        HookEvent("session.status", Use.ALWAYS, "busy or retry, when that changes", "status", _busy),
        HookEvent("session.idle", Use.ALWAYS, "a turn ended; once a turn, and not after an error", "rejected", _idle),
        HookEvent("session.error", Use.ALWAYS, "a turn ended by an error, a limit, or its user", "error code", _error),
        HookEvent("chat.message", Use.ALWAYS, "a turn begins; which model", "model", _busy),
        HookEvent("permission.asked", Use.ALWAYS, "it waits on its user", "tool args", _permission),
        HookEvent("permission.replied", Use.ALWAYS, "its user answered", "reply", _answered),
        HookEvent("question.asked", Use.ALWAYS, "it waits on its user", "header options questions", _question),
        HookEvent("question.replied", Use.ALWAYS, "its user answered", "", _answered),
        HookEvent("question.rejected", Use.ALWAYS, "its user would not answer", "", _answered),
        HookEvent("tool.execute.before", Use.LISTENING, "what it is doing now", "tool args", _before_tool),
        HookEvent("tool.execute.after", Use.LISTENING, "the tool ended", "tool args", _after_tool),
    ),
)  # fmt: skip
"""The names are OpenCode's. The fields are those that this version of our plugin writes."""


def _doing(read: Payload) -> str | None:
    tool = text_of(read["tool"])
    return label(tool, read.raw("args"), read["directory"]) if tool else None


def _file(read: Payload) -> str | None:
    """The file that an editing tool is given, absolute; None: another tool, or no usable path."""
    if text_of(read["tool"]) not in EDITING_TOOLS:
        return None
    return below(read["directory"], plain(args_of(read.raw("args")).filePath))


def _time(told: object, at: float) -> float:
    """The plugin's own time if valid. It is compared as it came, because it may be too large for a float."""
    if isinstance(told, bool) or not isinstance(told, int | float):
        return at
    return float(told) if 0 < told < at else at
