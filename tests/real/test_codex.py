"""Real Codex 0.166.0: `codex exec`, and its terminal, whose conversations live in an app server of their own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount.system.processes.procfs import has_terminal
from tests.real.conftest import there_or_skipped
from tests.real.screen_and_unknown_fields import check_every_name_is_known, check_peek
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.fake_apis.openai_responses import FakeResponses
from tests.rig.fake_apis.scripted_api import script
from tests.rig.real_agents.codex import VERSION, Codex, app_server, installed, native, sweep
from tests.rig.terminal.terminal import Terminal

WITHIN = 30.0


@pytest.fixture(scope="module")
def api() -> Iterator[FakeResponses]:
    with FakeResponses() as serving:
        yield serving


@pytest.fixture(scope="module")
def programs() -> Path:
    return there_or_skipped(f"Codex {VERSION}", installed())


@pytest.fixture
def codex(programs: Path, api: FakeResponses, tmp_path: Path) -> Iterator[Codex]:
    made = Codex(programs, api.url, tmp_path)
    made.prepare()
    yield made
    sweep(made)


@pytest.fixture
def daemon(codex: Codex) -> Iterator[Daemon]:
    with Daemon(codex.place / "headcount", CODEX_HOME=str(codex.root)) as running:
        yield running


def row(daemon: Daemon, **wanted: Any) -> dict[str, Any]:
    return eventually(lambda: daemon.sessions(agent="codex", **wanted), WITHIN)[0]


def install_hooks(codex: Codex, daemon: Daemon) -> str:
    env = {**daemon.env, "HOME": str(codex.home), "PATH": f"{codex.programs}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "headcount", "hooks", "install", "--agent", "codex"]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True).stdout


def test_two_runs_in_one_directory_without_hooks_are_told_apart_and_their_ends_seen(
    codex: Codex, daemon: Daemon
) -> None:
    marks = ["first", "second"]
    runs = [codex.start_exec(script({"bash": f"echo {mark}; sleep 60"}, {"say": "x"})) for mark in marks]
    try:
        pids = [native(run.pid) for run in runs]
        doing = [f"Bash: echo {mark}; sleep 60" for mark in marks]  # it works before it does that
        rows = [row(daemon, pid=pid, activity="working", doing=d) for pid, d in zip(pids, doing, strict=True)]
        for mark, pid, each in zip(marks, pids, rows, strict=True):
            assert (each["liveness"], each["cwd"]) == ("alive", str(codex.project))
            assert each["doing"] == f"Bash: echo {mark}; sleep 60"
            open_now = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
            assert any(path.endswith(f"{each['conversation']}.lock") for path in open_now)
        assert rows[0]["conversation"] != rows[1]["conversation"]
        assert daemon.sessions(pid=runs[0].pid) == []  # the launcher is not a session
        os.kill(pids[0], signal.SIGKILL)
        end = row(daemon, pid=pids[0], liveness="ended")["ended"]
        assert (end["kind"], end["signal"]) == ("killed", 9)
        assert row(daemon, pid=pids[1])["liveness"] == "alive"
    finally:
        for run in runs:
            run.terminate()
            run.communicate(timeout=30)


def test_a_resumed_conversation_names_its_predecessor(codex: Codex, daemon: Daemon) -> None:
    first = codex.start_exec(script({"after": [2, {"say": "one"}]}))
    before = row(daemon, pid=native(first.pid))
    first.communicate(timeout=60)
    row(daemon, id=before["id"], liveness="ended")
    again = codex.start_exec(script({"after": [2, {"say": "two"}]}), "resume", before["conversation"])
    after = row(daemon, pid=native(again.pid))
    again.communicate(timeout=60)
    assert (after["conversation"], after["predecessor"]) == (before["conversation"], before["id"])


def test_a_terminals_conversation_lives_in_the_app_server_and_hooks_say_what_it_does(
    codex: Codex, daemon: Daemon
) -> None:
    codex.prepare(approval="on-request", sandbox="read-only")
    said = install_hooks(codex, daemon)
    assert "written, inactive until trusted: run /hooks in Codex" in said
    with codex.open_tui() as terminal:
        trust_all(terminal)
        assert "installed (12 of 12 events)" in (status := hooks_status(codex, daemon)), status
        assert "trusted" not in status
        terminal.type(script({"say": "hello"}))
        server = app_server(codex)
        assert (
            has_terminal(server) is False
        )  # no user sits there: the pane above it does not show its sessions
        done = row(daemon, pid=server, activity="done")
        assert done["model"] == "fake"
        assert daemon.sessions(pid=native(terminal.pid)) == []  # a window, not a session
        terminal.wait_still()
        asking = {"cmd": "touch /tmp/x", "sandbox_permissions": "require_escalated", "justification": "why"}
        terminal.type(script({"use": ["exec_command", asking]}, {"say": "x"}))
        waiting = row(daemon, id=done["id"], activity="waiting")
        assert (waiting["waiting_on"], waiting["doing"]) == ("permission", "Bash: touch /tmp/x")
        terminal.wait_screen("Would you like to run")
        terminal.wait_still()
        terminal.keys("Escape")
        row(daemon, id=done["id"], activity="idle")
        terminal.wait_still()
        terminal.type(script({"fail": [429, "usage_limit_reached"]}))  # no hook tells of this
        row(daemon, id=done["id"], activity="failed")
        assert daemon.explain(done["id"])["activity"]["source"] == "transcript"
        check_peek(daemon, done["id"], ("agent", "hello"), ("tool", "Bash: touch /tmp/x"))
        check_every_name_is_known("codex", codex.home)
        os.kill(server, signal.SIGKILL)
        assert row(daemon, id=done["id"], liveness="ended")["ended"]["signal"] == 9


def hooks_status(codex: Codex, daemon: Daemon) -> str:
    env = {**daemon.env, "HOME": str(codex.home), "PATH": f"{codex.programs}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "headcount", "hooks", "status", "--agent", "codex"]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True).stdout


ASKED = "Hooks need review"


def trust_all(terminal: Terminal) -> None:
    """Codex asks at the first prompt of a terminal that has hooks that were not reviewed: as soon as something is typed, or
    when it is sent. What was typed may then have to be sent again; where it was not, Enter does nothing."""
    terminal.keys("-l", "hello")
    terminal.wait_still()
    if ASKED not in terminal.screen:
        terminal.keys("Enter")
        terminal.wait_screen(ASKED)
        terminal.wait_still()
    terminal.keys("Down")
    terminal.wait_still(0.3)
    terminal.keys("Enter")
    terminal.wait_still()
    terminal.keys("Enter")
    terminal.wait_screen("Worked for|ok")
    terminal.wait_still()
