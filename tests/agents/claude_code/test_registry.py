"""Claude Code's own session files: strict about what is a record, tolerant of what is in it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from headcount.agents.claude_code.registry import ClaudeRegistry, parse
from headcount.agents.interface import RegistryEntry
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.report import Anchor, WaitingOn

SAMPLE = Path(__file__).parents[2] / "rig" / "samples" / "claude-code" / "registry-file.json"
REGISTRY = ClaudeRegistry()


def written(directory: Path, name: str = "28320.json", **changes: Any) -> Path:
    body = {**json.loads(SAMPLE.read_bytes()), **changes}
    path = directory / name
    path.write_text(json.dumps({key: value for key, value in body.items() if value is not ...}))
    return path


def read(path: Path) -> RegistryEntry:
    entry = REGISTRY.read(path)
    assert entry is not None
    return entry


def test_a_captured_record_is_read(tmp_path: Path) -> None:
    entry = read(written(tmp_path))
    assert (entry.pid, entry.started, entry.status) == (28320, 57000, "busy")
    assert entry.conversation == "8acb4678-b418-478d-8763-ddf683e7fb92"
    assert entry.status_at == 1794775100.903
    assert entry.written_at == pytest.approx(os.stat(tmp_path / "28320.json").st_mtime)
    assert entry.is_session
    assert entry.unknown == ()


def test_a_record_becomes_the_cores_record(tmp_path: Path) -> None:
    entry = read(written(tmp_path, status="waiting", waitingFor="permission prompt"))
    record = REGISTRY.record(entry, Anchor(by="registry"))
    assert (record.status, record.waiting_on, record.anchor.by) == (
        "waiting",
        WaitingOn.PERMISSION,
        "registry",
    )
    assert (record.details.name, record.details.cwd) == ("proj2-7d", "/home/dev/project")
    assert record.at == 1794775100.903


@pytest.mark.parametrize(
    ("waiting_for", "expected"),
    [("permission prompt", WaitingOn.PERMISSION), ("input needed", WaitingOn.QUESTION), ("dialog open", None)]
    + [("something new", None), (None, None)],
)
def test_what_it_waits_for_is_translated(
    tmp_path: Path, waiting_for: str | None, expected: WaitingOn | None
) -> None:
    entry = read(written(tmp_path, status="waiting", waitingFor=waiting_for))
    assert REGISTRY.record(entry, Anchor()).waiting_on is expected


def test_an_older_cli_without_status_is_read(tmp_path: Path) -> None:
    entry = read(written(tmp_path, status=..., statusUpdatedAt=..., updatedAt=..., pidDomain=...))
    record = REGISTRY.record(entry, Anchor())
    assert (record.status, record.at) == (None, entry.written_at)


def test_unknown_fields_and_statuses_are_named_and_harmless(tmp_path: Path) -> None:
    entry = read(written(tmp_path, status="dreaming", brandNew=1, waitingFor="Godot"))
    assert entry.unknown == ("brandNew", "status=dreaming", "waitingFor=Godot")
    assert REGISTRY.record(entry, Anchor()).status is None


def test_a_branch_named_after_its_prompt_has_no_name(tmp_path: Path) -> None:
    assert REGISTRY.read(written(tmp_path)).name == "proj2-7d"  # type: ignore[union-attr]
    body = SAMPLE.read_bytes().replace(b'"proj2-7d"', b'"mend the login (Branch)"')
    entry = parse(body, 28320)
    assert entry is not None and entry.name is None


@pytest.mark.parametrize("changes", [{"kind": "daemon"}, {"kind": "daemon-worker"}, {"spare": True}])
def test_the_agents_own_services_are_no_sessions(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert not read(written(tmp_path, **changes)).is_session


@pytest.mark.parametrize(
    "name",
    [
        "28320.json~",
        "a.json",
        "-1.json",
        "0.json",
        "028320.json",
        "２８３２０.json",
        "28320.abc.key",
        "28320.json\n",
    ],
)
def test_only_a_pid_is_a_record_name(tmp_path: Path, name: str) -> None:
    assert not REGISTRY.is_entry_name(name)
    assert REGISTRY.read(written(tmp_path, name)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"pid": 1},
        {"pid": "28320"},
        {"pid": 28320.5},
        {"sessionId": "../x"},
        {"sessionId": 7},
        {"sessionId": ...},
    ],
    ids=str,
)
def test_a_contradictory_record_is_ignored(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert REGISTRY.read(written(tmp_path, **changes)) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid":28320', b"\xff", b"[" * 50_000])
def test_an_incomplete_record_is_ignored(content: bytes) -> None:
    assert parse(content, 28320) is None


def test_a_torn_record_is_never_used_in_part() -> None:
    whole = SAMPLE.read_bytes()
    for cut in range(len(whole.rstrip()) - 1):
        assert parse(whole[:cut], 28320) is None


def test_links_pipes_and_directories_are_not_read_as_records(tmp_path: Path) -> None:
    target = written(tmp_path, "28320.json.real")
    (tmp_path / "28320.json").symlink_to(target)
    assert REGISTRY.read(tmp_path / "28320.json") is None
    os.mkfifo(tmp_path / "28321.json")
    assert REGISTRY.read(tmp_path / "28321.json") is None  # and does not hang
    (tmp_path / "28322.json").mkdir()
    assert REGISTRY.read(tmp_path / "28322.json") is None
    assert REGISTRY.read(tmp_path / "28323.json") is None


def test_a_record_that_grew_too_large_is_not_read(tmp_path: Path) -> None:
    assert REGISTRY.read(written(tmp_path, cwd="/" + "x" * 70_000)) is None


@pytest.mark.root
def test_another_users_record_is_not_read(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to make another user's file")
    path = written(tmp_path)
    os.chown(path, 65534, 65534)
    assert REGISTRY.read(path) is None


def facts(pid: int = 28320, started: int = 57000, namespace: int = 4026531836) -> ProcessFacts:
    return ProcessFacts(ProcessIdentity("boot", namespace, pid, started), 1, 0, "claude", ("claude",), None)


def test_a_record_names_exactly_the_process_that_wrote_it(tmp_path: Path) -> None:
    entry = read(written(tmp_path))
    assert REGISTRY.names(entry, facts())
    assert not REGISTRY.names(entry, facts(started=57001))  # the pid was given again
    assert not REGISTRY.names(entry, facts(pid=5))
    assert not REGISTRY.names(entry, facts(namespace=7))


def test_a_record_without_a_start_names_no_process(tmp_path: Path) -> None:
    assert not REGISTRY.names(read(written(tmp_path, procStart="Sun Nov 15 10:00:00 2026")), facts())


def test_roots_come_from_the_environment_or_home(tmp_path: Path) -> None:
    assert REGISTRY.roots({}, tmp_path) == [tmp_path / ".claude"]
    assert REGISTRY.roots({"CLAUDE_CONFIG_DIR": ""}, tmp_path) == [tmp_path / ".claude"]
    several = REGISTRY.roots({"CLAUDE_CONFIG_DIR": "/a:/b:/a:"}, tmp_path)
    assert several == [Path("/a"), Path("/b")]
    assert REGISTRY.directory(several[0]) == Path("/a/sessions")
