"""The daemon on real processes: sessions come by hooks, live by their process, and end by the kernel."""

import os
import signal
import time

import pytest

from tests.rig.daemon.real_daemon import Daemon, eventually


@pytest.fixture(params=["linux", "portable"])
def daemon(request, tmp_path):
    with Daemon(tmp_path / "headcount", HEADCOUNT_PROCESSES=request.param) as running:
        yield running


def test_a_dropped_report_is_a_session_bound_to_its_process(daemon, agent):
    claude = agent()
    claude.hook(daemon.mailbox, "PreToolUse", tool_name="Bash", tool_input={"command": "npm test"})
    row = daemon.session(conversation=claude.conversation)
    assert (row["pid"], row["liveness"], row["activity"]) == (claude.pid, "alive", "working")
    assert row["doing"] == "Bash: npm test"
    eventually(lambda: [name for name in os.listdir(daemon.mailbox) if not name.startswith(".")] == [])


def test_a_report_over_http_is_bound_by_the_kernels_word_on_the_peer(daemon, agent):
    claude = agent()
    assert '"accepted":true' in claude.curl(daemon.socket, "UserPromptSubmit", prompt="secret words")
    row = daemon.session(conversation=claude.conversation)
    assert (row["pid"], row["liveness"]) == (claude.pid, "alive")
    assert daemon.explain(row["id"])["binding"]["source"] == "peer"


def test_kill_is_told_at_once_and_silence_is_not_death(daemon, agent):
    dying, living = agent(), agent()
    for each in (dying, living):
        each.hook(daemon.mailbox, "SessionStart", source="startup")
        daemon.session(conversation=each.conversation)
    dying.kill(signal.SIGKILL)
    row = eventually(lambda: daemon.sessions(conversation=dying.conversation, liveness="ended"))[0]
    assert row["ended"]["at"] is not None
    if daemon.env["HEADCOUNT_PROCESSES"] == "linux":
        assert (row["ended"]["signal"], row["ended"]["because"]) == (9, "killed (SIGKILL)")
    assert daemon.session(conversation=living.conversation)["liveness"] == "alive"


def test_a_stopped_process_is_alive(daemon, agent):
    claude = agent()
    claude.hook(daemon.mailbox, "Stop")
    daemon.session(conversation=claude.conversation)
    claude.process.send_signal(signal.SIGSTOP)
    time.sleep(2.5)  # two passes of the portable adapter must not change their mind
    assert daemon.session(conversation=claude.conversation)["liveness"] == "alive"


def test_a_restart_keeps_the_living_and_finds_the_dead(daemon, agent):
    """D6."""
    living, dying = agent(), agent()
    for each in (living, dying):
        each.hook(daemon.mailbox, "SessionStart", source="startup")
        before = daemon.session(conversation=each.conversation)
    id = daemon.session(conversation=living.conversation)["id"]
    daemon.kill()
    dying.kill()
    daemon.ready()
    row = daemon.session(conversation=living.conversation)
    assert (row["id"], row["liveness"]) == (id, "alive")
    row = eventually(lambda: daemon.sessions(conversation=dying.conversation, liveness="ended"))[0]
    assert (row["id"], row["ended"]["away"]) == (before["id"], True)


def test_reports_dropped_while_it_was_down_are_read_in_order_at_the_next_start(daemon, agent):
    claude = agent()
    daemon.kill()
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    claude.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    claude.hook(daemon.mailbox, "Stop")
    assert len([name for name in os.listdir(daemon.mailbox) if not name.startswith(".")]) == 3
    daemon.ready()
    row = eventually(lambda: daemon.sessions(conversation=claude.conversation, activity="done"))[0]
    assert (row["pid"], row["liveness"]) == (claude.pid, "alive")
    eventually(lambda: [name for name in os.listdir(daemon.mailbox) if not name.startswith(".")] == [])


def test_an_agent_that_told_nobody_is_found_by_its_process(daemon, agent):
    claude = agent()
    row = eventually(lambda: daemon.sessions(pid=claude.pid))[0]
    assert (row["conversation"], row["liveness"], row["activity"]) == (None, "alive", "unknown")


def test_clear_supersedes_and_the_process_lives_on(daemon, agent):
    claude = agent()
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    first = daemon.session(conversation=claude.conversation)
    claude.hook(daemon.mailbox, "SessionEnd", reason="clear")
    claude.conversation = "second-conversation"
    claude.hook(daemon.mailbox, "SessionStart", source="clear")
    second = daemon.session(conversation="second-conversation")
    assert second["pid"] == first["pid"]
    old = eventually(lambda: daemon.sessions(id=first["id"], liveness="ended"))[0]
    assert old["ended"]["because"] == f"continued as {second['id'][:4]} (/clear)"
