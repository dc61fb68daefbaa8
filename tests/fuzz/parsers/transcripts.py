"""Conversations as the agents write them: Claude Code's transcripts, Codex's rollouts, Gemini's chats, OpenCode's rows.

Each is read as the daemon reads it, from a file: a glimpse, the last lines, the branches. None raises, each is bounded,
and what a glimpse says can be decided on and stored.
"""

import atexit
import json
import shutil
import sqlite3
import tempfile
from functools import cache
from pathlib import Path

from headcount.agents.claude_code.adapter import CLAUDE_CODE
from headcount.agents.codex.adapter import CODEX
from headcount.agents.gemini.adapter import GEMINI
from headcount.agents.interface import Agent
from headcount.agents.opencode.adapter import OPENCODE
from headcount.core.values.evidence import Glimpse
from headcount.store.codec import encode_event, encode_session
from tests.fuzz.promises import is_count, is_label, is_moment, is_text
from tests.fuzz.target import SAMPLES, Check, Target, sample_lines
from tests.rig.core_values import Scene, report

CONVERSATION = "01a1e22b-5ead-7421-bca6-1cce74188e07"
LINES = 20
LINE_MOST = 4_002
NAMES = {
    "claude-code": f"{CONVERSATION}.jsonl",
    "codex": f"sessions/2026/11/16/rollout-2026-11-16T02-24-15-{CONVERSATION}.jsonl",
    "gemini": f"session-2026-11-16T02-20-{CONVERSATION[:8]}.jsonl",
}


@cache
def place() -> Path:
    """In memory where the system has such a place: a file is written for each input."""
    memory = Path("/dev/shm")
    made = Path(tempfile.mkdtemp(prefix="headcount-fuzz-", dir=memory if memory.is_dir() else None))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def check_of(agent: Agent) -> Check:
    def check(data: bytes) -> None:
        path = place() / agent.name / NAMES[agent.name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        is_promised(agent, path, CONVERSATION)

    return check


def is_promised(agent: Agent, path: Path, conversation: str) -> None:
    seen = agent.glimpse(path, conversation)
    if seen is not None:
        is_glimpse(seen)
    said = agent.peek(path, conversation, LINES)
    for each in said or ():
        assert each.who in ("user", "agent", "tool"), each.who
        assert len(each.text) <= LINE_MOST and each.text.strip(), "a line of nothing, or one that is too long"
        each.text.encode()
        is_moment(each.at, "when it was said")
    assert len(said or ()) <= LINES
    for branch in agent.branches(path, conversation):
        assert all(len(text) <= 64 for text in branch.values())


def is_glimpse(seen: Glimpse) -> None:
    is_label(seen.title, 80, "the title")
    is_text(seen.model, "the model")
    is_moment(seen.model_at, "when the model answered")
    is_text(seen.version, "the version")
    is_count(seen.context_tokens, "the context")
    is_count(seen.context_window, "the window")
    if seen.spent is not None:
        is_count(seen.spent.input, "tokens")
        is_count(seen.spent.output, "tokens")
        is_moment(seen.spent.cost_usd, "the cost")
    if seen.turned is not None:
        is_moment(seen.turned.at, "the turn")
        assert seen.turned.at >= 0, "a turn before there were clocks"
        is_label(seen.turned.label, 80, "doing")
    is_heard(seen)


def is_heard(seen: Glimpse) -> None:
    scene = Scene()
    started = report("SessionStart", conversation=seen.conversation)
    scene.hear(type(started)(seen.agent, seen.conversation, 1.0, "hook", "SessionStart"))
    scene.hear(seen)
    for session in scene.sessions():
        encode_session(session)
    for event in scene.events:
        encode_event(event)


# --- OpenCode's rows -------------------------------------------------------------------------------


@cache
def database() -> tuple[sqlite3.Connection, Path, str]:
    """The recorded one; what is changed for each input is the last message and one part of it."""
    path = place() / "opencode" / "opencode.db"
    path.parent.mkdir(exist_ok=True)
    made = sqlite3.connect(path, isolation_level=None)
    made.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;")
    made.executescript((SAMPLES / "opencode" / "database.sql").read_text())
    [[id]] = made.execute("SELECT id FROM session").fetchall()
    return made, path, id


def check_rows(data: bytes) -> None:
    made, path, id = database()
    text = data.decode("utf-8", "replace")
    made.execute("UPDATE message SET data = ?", (text,))
    made.execute("UPDATE part SET data = ?", (text,))
    made.execute("UPDATE session SET title = ?", (text[:2000],))
    is_promised(OPENCODE, path, id)


def rows() -> list[bytes]:
    made, _, _ = database()
    found = made.execute("SELECT data FROM message UNION ALL SELECT data FROM part").fetchall()
    return [str(data).encode() for [data] in found]


# --- the plain way ---------------------------------------------------------------------------------


def naive(data: bytes) -> None:
    """Every line loaded, the newest text taken for the title."""
    for row in data.splitlines():
        try:
            line = json.loads(row)
            title = line.get("message", line)["content"]
        except (ValueError, KeyError):
            continue
        is_label(title, 80, "the title")


def naive_rows(data: bytes) -> None:
    try:
        found = json.loads(data)
        began = found["time"]["created"] / 1000
    except (ValueError, KeyError):
        return
    is_moment(began, "the turn")
    is_label(found["modelID"], 80, "the model")


TARGETS = (
    Target(
        "transcript-claude-code",
        check_of(CLAUDE_CODE),
        naive,
        sample_lines("claude-code/transcript.jsonl"),
        slow=True,
    ),
    Target("rollout-codex", check_of(CODEX), naive, sample_lines("codex/rollouts/*.jsonl"), slow=True),
    Target("chat-gemini", check_of(GEMINI), naive, sample_lines("gemini/chats/*.jsonl"), slow=True),
    Target("rows-opencode", check_rows, naive_rows, rows, slow=True),
)
