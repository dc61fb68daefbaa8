"""From a hook payload of Codex to a report.

Rules of this file
  1. Never raises. What names no conversation is Unread; every other payload is a report.
  2. No prompt, no answer, no tool output leaves this file.
  3. Every report says `beside`: Codex's app server has the conversations of all terminals open at once.

The payloads have the shape of Claude Code's, so they are read by the same reader. Not here: which events are
registered (hooks.py), the rollout (transcript.py).
"""

from collections.abc import Callable

from headcount.agents.codex import NAME
from headcount.agents.codex.hooks import EVENTS, FIELDS
from headcount.agents.interface import Unread
from headcount.agents.kit import claude_style_payload as reading
from headcount.agents.kit.claude_style_payload import Payload, label
from headcount.agents.kit.hook_events import (
    NOTHING,
    OPENINGS,
    Said,
    event_of,
    left,
    report,
    subagent_began,
    unknown,
)
from headcount.agents.kit.labels import plain
from headcount.agents.kit.safe_reading import UUID, absolute, id_of, text_of
from headcount.core.values.report import Details, Opening, Report, Turn, WaitingOn


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = reading.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = id_of(read.session_id, UUID)
    if conversation is None:
        return Unread("no usable session_id")
    event = event_of(read.hook_event_name)
    said = SAYS[event](read) if event in SAYS else NOTHING
    details = Details(
        cwd=absolute(read.cwd),
        model=plain(read.model, 100),
        transcript=absolute(read.transcript_path),
        permission_mode=plain(read.permission_mode, 40),
    )
    return report(
        NAME, conversation, at, source, event, said, details, subagent=id_of(read.agent_id, UUID), beside=True
    )


def unknown_fields(payload: bytes) -> tuple[str, ...]:
    read = reading.read(payload)
    return () if isinstance(read, str) else unknown(read.hook_event_name, payload, EVENTS, FIELDS)


def _session_start(read: Payload) -> Said:
    if read.source == "compact":  # the same conversation, shorter: nothing opened
        return Said(Turn.COMPACTED)
    return Said(Turn.STARTED, opening=OPENINGS.get(text_of(read.source), Opening.STARTUP))


def _before_tool(read: Payload) -> Said:
    return Said(Turn.TOOL, doing=_doing(read))


def _permission(read: Payload) -> Said:
    return Said(Turn.ASKED, WaitingOn.PERMISSION, _doing(read))


def _subagent_start(read: Payload) -> Said:
    return subagent_began(id_of(read.agent_id, UUID), read.agent_type)


def _subagent_stop(read: Payload) -> Said:
    return Said(ended=id_of(read.agent_id, UUID))


def _after_compact(read: Payload) -> Said:
    return Said(Turn.SETTLED if read.trigger == "manual" else Turn.COMPACTED)


SAYS: dict[str, Callable[[Payload], Said]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": lambda read: Said(Turn.PROMPTED),
    "Stop": lambda read: Said(Turn.STOPPED),
    "Interrupt": lambda read: Said(Turn.SETTLED),
    "SessionEnd": lambda read: left(read.reason),
    "PreToolUse": _before_tool,
    "PostToolUse": lambda read: Said(Turn.TOOL_DONE),
    "PermissionRequest": _permission,
    "SubagentStart": _subagent_start,
    "SubagentStop": _subagent_stop,
    "PreCompact": lambda read: Said(Turn.COMPACTING, doing="compacting"),
    "PostCompact": _after_compact,
}


def _doing(read: Payload) -> str | None:
    tool = text_of(read.tool_name)
    return label(tool, reading.tool_input(read), absolute(read.cwd)) if tool else None
