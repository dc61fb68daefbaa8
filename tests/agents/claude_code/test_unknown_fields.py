"""Drift: what both measured versions wrote is known; what nobody knows is named, and nothing else is told."""

import json
from pathlib import Path

import pytest

from headcount.agents.claude_code import known
from headcount.agents.claude_code.drift import drift
from headcount.agents.interface import Scanned, Strange
from headcount.agents.strange import FILES_MOST, STRANGE_MOST

SAMPLES = Path(__file__).parents[2] / "rig" / "samples" / "claude-code"
ID = "8acb4678-1111-4222-8333-0123456789ab"


def scan(home: Path, **env: str) -> Scanned:
    return drift(env, home, lambda read, of: None)


def names(scanned: Scanned) -> set[tuple[str, str, str]]:
    return {(each.file, each.kind, each.name) for each in scanned.strange}


def transcript(home: Path, *records: object, name: str = ID) -> Path:
    path = home / ".claude" / "projects" / "-p" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return path


@pytest.mark.parametrize("version", ["2.1.325", "2.1.197"])
def test_what_a_measured_version_wrote_is_known(version: str) -> None:
    recorded = json.loads((SAMPLES / f"records-{version}.json").read_text())
    assert set(recorded) - known.RECORDS == set()
    assert {field for fields in recorded.values() for field in fields} - known.FIELDS == set()


def test_what_is_written_with_hooks_installed_is_known() -> None:
    written = {"hookCount", "hookInfos", "hookErrors", "hookAdditionalContext", "hasOutput", "stopReason"}
    written |= {"preventedContinuation", "toolUseID", "queueTranscriptOnly", "toolDenialKind"}
    assert written - known.FIELDS == set()


def test_the_recorded_transcript_and_registry_file_hold_nothing_strange(tmp_path: Path) -> None:
    path = transcript(tmp_path)
    path.write_bytes((SAMPLES / "transcript.jsonl").read_bytes())
    registry = json.loads((SAMPLES / "registry-file.json").read_text())
    (tmp_path / ".claude" / "sessions").mkdir()
    (tmp_path / ".claude" / "sessions" / f"{registry['pid']}.json").write_text(json.dumps(registry))
    scanned = scan(tmp_path)
    assert (scanned.files, scanned.strange) == (2, ())


def test_what_nobody_knows_is_named_with_its_count_and_place_and_never_its_content(tmp_path: Path) -> None:
    first = {"type": "hologram", "sessionId": ID, "secret": "SECRET"}
    message = {"content": [{"type": "smell", "text": "SECRET"}], "stop_reason": "boredom"}
    path = transcript(
        tmp_path,
        first,
        {"type": "hologram"},
        {"type": "system", "subtype": "thunder"},
        {"type": "assistant", "message": message, "permissionMode": "godMode"},
    )
    registry = tmp_path / ".claude" / "sessions" / "77.json"
    registry.parent.mkdir()
    registry.write_text(json.dumps({"pid": 77, "sessionId": ID, "status": "dreaming", "aura": "SECRET"}))
    hooks = {"hooks": {"SunRise": [{"hooks": [{"type": "pigeon", "command": "SECRET"}]}]}}
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps(hooks))
    scanned = scan(tmp_path)
    assert names(scanned) == {
        ("transcript", "type", "hologram"),
        ("transcript", "type", "system:thunder"),
        ("transcript", "field", "secret"),
        ("transcript", "block", "smell"),
        ("transcript", "status", "stop_reason=boredom"),
        ("transcript", "status", "permissionMode=godMode"),
        ("registry", "field", "aura"),
        ("registry", "status", "status=dreaming"),
        ("settings", "event", "SunRise"),
        ("settings", "type", "pigeon"),
    }
    [hologram] = [each for each in scanned.strange if each.name == "hologram"]
    assert hologram == Strange("transcript", "type", "hologram", 2, f"{path} byte 0")
    assert "SECRET" not in repr(scanned.strange)


def test_a_name_that_is_none_is_not_told(tmp_path: Path) -> None:
    transcript(tmp_path, {"type": "user", "my password is hunter2": 1, "\x1b]52;c;x\x07": 2})
    assert names(scan(tmp_path)) == {("transcript", "field", "(not a plain name)")}


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00" * 100, b"{", b"[1]\n{}\n", b'{"type": ' + b"[" * 100_000, b"\xff\xfe{}", b"null\n"],
)
def test_a_damaged_file_is_passed_over(tmp_path: Path, content: bytes) -> None:
    transcript(tmp_path).write_bytes(content)
    (tmp_path / ".claude" / "settings.json").write_bytes(content)
    scanned = scan(tmp_path)
    assert scanned.files == 2


def test_only_the_newest_files_are_read_and_each_is_told_of(tmp_path: Path) -> None:
    import os

    for nth in range(FILES_MOST + 20):
        path = transcript(tmp_path, {"type": f"old-{nth}"}, name=f"{nth:08d}-1111-4222-8333-0123456789ab")
        os.utime(path, (nth, nth))
    told: list[tuple[int, int]] = []
    scanned = drift({}, tmp_path, lambda read, of: told.append((read, of)))
    assert scanned.files == FILES_MOST
    assert told == [(nth, FILES_MOST) for nth in range(1, FILES_MOST + 1)]
    assert {each.name for each in scanned.strange} == {f"old-{nth}" for nth in range(20, FILES_MOST + 20)}


def test_no_files_is_no_fault_and_other_roots_are_followed(tmp_path: Path) -> None:
    assert scan(tmp_path) == Scanned(0, ())
    transcript(tmp_path / "elsewhere", {"type": "hologram"})
    root = tmp_path / "elsewhere" / ".claude"
    assert names(scan(tmp_path, CLAUDE_CONFIG_DIR=str(root))) == {("transcript", "type", "hologram")}


def test_what_is_strange_is_bounded(tmp_path: Path) -> None:
    transcript(tmp_path, *({"type": f"kind-{nth}"} for nth in range(1000)))
    assert len(scan(tmp_path).strange) == STRANGE_MOST
