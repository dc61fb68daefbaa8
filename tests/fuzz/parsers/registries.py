"""Claude Code's registry files: a record is whole and plain, or it is none."""

import json

from headcount.agents.claude_code.registry import ClaudeRegistry, parse
from headcount.agents.interface import RegistryEntry
from headcount.core.values.process import ProcessFacts
from headcount.store.codec import encode_event, encode_session
from tests.fuzz.promises import is_absolute, is_count, is_id, is_label, is_moment, is_text
from tests.fuzz.target import Target, sample_files
from tests.rig.core_values import Scene, bound, process

SESSIONS = ClaudeRegistry()


def check(data: bytes) -> None:
    pid = _pid(data)
    entry = parse(data, pid, written_at=5.0)
    if entry is None:
        return
    is_promised(entry, pid)
    scene = Scene()
    identity = process(pid)
    SESSIONS.names(entry, ProcessFacts(identity, 1, 1, "claude", ("claude",), None, None))
    scene.hear(SESSIONS.record(entry, bound(identity, "registry")))
    for session in scene.sessions():
        encode_session(session)
    for event in scene.events:
        encode_event(event)


def is_promised(entry: RegistryEntry, pid: int) -> None:
    assert entry.pid == pid and type(entry.pid) is int
    is_id(entry.conversation, "the conversation")
    for number in (entry.started, entry.namespace):
        is_count(number, "a number")
    for at in (entry.status_at, entry.opened_at, entry.written_at):
        is_moment(at, "a time")
    is_absolute(entry.cwd, "the directory")
    is_label(entry.name, 80, "the name")
    for text in (entry.status, entry.waiting_for, entry.version, entry.kind, entry.entrypoint, entry.tmux):
        is_text(text, "a word")
    assert len(entry.unknown) <= 10
    for text in entry.unknown:
        is_label(text, 60, "an unknown field")


def _pid(data: bytes) -> int:
    """The file is named after the pid that it speaks of; else nothing of it would be read."""
    try:
        found = json.loads(data)
        pid = found["pid"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 100
    return pid if type(pid) is int and 0 < pid < 10**10 else 100


def naive(data: bytes) -> None:
    try:
        found = json.loads(data)
        entry = RegistryEntry(
            found["pid"], int(found["procStart"]), None, found["sessionId"], found["kind"] not in ("daemon",),
            cwd=found.get("cwd"), status_at=found["updatedAt"] / 1000, name=found.get("name"),
        )  # fmt: skip
    except (ValueError, KeyError):
        return
    is_promised(entry, _pid(data))


TARGETS = (Target("registry", check, naive, sample_files("claude-code/registry-file.json")),)
