"""Accidents H5 to H9, H13 to H15 and H17: what being watched does to an agent. Each with the naive way that did it.

What the real CLI prints, refuses and waits for is in tests/real/test_hooks_are_silent.py."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount.agents.claude_code.hooks import HOOKS
from headcount.agents.claude_code.reports import EVENTS
from headcount.agents.claude_code.transcript import TAIL, read_tail
from headcount.agents.installing import hook_line_mailbox
from headcount.agents.installing.hook_line_mailbox import SHELL, line
from headcount.agents.kit.hook_events import Use
from tests.accidents.test_claude_identity import register
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.naive_ways import naive_claude as naive

Make = Callable[..., Agent]
PAYLOAD = b'{"session_id": "some-conversation", "hook_event_name": "PreToolUse"}'
LINES = pytest.mark.parametrize("listening", [False, True], ids=["always", "while listening"])


def run(command: str, given: bytes = PAYLOAD) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([SHELL, "-c", command], input=given, capture_output=True, timeout=30)


def headcount(env: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "headcount", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)


def user(tmp_path: Path, **more: str) -> dict[str, str]:
    (tmp_path / "user").mkdir(exist_ok=True)
    places = {"HOME": str(tmp_path / "user"), "HEADCOUNT_HOME": str(tmp_path / "headcount")}
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **places, **more}


# --- H5 -----------------------------------------------------------------------------------------------

MODEL = "some-model"
LAST = (
    '{"type": "assistant", "timestamp": "2026-01-02T00:00:00Z", "message": {"model": "some-model", '
    '"stop_reason": "end_turn", "usage": {"input_tokens": 9}, "content": []}}\n'
)


def test_H5_of_a_long_transcript_only_the_tail_is_read(tmp_path: Path) -> None:
    conversation = "long-conversation"
    path = tmp_path / f"{conversation}.jsonl"
    filler = json.dumps(
        {"type": "user", "message": {"content": "x" * 1000}, "timestamp": "2026-01-01T00:00:00Z"}
    )
    with path.open("w") as file:
        for _ in range(40_000):
            file.write(filler + "\n")
        file.write(LAST)
    before = _read_by_this_thread()
    tail = read_tail(path, conversation)
    read = _read_by_this_thread() - before
    assert tail is not None and tail.model == MODEL
    assert read <= TAIL + 4096 < naive.whole_transcripts(tmp_path) / 500


def _read_by_this_thread() -> int:
    text = Path(f"/proc/self/task/{threading.get_native_id()}/io").read_text()
    return int(next(row.split()[1] for row in text.splitlines() if row.startswith("rchar")))


MUCH = 2_000_000


def test_H5_an_idle_daemon_reads_no_transcript(daemon: Daemon, agent: Make, tmp_path: Path) -> None:
    claude = agent()
    path = tmp_path / f"{claude.conversation}.jsonl"
    path.write_bytes(b'{"type": "user"}\n' * 500_000 + LAST.encode())  # 8.5 MB
    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        claude.hook(daemon.mailbox, event, transcript_path=str(path))
    # the model stands in the transcript only: it has had its look after the turn
    eventually(lambda: daemon.sessions(conversation=claude.conversation, activity="done", model=MODEL))
    first = _read_by(daemon.pid)
    time.sleep(2)
    assert _read_by(daemon.pid) - first < MUCH  # of /proc it may read, when agents come and go elsewhere
    assert naive.whole_transcripts(tmp_path) > 8_000_000  # every few seconds, the naive way


def _read_by(pid: int) -> int:
    rows = Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(next(row.split()[1] for row in rows if row.startswith("rchar")))


# --- H6, H8, H9 ---------------------------------------------------------------------------------------


def test_H6_only_observing_events_are_registered(tmp_path: Path) -> None:
    env = user(tmp_path)
    assert headcount(env, "hooks", "install").returncode == 0
    settings = json.loads((tmp_path / "user/.claude/settings.json").read_text())
    replacing = {name for name, row in EVENTS.items() if row.use is Use.NEVER}
    assert "WorktreeCreate" in replacing
    assert set(settings["hooks"]) == {row.name for row in EVENTS.installed}
    assert not replacing & set(settings["hooks"])
    assert replacing < set(naive.settings_for_all(EVENTS, "x")["hooks"])


def is_well_formed(settings: dict[str, Any]) -> bool:
    """The form that the agent accepts; one entry that is not so makes it refuse the whole file."""
    for groups in settings["hooks"].values():
        for group in groups:
            if not isinstance(group.get("hooks"), list):
                return False
            for each in group["hooks"]:
                if each.get("type") != "command" or not isinstance(each.get("command"), str):
                    return False
    return True


def test_H8_every_entry_that_is_written_is_well_formed(tmp_path: Path) -> None:
    env = user(tmp_path)
    settings = tmp_path / "user/.claude/settings.json"
    settings.parent.mkdir()
    mine = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [mine]}}))
    assert headcount(env, "hooks", "install").returncode == 0
    after = json.loads(settings.read_text())
    assert is_well_formed(after) and after["hooks"]["PreToolUse"][0] == mine
    assert not is_well_formed(naive.settings_in_short(EVENTS, "x"))


@pytest.mark.parametrize(
    "text",
    [
        '{"permissions": {"deny": ["Bash(rm:*)"]},}',
        '{"a": 1',
        "not json",
        '{"hooks": []}',
        '{"hooks": {"Stop": 3}}',
    ],
)
def test_H9_settings_that_cannot_be_parsed_are_refused_untouched(tmp_path: Path, text: str) -> None:
    env = user(tmp_path)
    settings = tmp_path / "user/.claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(text)
    before = settings.stat()
    done = headcount(env, "hooks", "install")
    assert done.returncode == 1 and "settings.json" in done.stdout + done.stderr
    assert settings.read_text() == text
    assert settings.stat().st_mtime_ns == before.st_mtime_ns and settings.stat().st_ino == before.st_ino
    naive.installed_over(settings, {"hooks": {}})
    assert settings.read_text() != text  # whatever it said is gone, or is no longer what it was


# --- H7, H17 ------------------------------------------------------------------------------------------


@pytest.fixture(params=["missing", "a file", "read-only", "gone to a full disk"])
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Mailboxes that nothing can be dropped into."""
    mailbox = tmp_path / "mailbox"
    if request.param == "a file":
        mailbox.write_text("x")
    elif request.param == "read-only":
        mailbox.mkdir()
        subprocess.run(["chattr", "+i", mailbox], capture_output=True)
    elif request.param == "gone to a full disk":
        mailbox = Path("/dev/full")
    yield mailbox
    if request.param == "read-only":
        subprocess.run(["chattr", "-i", mailbox], capture_output=True)


@LINES
def test_H7_a_hook_is_silent_whatever_is_broken(broken: Path, listening: bool) -> None:
    done = run(line(broken, only_while_listening=listening))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_H7_the_naive_hook_of_an_uninstalled_program_prints_at_every_event() -> None:
    done = run(naive.MISSING_PROGRAM)
    assert done.returncode != 0 and b"not found" in done.stderr


@LINES
def test_H17_a_line_never_exits_two(broken: Path, listening: bool) -> None:
    assert run(line(broken, only_while_listening=listening)).returncode == 0


def test_H17_the_naive_line_blocks_the_tool_when_its_directory_is_gone(tmp_path: Path) -> None:
    done = run(naive.REDIRECTED.format(mailbox=tmp_path / "gone"))
    assert done.returncode == 2  # which the agent reads as: do not run this tool


def test_H17_a_line_that_does_not_work_here_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_line = naive.REDIRECTED.format(mailbox=tmp_path / "gone")
    monkeypatch.setattr(hook_line_mailbox, "line", lambda *_, **__: broken_line)
    outcome = HOOKS.install(tmp_path / ".claude", tmp_path / "mailbox", tmp_path)
    assert "exited 2" in str(outcome)
    assert not (tmp_path / ".claude").exists()


# --- H13 ----------------------------------------------------------------------------------------------


def test_H13_a_hung_daemon_costs_an_agent_nothing(daemon: Daemon) -> None:
    """The figures are in docs/benchmarks.md; here only that no hook waits for anybody."""
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        ours, curl = line(daemon.mailbox, only_while_listening=True), naive.curl_line(daemon.socket)
        began = time.monotonic()
        for _ in range(20):
            assert run(ours).returncode == 0
        waited = time.monotonic() - began
        began = time.monotonic()
        assert run(curl).returncode == 0
        assert time.monotonic() - began >= 0.9  # a second for one event
        assert waited < 20 * 0.25
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    eventually(lambda: len([name for name in os.listdir(daemon.mailbox) if not name.startswith(".")]) == 0)


# --- H14 ----------------------------------------------------------------------------------------------


def test_H14_several_roots_are_honoured_at_once(tmp_path: Path, agent: Make) -> None:
    roots = [tmp_path / "work root", tmp_path / "private"]
    for root in roots:
        root.mkdir()
    with Daemon(tmp_path / "headcount", CLAUDE_CONFIG_DIR=os.pathsep.join(map(str, roots))) as daemon:
        assert headcount(daemon.env, "hooks", "install").returncode == 0
        for root in roots:
            claude = agent()
            register(root, claude.pid, claude.conversation)
            assert daemon.session(conversation=claude.conversation)["pid"] == claude.pid
            assert is_well_formed(json.loads((root / "settings.json").read_text()))
        default = naive.root_at_home(daemon.env)
        assert default not in roots and not default.exists()


# --- H15 ----------------------------------------------------------------------------------------------


def network_calls(command: str, log: Path) -> list[str]:
    words = ["strace", "-f", "-qq", "-o", str(log), "-e", "trace=socket,connect,sendto", SHELL, "-c", command]
    subprocess.run(words, input=PAYLOAD, capture_output=True, timeout=30)
    return [row for row in log.read_text().splitlines() if "AF_" in row or "connect(" in row]


def test_H15_a_hook_talks_to_no_port(tmp_path: Path) -> None:
    got: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as squatter:
        squatter.settimeout(10)
        port = squatter.getsockname()[1]

        def answer() -> None:
            peer, _ = squatter.accept()
            with peer:
                got.append(peer.recv(65536))
                allow = b'{"hookSpecificOutput": {"permissionDecision": "allow"}}'
                peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(allow), allow))

        thread = threading.Thread(target=answer)
        thread.start()
        told = run(naive.http_line(port), b'{"prompt": "a secret"}')
        thread.join(10)
    assert b"a secret" in got[0] and b"allow" in told.stdout  # it hears all and answers for the daemon
    mailbox = tmp_path / "mailbox"
    mailbox.mkdir()
    (mailbox / hook_line_mailbox.FLAG).touch()
    for command in set(HOOKS.wanted(mailbox).values()):
        assert network_calls(command, tmp_path / "strace") == []
    assert network_calls(naive.http_line(port), tmp_path / "strace") != []
    assert len(os.listdir(mailbox)) > 1
