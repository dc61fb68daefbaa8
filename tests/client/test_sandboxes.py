"""Inside the agents' own sandboxes, by a real seccomp filter: exit 4, and a sentence that names the sandbox."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from headcount.agents.installing.hook_line_asks_daemon import CONTEXT, GUARD, line
from tests.rig.agents import seccomp
from tests.rig.agents.commands_inside import command, environment
from tests.rig.daemon.real_daemon import Daemon

pytestmark = pytest.mark.skipif(
    not seccomp.is_possible(), reason="the filter is written for Linux on x86-64 and ARM"
)

NAMES = {"claude": "Claude Code's sandbox", "codex": "Codex's sandbox"}
whose = pytest.mark.parametrize("whose", list(NAMES))
ROOT = Path(__file__).parents[2]

PLAIN = """
import headcount
from headcount.client.faults import Unavailable
try:
    headcount.Client().claims()
except Unavailable as fault:
    print(type(fault).__name__, fault.message, fault.hint)
"""
ASYNC = """
import asyncio, headcount
from headcount.client.faults import Unavailable
async def ask():
    async with headcount.AsyncClient() as client:
        try:
            await client.claims()
        except Unavailable as fault:
            print(type(fault).__name__, fault.message, fault.hint)
asyncio.run(ask())
"""


def run(daemon: Daemon, sandbox: str, *words: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*seccomp.wrapper(sandbox), *words],
        env=environment(daemon), cwd=ROOT, input=given, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@whose
@pytest.mark.parametrize(
    "words", [("ps",), ("claim", "task:A"), ("hold", "task:A", "--", "true"), ("up",), ("status",)]
)
def test_a_command_exits_4_and_says_which_sandbox_and_what_works(
    daemon: Daemon, whose: str, words: tuple[str, ...]
) -> None:
    done = run(daemon, whose, *command(*words))
    assert done.returncode == 4, done
    assert f"{NAMES[whose]} does not allow sockets" in done.stderr and "MCP tools" in done.stderr
    assert "outside the sandbox" in done.stderr and len(done.stderr.splitlines()) == 2
    assert ("allowAllUnixSockets" in done.stderr) == (whose == "claude")


@whose
def test_first_use_in_a_sandbox_starts_nothing_and_makes_nothing(tmp_path: Path, whose: str) -> None:
    daemon = Daemon(tmp_path / "home")
    done = run(daemon, whose, *command("ps"))
    assert done.returncode == 4 and NAMES[whose] in done.stderr
    assert [each.name for each in daemon.home.iterdir()] == ["user"]


@whose
@pytest.mark.parametrize("code", [PLAIN, ASYNC])
def test_the_python_clients_raise_unavailable(daemon: Daemon, whose: str, code: str) -> None:
    done = run(daemon, whose, sys.executable, "-c", code)
    assert done.stdout.startswith(f"Unavailable {NAMES[whose]} does not allow sockets"), done


@whose
def test_a_tool_of_mcp_says_it_too(daemon: Daemon, whose: str, tmp_path: Path) -> None:
    calls, answers = tmp_path / "calls", tmp_path / "answers"
    calls.write_text(json.dumps([["who_holds", {}]]))
    done = run(daemon, whose, sys.executable, "-m", "tests.rig.agents.mcp_client", str(calls), str(answers))
    assert done.returncode == 0, done
    (answer,) = json.loads(answers.read_text())["answers"]
    assert answer["isError"] and NAMES[whose] in answer["content"][0]["text"]


@whose
@pytest.mark.parametrize("kind", [GUARD, CONTEXT])
def test_a_hook_that_asks_says_nothing_and_lets_the_agent_go_on(
    daemon: Daemon, whose: str, kind: str
) -> None:
    payload = json.dumps({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Edit"})
    done = run(daemon, whose, "/bin/sh", "-c", line(daemon.socket, kind, "claude-code"), given=payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_sandbox_that_says_no_name_is_called_one_and_other_faults_are_not(daemon: Daemon) -> None:
    bare = ["env", "-u", "SANDBOX_RUNTIME", *command("ps")]
    done = run(daemon, "claude", *bare)
    assert done.returncode == 4 and "The sandbox around this command does not allow sockets" in done.stderr
    named = shlex.join(command("ps"))
    daemon.socket.rename(daemon.socket.with_name("away"))
    daemon.socket.mkdir()
    done = subprocess.run(
        ["sh", "-c", f"SANDBOX_RUNTIME=1 {named}"],
        env=environment(daemon), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "Claude Code's sandbox" not in done.stderr
