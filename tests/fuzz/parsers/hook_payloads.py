"""Hook payloads of the four agents: `translate` never raises, and what it makes can be decided, stored and shown."""

import json

import msgspec
from msgspec.structs import replace

from headcount.agents.catalog import AGENTS
from headcount.agents.interface import Agent, Unread
from headcount.core.values.report import Report
from headcount.daemon.views.session_row import event_row, session_row
from headcount.store.codec import encode_event, encode_session
from tests.fuzz.promises import is_absolute, is_id, is_label, is_moment, is_text
from tests.fuzz.target import Check, Target, sample_files
from tests.rig.core_values import Scene, bound, process

AT = 1_795_000_000.0
BACKGROUND_MOST = 100
UNKNOWN_MOST = 9
PROCESS = process(100)

SAMPLES = {
    "claude-code": sample_files("claude-code/[A-Z]*.json"),
    "codex": sample_files("codex/hooks/*.json"),
    "opencode": sample_files("opencode/hooks/*.json"),
    "gemini": sample_files("gemini/hooks/*.json"),
}


def check_of(agent: Agent) -> Check:
    def check(data: bytes) -> None:
        made = agent.translate(data, AT, "hook")
        is_promised(made, agent.name)
        for name in agent.unknown_fields(data):
            is_label(name, 60, "an unknown field")
        assert len(agent.unknown_fields(data)) <= UNKNOWN_MOST
        if isinstance(made, Report):
            is_heard(made)

    return check


def is_promised(made: Report | Unread, name: str) -> None:
    if isinstance(made, Unread):
        is_label(made.why, 80, "why it is unread")
        return
    assert made.agent == name
    is_id(made.conversation, "the conversation")
    is_id(made.subagent, "the subagent")
    is_label(made.event, 80, "the event")
    is_label(made.doing, 80, "doing")
    is_label(made.leaving, 40, "leaving")
    is_label(made.details.name, 80, "the name")
    assert made.failure in (None, "limit", "error"), made.failure
    is_moment(made.at, "its time")
    assert 0 <= made.at <= AT, f"a report of {made.at}"
    for each in (*(made.background or ()), *filter(None, [made.background_started])):
        is_id(each.id, "background work")
        is_label(each.kind, 40, "its kind")
        is_label(each.label, 80, "its label")
    assert len(made.background or ()) <= BACKGROUND_MOST
    for path in (made.edits, made.would_edit, made.details.cwd, made.details.transcript):
        is_absolute(path, "a path")
    for text in (made.details.model, made.details.permission_mode):
        is_text(text, "a detail")


def is_heard(made: Report) -> None:
    """The whole way of a report: decided on, stored, shown."""
    scene = Scene()
    scene.hear(replace(made, anchor=bound(PROCESS)), now=AT + 1)
    for session in scene.sessions():
        encode_session(session)
        msgspec.json.encode(session_row(session, scene.world))
    for event in scene.events:
        encode_event(event)
        msgspec.json.encode(event_row(event, scene.world))


def naive(name: str) -> Check:
    """The plain way: load, index, format."""

    def check(data: bytes) -> None:
        try:
            found = json.loads(data)
            conversation, event = found["session_id"], found["hook_event_name"]
        except (ValueError, KeyError):
            return
        doing = f"{found.get('tool_name')}: {found.get('tool_input')}"
        is_promised(Report(name, conversation, AT, "hook", event, doing=doing), name)

    return check


TARGETS = tuple(
    Target(f"payload-{name}", check_of(AGENTS[name]), naive(name), samples)
    for name, samples in SAMPLES.items()
)
