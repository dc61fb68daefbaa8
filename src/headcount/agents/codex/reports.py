"""Codex's hook events: all of them in one table, and what each says in a report.

Rules
  1. Never raises. What names no conversation is Unread; every other payload is a report.
  2. No prompt, answer or tool output leaves this file.
  3. Every report says `beside`: Codex's app server has the conversations of all terminals open at once.

Not here: installing (hooks.py), the rollout (transcript.py), reading a payload (agents/kit/hook_events.py), its parts,
which have the shape of Claude Code's (agents/kit/claude_style_payload.py).
"""

from headcount.agents.codex import NAME
from headcount.agents.interface import Unread
from headcount.agents.kit import hook_events
from headcount.agents.kit.claude_style_payload import label, tool_input
from headcount.agents.kit.hook_events import (
    OPENINGS,
    HookEvent,
    HookFields,
    HookTable,
    Payload,
    Use,
    event_of,
    left,
    report,
    subagent_began,
)
from headcount.agents.kit.labels import plain
from headcount.agents.kit.safe_reading import UUID, absolute, id_of, text_of
from headcount.core.values.report import Details, Opening, Report, Turn, WaitingOn


def translate(payload: bytes, at: float, source: str) -> Report | Unread:
    read = hook_events.read(payload)
    if isinstance(read, str):
        return Unread(read)
    conversation = id_of(read["session_id"], UUID)
    if conversation is None:
        return Unread("no usable session_id")
    event = event_of(read["hook_event_name"])
    said = EVENTS.said(event, read)
    details = Details(
        cwd=absolute(read["cwd"]),
        model=plain(read["model"], 100),
        transcript=absolute(read["transcript_path"]),
        permission_mode=plain(read["permission_mode"], 40),
    )
    return report(
        NAME,
        conversation,
        at,
        source,
        event,
        said,
        details,
        subagent=id_of(read["agent_id"], UUID),
        beside=True,
    )


def unknown_fields(payload: bytes) -> tuple[str, ...]:
    read = hook_events.read(payload)
    return () if isinstance(read, str) else EVENTS.unknown(read["hook_event_name"], read)


def _session_start(read: Payload) -> HookFields:
    if read["source"] == "compact":  # a compaction: the same conversation continues, none was opened
        return HookFields(Turn.COMPACTED)
    return HookFields(Turn.STARTED, opening=OPENINGS.get(text_of(read["source"]), Opening.STARTUP))


def _before_tool(read: Payload) -> HookFields:
    return HookFields(Turn.TOOL, doing=_doing(read))


def _permission(read: Payload) -> HookFields:
    return HookFields(Turn.ASKED, WaitingOn.PERMISSION, _doing(read))


def _subagent_start(read: Payload) -> HookFields:
    return subagent_began(id_of(read["agent_id"], UUID), read["agent_type"])


def _subagent_stop(read: Payload) -> HookFields:
    return HookFields(ended=id_of(read["agent_id"], UUID))


def _after_compact(read: Payload) -> HookFields:
    return HookFields(Turn.SETTLED if read["trigger"] == "manual" else Turn.COMPACTED)


EVENTS = HookTable(
    "session_id turn_id transcript_path cwd hook_event_name model permission_mode agent_id agent_type",
    (
        HookEvent("SessionStart", Use.ALWAYS, "a conversation opens; in the terminal at its first prompt",
                  "source", _session_start),
        HookEvent("UserPromptSubmit", Use.ALWAYS, "a turn begins", "prompt", lambda read: HookFields(Turn.PROMPTED)),
        HookEvent("Stop", Use.ALWAYS, "a turn ended well; a failed turn has no hook, the rollout tells it",
                  "stop_hook_active last_assistant_message", lambda read: HookFields(Turn.STOPPED)),
        HookEvent("Interrupt", Use.ALWAYS, "its user stopped the turn, also at an approval",
                  "", lambda read: HookFields(Turn.SETTLED)),
        HookEvent("SessionEnd", Use.ALWAYS, "the conversation was closed in its process",
                  "reason", lambda read: left(read["reason"])),
        HookEvent("PreToolUse", Use.LISTENING, "what it is doing now", "tool_name tool_input tool_use_id", _before_tool),
        HookEvent("PostToolUse", Use.LISTENING, "the tool ended; an approval asked for it was given",
                  "tool_name tool_input tool_use_id tool_response", lambda read: HookFields(Turn.TOOL_DONE)),
        HookEvent("PermissionRequest", Use.LISTENING, "it waits on its user; the rollout does not show this",
                  "tool_name tool_input", _permission),
        HookEvent("SubagentStart", Use.LISTENING, "work beside the main turn began", "", _subagent_start),
        HookEvent("SubagentStop", Use.LISTENING, "work beside the main turn ended",
                  "stop_hook_active last_assistant_message agent_transcript_path", _subagent_stop),
        HookEvent("PreCompact", Use.LISTENING, "a compaction runs",
                  "trigger", lambda read: HookFields(Turn.COMPACTING, doing="compacting")),
        HookEvent("PostCompact", Use.LISTENING, "the compaction is over", "trigger", _after_compact),
        HookEvent("PreModelRequest", Use.IGNORED, "comes before every request to the model; says nothing new"),
    ),
)  # fmt: skip


def _doing(read: Payload) -> str | None:
    tool = text_of(read["tool_name"])
    return label(tool, tool_input(read), absolute(read["cwd"])) if tool else None
