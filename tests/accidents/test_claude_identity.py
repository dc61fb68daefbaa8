"""Accidents I1 to I7, I9 and I10: who is who among agents. Each with the naive way that did it.

Stand-in agents here; the same on the real CLI is in tests/real/test_identity_over_time.py."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.claude_code.test_recorded_traces import TRACES, evidence_of, process_of
from tests.rig.agents.stand_in import LINE, Agent, program
from tests.rig.core_values import Scene
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.naive_ways import naive_claude as naive

Make = Callable[..., Agent]


def shown(daemon: Daemon) -> list[dict[str, Any]]:
    """What `ps` lists."""
    rows: list[dict[str, Any]] = daemon.get("/v1/sessions")["sessions"]
    return rows


def started(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def register(root: Path, pid: int, conversation: str, **more: Any) -> Path:
    """The agent's own registry file, as the CLI writes it."""
    directory = root / "sessions"
    directory.mkdir(parents=True, exist_ok=True)
    record = {
        "pid": pid,
        "sessionId": conversation,
        "cwd": "/tmp",
        "procStart": started(pid),
        "kind": "interactive",
    }
    now = int(time.time() * 1000)
    record |= {"status": "idle", "updatedAt": now, "statusUpdatedAt": now, **more}
    path = directory / f"{pid}.json"
    path.write_text(json.dumps(record))
    return path


def spawned(claude: Agent, command: str) -> int:
    """A long-lived child of that agent, through its shell, by its pid."""
    return int(claude.run(f"{command} & echo $!"))


@pytest.fixture
def rooted(tmp_path: Path):
    """A daemon, and the root of the agent's own files that it watches."""
    with Daemon(tmp_path / "headcount") as running:
        yield running, running.user_home / ".claude"


def test_I1_the_pid_of_a_hooks_shell_is_never_the_session(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    daemon.kill()  # so that what was dropped can be looked at
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
        claude.hook(daemon.mailbox, event)
    shells = naive.sessions_by_hook_shell(daemon.mailbox)
    assert len(shells) == 5 and claude.pid not in shells
    daemon.ready()
    row = eventually(lambda: daemon.sessions(conversation=claude.conversation, activity="done"))[0]
    assert row["pid"] == claude.pid
    assert not shells & {each["pid"] for each in daemon.sessions()}


def test_I2_a_directory_is_never_identity(daemon: Daemon, agent: Make, tmp_path: Path) -> None:
    outer = tmp_path / "repo"
    inner = outer / "package"
    inner.mkdir(parents=True)
    agents = [agent(cwd=outer), agent(cwd=outer), agent(cwd=inner)]
    pids = [each.pid for each in agents]
    guessed = [naive.process_by_directory(each.cwd, pids) for each in agents]
    assert guessed != pids and len(set(guessed)) < len(pids)
    for each in agents:
        each.hook(daemon.mailbox, "UserPromptSubmit")
    for each in agents:
        row = eventually(lambda each=each: daemon.sessions(conversation=each.conversation, liveness="alive"))[
            0
        ]
        assert row["pid"] == each.pid


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CLAUDE_CODE_SSE_PORT", "39623"),
        ("TERM_SESSION_ID", "w0t0p0"),
        ("TMUX_PANE", "%3"),
        ("WINDOWID", "77"),
    ],
)
def test_I3_a_shared_terminal_or_port_is_never_identity(
    daemon: Daemon, tmp_path: Path, variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = subprocess.Popen

    def with_mark(*args: Any, env: dict[str, str], **more: Any) -> Any:
        return real(*args, env={**env, variable: value}, **more)

    monkeypatch.setattr(subprocess, "Popen", with_mark)
    table = naive.SessionByTerminal(variable)
    with Agent(tmp_path / "a") as first, Agent(tmp_path / "a") as second:
        monkeypatch.undo()
        for each in (first, second):
            each.hook(daemon.mailbox, "SessionStart", source="startup")
            table.report(each.pid, each.conversation)
        assert list(table.session_of.values()) == [second.conversation]  # the first has become the second
        for each in (first, second):
            assert daemon.session(conversation=each.conversation)["pid"] == each.pid
        second.kill()
        eventually(lambda: daemon.sessions(conversation=second.conversation, liveness="ended"))
        assert daemon.session(conversation=first.conversation)["liveness"] == "alive"


def test_I4_a_report_is_of_its_own_process_and_not_of_the_newest(rooted, agent: Make) -> None:
    daemon, root = rooted
    mine, newest = agent(), agent()
    register(root, mine.pid, mine.conversation)
    register(root, newest.pid, newest.conversation)
    assert naive.newest_file(root / "sessions") == newest.pid
    mine.curl(daemon.socket, "PreToolUse", tool_name="Bash", tool_input={"command": "make mine"})
    row = eventually(lambda: daemon.sessions(conversation=mine.conversation, doing="Bash: make mine"))[0]
    assert row["pid"] == mine.pid
    explained = daemon.explain(row["id"])["binding"]
    assert explained["source"] in ("peer", "registry")  # and it says which
    assert daemon.session(conversation=newest.conversation)["doing"] is None


def test_I5_a_nested_agent_does_not_take_over_the_outer_one(
    daemon: Daemon, agent: Make, tmp_path: Path
) -> None:
    outer = agent()
    outer.hook(daemon.mailbox, "UserPromptSubmit")
    row = daemon.session(conversation=outer.conversation)
    fifo, directory = tmp_path / "fifo", tmp_path / "agents"
    os.mkfifo(fifo)
    inner_program = shlex.quote(str(program(directory)))
    outer.run(
        f"TMUX_PANE=%3 {inner_program} -c 'read line <{shlex.quote(str(fifo))}; exit 0' >/dev/null & true"
    )

    def inner_pid() -> int | None:
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()
        return next((int(each) for each in children if "read line" in _cmdline(int(each))), None)

    pid = eventually(inner_pid)
    table = naive.SessionByTerminal("TMUX_PANE")
    table.session_of["%3"] = outer.conversation
    table.report(pid, "inner")
    assert table.session_of["%3"] == "inner"  # the outer one is gone
    root = daemon.user_home / ".claude"
    register(root, pid, "inner-conversation")
    inner = daemon.session(conversation="inner-conversation")
    assert (inner["pid"], inner["parent"]) == (pid, row["id"])
    again = daemon.session(conversation=outer.conversation)
    assert (again["id"], again["pid"], again["liveness"]) == (row["id"], outer.pid, "alive")
    fifo.write_text("go\n")
    eventually(lambda: daemon.sessions(id=inner["id"], liveness="ended"))
    assert daemon.session(id=row["id"])["liveness"] == "alive"


def _cmdline(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.parametrize("name", ["clear", "resume", "branch"])
def test_I6_a_swapped_conversation_leaves_one_row_alive(name: str) -> None:
    """On recorded traces of the real CLI."""
    trace, scene = TRACES[name], Scene()
    process = process_of(trace)
    for entry in trace["entries"]:
        if (evidence := evidence_of(entry, process)) is not None:
            scene.hear(evidence, now=2e9)
            assert sum(each.is_open for each in scene.sessions()) == 1
    payloads = [entry["payload"] for entry in trace["entries"] if entry["kind"] == "hook"]
    assert len(naive.rows_by_session_id(payloads)) > 1  # all of them for ever: the process lives


def test_I7_a_phantom_start_is_never_shown(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    truly, phantom = claude.conversation, "phantom-conversation"
    payloads = [json.loads(claude.payload("SessionStart", source="startup"))]
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    daemon.session(conversation=truly)
    claude.conversation = phantom  # 0.3 s later, from the same process, and never heard of again
    payloads.append(json.loads(claude.payload("SessionStart", source="startup")))
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    daemon.session(conversation=phantom)
    claude.conversation = truly
    claude.hook(daemon.mailbox, "UserPromptSubmit")
    eventually(lambda: daemon.sessions(conversation=truly, activity="working"))
    assert naive.rows_by_session_id(payloads) == {truly, phantom}
    mine = [row["conversation"] for row in shown(daemon) if row["pid"] in (claude.pid, None)]
    assert mine == [truly]
    assert daemon.session(conversation=phantom)["provisional"]


def test_I9_a_helper_that_outlives_its_agent_keeps_nobody_alive(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    server = spawned(claude, "setsid sleep 1000 >/dev/null 2>&1")
    try:
        claude.curl(daemon.socket, "SessionStart", f"X-Claude-PID: {server}", source="startup")
        row = daemon.session(conversation=claude.conversation)
        assert row["pid"] == claude.pid
        claude.kill()
        over = eventually(lambda: daemon.sessions(id=row["id"], liveness="ended"))[0]
        assert over["ended"]["signal"] == 9
        assert naive.is_alive_by_registered_pid(server)  # an immortal ghost
    finally:
        end(server)


def test_I10_the_agents_own_helpers_are_no_sessions_and_a_claimed_spare_is_one(
    rooted, tmp_path: Path
) -> None:
    daemon, root = rooted
    claude = program(tmp_path / "agents")
    for name in ("daemon", "wait"):
        (tmp_path / name).write_text("read line\n")
    called = (["claude", "daemon", "run"], ["claude bg-pty-host", "wait"], ["claude bg-spare", "wait"])
    started_here = [
        subprocess.Popen(words, executable=claude, cwd=tmp_path, stdin=subprocess.PIPE) for words in called
    ]
    try:
        pids = {each.pid for each in started_here}
        assert naive.sessions_by_executable(pids, claude) == pids
        time.sleep(1.1)  # until a census does not pass them over as too young
        daemon.restart()  # a start takes a census of everybody
        assert not pids & {row["pid"] for row in daemon.sessions()}
        spare = started_here[2].pid
        register(root, spare, "claimed-conversation", kind="bg")
        row = daemon.session(conversation="claimed-conversation")
        assert (row["pid"], row["liveness"]) == (spare, "alive")
        assert not (pids - {spare}) & {each["pid"] for each in daemon.sessions()}
    finally:
        for each in started_here:
            each.kill()
            each.communicate()


def test_I10_the_hooks_of_a_claimed_spare_are_not_those_of_the_session_that_started_the_service(
    daemon: Daemon, agent: Make, tmp_path: Path
) -> None:
    """Found on the real CLI: the service is a child of the TUI that first needed it, and spares are below it."""
    tui = agent()
    tui.hook(daemon.mailbox, "Stop")
    row = daemon.session(conversation=tui.conversation)
    payload, spare, hold = tmp_path / "payload", tmp_path / "spare", tmp_path / "hold"
    os.mkfifo(hold)
    start = {"session_id": "spare-conversation", "hook_event_name": "SessionStart", "source": "fork"}
    payload.write_text(json.dumps(start))
    hook = f"MAILBOX={shlex.quote(str(daemon.mailbox))}; {LINE}"
    spare.write_text(f"/bin/sh -c {shlex.quote(hook)} <{payload}\nread line\n")
    become = "import os, sys; os.execv(sys.argv[1], ['claude bg-spare', sys.argv[2]])"
    words = (sys.executable, "-c", become, str(program(tmp_path / "agents")), str(spare))
    pid = spawned(tui, f"{shlex.join(words)} <>{hold} >/dev/null 2>&1")
    try:
        assert daemon.session(conversation="spare-conversation")["pid"] == pid
        again = daemon.session(id=row["id"])
        assert (again["conversation"], again["activity"]) == (tui.conversation, "done")
        assert again["liveness"] == "alive"
    finally:
        end(pid)


def end(pid: int) -> None:
    """Through a handle; it may be gone already."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)
