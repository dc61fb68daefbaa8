"""Accidents that every agent can have, on what Codex really writes. Each with the naive way beside it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from headcount.agents.codex import open_conversations, transcript
from headcount.agents.codex.adapter import CODEX
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import OpenFile
from headcount.core.values.report import Report
from tests.rig.agents.open_conversations import CodexHost
from tests.rig.core_values import Scene, bound, process
from tests.rig.daemon.real_daemon import Daemon, eventually

SAMPLES = Path(__file__).parents[1] / "rig" / "samples" / "codex"
LONG = sorted((SAMPLES / "rollouts").iterdir())[0]
HOST = process(100)
THREAD = "01a1e22b-5ead-7421-bca6-1cce74188e07"
WORKER = "11111111-0000-4000-8000-000000000000"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "headcount", CODEX_HOME=str(tmp_path / "codex")) as running:
        yield running


def hook(event: str, at: float, **more: object) -> Report:
    payload = json.dumps({"session_id": THREAD, "hook_event_name": event, **more}).encode()
    report = CODEX.translate(payload, at, "hook")
    assert isinstance(report, Report)
    return replace(report, anchor=bound(HOST))


def told(*reports: Report | Glimpse) -> Scene:
    scene = Scene()
    for each in reports:
        scene.hear(each, now=3e9)
    return scene


def doing(scene: Scene) -> str:
    return scene.only().activity.doing.value


def upto(kind: str, nth: int) -> Glimpse:
    """What the recorded rollout showed when that line was its last."""
    lines = LONG.read_bytes().splitlines()
    at = [number for number, line in enumerate(lines) if b'"type":"%s"' % kind.encode() in line][nth]
    tail = transcript.parse(b"\n".join(lines[: at + 1]))
    return tail.glimpse("codex", THREAD)


def test_L5_a_turn_that_ended_without_a_hook_does_not_stay_working() -> None:
    """A limit fires no hook at all; the rollout tells. Without it (the naive way) it works for ever."""
    prompted = hook("UserPromptSubmit", 1_794_795_868.93)
    assert doing(told(prompted)) == "working"
    assert doing(told(prompted, upto("task_complete", 2))) == "failed"


def test_L5_an_interrupt_whose_hook_was_lost_does_not_stay_working() -> None:
    tool = hook("PreToolUse", 1_794_795_872.389, tool_name="Bash", tool_input={"command": "sleep 30"})
    assert doing(told(tool)) == "working"
    assert doing(told(tool, upto("turn_aborted", 1))) == "idle"


def test_L7_a_lock_file_that_outlived_its_process_is_nobody(daemon: Daemon, tmp_path: Path) -> None:
    """The naive way takes every lock file for a living conversation."""
    root = tmp_path / "codex"
    with CodexHost(tmp_path / "run", root) as server:
        conversation = server.open()
        eventually(lambda: daemon.sessions(conversation=conversation, liveness="alive"))
        server.kill()
    eventually(lambda: daemon.sessions(conversation=conversation, liveness="ended"))
    naive = [path.stem for path in (root / "thread-writer-locks").iterdir()]
    assert naive == [conversation]
    with CodexHost(tmp_path / "run2", root) as other:
        living = other.open()
        eventually(lambda: daemon.sessions(conversation=living, liveness="alive"))
        assert not daemon.sessions(conversation=conversation, liveness="alive")


def test_D3_a_session_whose_files_are_gone_lives_while_its_process_has_it_open(
    daemon: Daemon, tmp_path: Path
) -> None:
    with CodexHost(tmp_path / "run", tmp_path / "codex") as server:
        conversation = server.open()
        eventually(lambda: daemon.sessions(conversation=conversation, liveness="alive"))
        server.rollout(conversation).unlink()
        naive = list((tmp_path / "codex" / "sessions").rglob("*.jsonl"))
        assert naive == []  # who lists files lists nobody
        another = server.open()  # the next look sees both
        eventually(lambda: daemon.sessions(conversation=another, liveness="alive"))
        assert daemon.session(conversation=conversation)["liveness"] == "alive"


def test_D5_a_directory_that_cannot_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    """What was read of nothing says nothing: neither a directory nor that it is a subagent's."""
    missing = tmp_path / "no" / LONG.name
    assert open_conversations.read_head(missing) == open_conversations.RolloutHead()
    assert [each.conversation for each in open_conversations.hosted((OpenFile(str(missing)),))] == [THREAD]
    assert not os.path.exists(missing.parent)


def test_S1_a_subagent_that_ends_late_does_not_set_the_main_activity() -> None:
    scene = told(hook("Stop", 10.0), hook("PostToolUse", 11.0, agent_id=WORKER, tool_name="Bash"))
    assert doing(scene) == "done"
    assert doing(told(hook("Stop", 10.0), hook("PostToolUse", 11.0, tool_name="Bash"))) == "working"


def test_S2_a_late_tool_does_not_hide_a_running_compaction() -> None:
    scene = told(hook("PreCompact", 10.0, trigger="auto"), hook("PostToolUse", 11.0, tool_name="Bash"))
    assert scene.only().activity.label == "compacting"


def test_S3_an_approval_is_a_wait_and_the_rollout_which_does_not_show_it_does_not_hide_it() -> None:
    asked = hook(
        "PermissionRequest", 1_794_795_859.62, tool_name="Bash", tool_input={"command": "touch /tmp/zzz"}
    )
    naive = upto("function_call", 0)
    assert naive.turned is not None and doing(told(hook("SessionStart", 1.0), naive)) == "working"
    assert doing(told(asked, naive)) == "waiting"


def test_S4_an_approval_is_seen_by_the_request_itself() -> None:
    recorded = json.loads((SAMPLES / "hooks" / "PermissionRequest.json").read_bytes())
    tool = {key: recorded[key] for key in ("tool_name", "tool_input")}
    scene = told(hook("PreToolUse", 1.0, **tool), hook("PermissionRequest", 2.0, **tool))
    assert (doing(scene), scene.only().activity.label) == ("waiting", "Bash: touch /tmp/zzz")


def test_S5_a_subagent_that_still_runs_is_shown_beside_the_turn_that_ended() -> None:
    scene = told(hook("SubagentStart", 1.0, agent_id=WORKER, agent_type="explorer"), hook("Stop", 2.0))
    assert doing(scene) == "done" and [each.label for each in scene.only().background] == ["explorer"]


def test_S6_an_event_a_field_and_a_record_that_nobody_knows_are_harmless() -> None:
    scene = told(hook("UserPromptSubmit", 1.0), hook("Telepathy", 2.0, brainwaves=[1]))
    assert doing(scene) == "working"
    payload = json.dumps({"session_id": THREAD, "hook_event_name": "Telepathy", "brainwaves": [1]}).encode()
    assert CODEX.unknown_fields(payload) == ("event:Telepathy", "brainwaves")
    strange = b'{"timestamp":"2026-11-16T02:24:15Z","type":"dream","payload":{"type":"task_started"}}'
    assert transcript.parse(LONG.read_bytes() + strange) == transcript.parse(LONG.read_bytes())
