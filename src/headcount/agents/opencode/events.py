"""All that our plugin tells of OpenCode, and why.

Rules of this file
  1. One table: the plugin's events by their names in OpenCode. The translation, the status of the install and the
     docs read it.
  2. What is told always is rare; what comes with every tool is told only while somebody listens.

Not here: the plugin (plugin.js), what an event means (reports.py).
"""

from headcount.agents.hook_events import HookEvent, Use

_ROWS = (
    HookEvent("session.created", Use.ALWAYS, "a conversation opens, or a subagent's beside it"),
    HookEvent(
        "session.updated", Use.ALWAYS, "only the first of a conversation that this process did not create"
    ),
    HookEvent("session.deleted", Use.ALWAYS, "its user deleted the conversation"),
    HookEvent("session.compacted", Use.ALWAYS, "the conversation was made shorter; work goes on"),
    HookEvent("session.status", Use.ALWAYS, "busy or retry, when that changes"),
    HookEvent("session.idle", Use.ALWAYS, "a turn ended; once a turn, and not after an error"),
    HookEvent("session.error", Use.ALWAYS, "a turn ended by an error, a limit, or its user"),
    HookEvent("chat.message", Use.ALWAYS, "a turn begins; which model"),
    HookEvent("permission.asked", Use.ALWAYS, "it waits on its user"),
    HookEvent("permission.replied", Use.ALWAYS, "its user answered"),
    HookEvent("question.asked", Use.ALWAYS, "it waits on its user"),
    HookEvent("question.replied", Use.ALWAYS, "its user answered"),
    HookEvent("question.rejected", Use.ALWAYS, "its user would not answer"),
    HookEvent("tool.execute.before", Use.LISTENING, "what it is doing now"),
    HookEvent("tool.execute.after", Use.LISTENING, "the tool ended"),
)

EVENTS: dict[str, HookEvent] = {row.name: row for row in _ROWS}

FIELDS = frozenset({
    "event", "session", "subagent", "directory", "at", "database", "agent", "status", "rejected", "error", "code",
    "tool", "args", "reply", "header", "options", "questions", "model",
})  # fmt: skip
"""What the plugin of this version writes. Another version's may write more; that is counted."""
