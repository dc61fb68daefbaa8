"""Drift in the files of Codex, OpenCode and Gemini CLI: what they wrote is known, what nobody knows is named."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount.agents.codex.adapter import CODEX
from headcount.agents.gemini.adapter import GEMINI
from headcount.agents.interface import Agent, Scanned, Strange
from headcount.agents.opencode.adapter import OPENCODE
from tests.agents.kit.test_last_lines import CHAT, ROLLOUT, SAMPLES, opencode


def rollout(home: Path) -> Path:
    path = home / ".codex" / "sessions" / "2026" / "11" / "16" / ROLLOUT.name
    path.parent.mkdir(parents=True)
    path.write_bytes(ROLLOUT.read_bytes())
    return path


def chat(home: Path) -> Path:
    path = home / ".gemini" / "tmp" / "project" / "chats" / CHAT.name
    path.parent.mkdir(parents=True)
    path.write_bytes(CHAT.read_bytes())
    return path


def database(home: Path) -> Path:
    place = home / ".local" / "share" / "opencode"
    place.mkdir(parents=True)
    return opencode(place)[0]


EACH = [
    pytest.param(CODEX, rollout, id="codex"),
    pytest.param(GEMINI, chat, id="gemini"),
    pytest.param(OPENCODE, database, id="opencode"),
]


def scan(agent: Agent, home: Path, **env: str) -> Scanned:
    return agent.drift(env, home, lambda read, of: None)


def names(scanned: Scanned) -> set[tuple[str, str, str]]:
    return {(each.file, each.kind, each.name) for each in scanned.strange}


@pytest.mark.parametrize(("agent", "written"), EACH)
def test_what_the_measured_version_wrote_is_known(
    agent: Agent, written: Callable[[Path], Path], tmp_path: Path
) -> None:
    assert scan(agent, tmp_path) == Scanned(0, ())
    written(tmp_path)
    assert scan(agent, tmp_path) == Scanned(1, ())


@pytest.mark.parametrize(("agent", "written"), EACH)
def test_a_damaged_file_is_passed_over(agent: Agent, written: Callable[[Path], Path], tmp_path: Path) -> None:
    path = written(tmp_path)
    for content in (b"", b"\x00" * 100, b"{", b'{"type": ' + b"[" * 100_000, b"\xff\xfe{}", b"null\n"):
        path.write_bytes(content)
        assert all(each.kind == "missing" for each in scan(agent, tmp_path).strange)


def test_every_recorded_rollout_is_known(tmp_path: Path) -> None:
    place = rollout(tmp_path).parent
    for each in (SAMPLES / "codex" / "rollouts").iterdir():
        (place / each.name).write_bytes(each.read_bytes())
    assert scan(CODEX, tmp_path).strange == ()


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def test_what_codex_wrote_and_nobody_knows_is_named_and_never_its_content(tmp_path: Path) -> None:
    path = rollout(tmp_path)
    path.write_bytes(
        lines(
            {"type": "hologram", "payload": {"secret": "SECRET"}, "aura": "SECRET"},
            {"type": "event_msg", "payload": {"type": "thunder", "text": "SECRET"}},
            {"type": "response_item", "payload": {"type": "smell", "role": "ghost"}},
            {"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "Dream"}}},
        )
    )
    hooks = {"hooks": {"SunRise": [{"hooks": [{"type": "pigeon", "command": "SECRET"}]}]}}
    (tmp_path / ".codex" / "hooks.json").write_text(json.dumps(hooks))
    scanned = scan(CODEX, tmp_path)
    assert names(scanned) == {
        ("transcript", "type", "hologram"),
        ("transcript", "field", "aura"),
        ("transcript", "event", "thunder"),
        ("transcript", "block", "smell"),
        ("transcript", "status", "role=ghost"),
        ("transcript", "block", "Dream"),
        ("settings", "event", "SunRise"),
        ("settings", "type", "pigeon"),
    }
    assert Strange("transcript", "type", "hologram", 1, f"{path} byte 0") in scanned.strange
    assert "SECRET" not in repr(scanned.strange)
    assert names(scan(CODEX, tmp_path / "nowhere", CODEX_HOME=str(tmp_path / ".codex"))) == names(scanned)


def test_what_gemini_wrote_and_nobody_knows_is_named_and_never_its_content(tmp_path: Path) -> None:
    chat(tmp_path).write_bytes(
        lines(
            {"sessionId": "x", "kind": "twin"},
            {"id": "1", "type": "ghost", "aura": "SECRET"},
            {
                "id": "2",
                "type": "gemini",
                "content": [{"smell": "SECRET"}],
                "toolCalls": [{"status": "dreaming"}],
            },
            {"$set": {"mood": "SECRET"}},
        )
    )
    hooks = {"hooks": {"SunRise": [], "disabled": []}}
    (tmp_path / ".gemini" / "settings.json").write_text(json.dumps(hooks))
    scanned = scan(GEMINI, tmp_path)
    assert names(scanned) == {
        ("transcript", "status", "kind=twin"),
        ("transcript", "type", "ghost"),
        ("transcript", "field", "aura"),
        ("transcript", "block", "smell"),
        ("transcript", "status", "status=dreaming"),
        ("transcript", "field", "mood"),
        ("settings", "event", "SunRise"),
    }
    assert "SECRET" not in repr(scanned.strange)


def test_what_opencode_keeps_and_nobody_knows_is_named_and_what_is_missing_too(tmp_path: Path) -> None:
    path = database(tmp_path)
    message = json.dumps({"role": "ghost", "finish": "boredom", "aura": "SECRET"})
    part = json.dumps({"type": "smell", "text": "SECRET"})
    with sqlite3.connect(path) as made:
        made.execute("ALTER TABLE session ADD COLUMN mood text")
        made.execute("ALTER TABLE session DROP COLUMN slug")
        made.execute("UPDATE message SET data = ?", (message,))
        made.execute("UPDATE part SET data = ? WHERE json_extract(data, '$.type') = 'text'", (part,))
    made.close()
    scanned = scan(OPENCODE, tmp_path)
    assert names(scanned) == {
        ("database", "field", "session.mood"),
        ("database", "missing", "session.slug"),
        ("database", "status", "role=ghost"),
        ("database", "status", "finish=boredom"),
        ("database", "field", "aura"),
        ("database", "block", "smell"),
    }
    assert "SECRET" not in repr(scanned.strange)
    place = {"XDG_DATA_HOME": str(tmp_path / ".local" / "share")}
    assert names(scan(OPENCODE, tmp_path / "nowhere", **place)) == names(scanned)
