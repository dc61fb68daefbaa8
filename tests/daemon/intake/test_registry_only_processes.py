"""A process that only a registry file names: it is shown, and nothing of ours ends it or what it left."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from headcount.core.values.report import Turn
from headcount.daemon.ending.idle_close import may_be_closed
from tests.rig.agents.callers import bare
from tests.rig.agents.person import person
from tests.rig.agents.stand_in import Agent
from tests.rig.core_values import T0, Scene, bound, process, report
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import Make
from tests.rig.terminal.tmux_servers import has_ended

CONVERSATION = "0b0e5c9e-0000-4000-8000-00000000feed"


def registry_file(daemon: Daemon, pid: int, conversation: str = CONVERSATION) -> None:
    """What any process of this user can write, of any other."""
    sessions = daemon.user_home / ".claude" / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    now = int(time.time() * 1000)
    record = {
        "pid": pid, "sessionId": conversation, "procStart": started, "kind": "interactive", "status": "idle",
        "updatedAt": now, "statusUpdatedAt": now,
    }  # fmt: skip
    (sessions / f"{pid}.json").write_text(json.dumps(record))


@pytest.fixture
def shell(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A plain shell with a child."""
    running = subprocess.Popen(["/bin/sh", "-c", "sleep 60; :"], env=bare(), start_new_session=True)
    try:
        yield running
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)  # its child too
        running.wait(10)


def shown(daemon: Daemon, pid: int) -> dict[str, Any]:
    return eventually(lambda: daemon.sessions(pid=pid, liveness="alive"))[0]


@pytest.mark.parametrize("verb", ["stop", "close"])
def test_what_only_a_registry_file_names_is_shown_and_never_ended(
    daemon: Daemon, shell: "subprocess.Popen[bytes]", verb: str
) -> None:
    registry_file(daemon, shell.pid)
    id = shown(daemon, shell.pid)["id"]
    done = person(daemon, verb, id, "--kill-after", "1")
    assert done.code == 3, done
    assert "only a file says that it is claude-code: its program was not recognised" in done.err
    assert f"{shell.pid} is not ended" in done.err and "not recognised (sh)" in done.err
    assert f"(by hand: kill {shell.pid})" in done.err
    daemon.restart()
    assert person(daemon, verb, id, "--kill-after", "1").code == 3
    assert not has_ended(shell.pid)


def test_an_agents_own_program_that_its_registry_names_is_ended(daemon: Daemon, agent: Make) -> None:
    """The control: the same file, and a process that is recognised."""
    claude = agent()
    registry_file(daemon, claude.pid)
    id = shown(daemon, claude.pid)["id"]
    assert person(daemon, "stop", id, "--kill-after", "2").code == 0
    assert has_ended(claude.pid)


def test_what_a_person_registered_is_ended_whatever_its_program_is(
    daemon: Daemon, shell: "subprocess.Popen[bytes]"
) -> None:
    """Registering needs a right over the process; writing a file does not."""
    registry_file(daemon, shell.pid)
    id = shown(daemon, shell.pid)["id"]
    body = {"agent": "claude-code", "pid": shell.pid}
    assert daemon.call("POST", "/v1/sessions/register", body).status == 201
    assert person(daemon, "stop", id, "--kill-after", "2").code == 0


def test_what_such_a_process_left_is_not_reaped(daemon: Daemon, shell: "subprocess.Popen[bytes]") -> None:
    registry_file(daemon, shell.pid)
    id = shown(daemon, shell.pid)["id"]
    words = {"CLAUDE_CODE_SESSION_ID": CONVERSATION, "CLAUDE_PID": str(shell.pid)}
    left = subprocess.Popen(["sleep", "60"], env={**bare(), **words}, start_new_session=True)
    try:
        shell.kill()
        shell.wait(10)
        eventually(lambda: any(each["pid"] == left.pid for each in daemon.get("/v1/leftovers")["leftovers"]))
        done = person(daemon, "reap", id, "--yes", "--kill-after", "1")
        assert done.code == 3 and "was not recognised" in done.out, done
        assert left.poll() is None
    finally:
        left.kill()
        left.wait(10)


def test_such_a_session_is_not_closed_for_being_idle(tmp_path: Path, shell: "subprocess.Popen[bytes]", agent: Make) -> None:  # fmt: skip
    """Beside it an agent with the same file, whose close shows that the limit has passed."""
    home = tmp_path / "headcount"
    home.mkdir()
    (home / "config.toml").write_text('close.idle_after = "1s"\n')
    with Daemon(home, TMUX_TMPDIR=str(tmp_path / "t")) as daemon:
        registry_file(daemon, shell.pid)
        id = shown(daemon, shell.pid)["id"]
        claude: Agent = agent()
        registry_file(daemon, claude.pid, claude.conversation)
        eventually(lambda: has_ended(claude.pid), within=30)
        assert not has_ended(shell.pid)
        told = [each["type"] for each in daemon.get(f"/v1/history?session={id}&limit=1000")["events"]]
        assert "session.closing" not in told


def test_the_rule_of_idle_close() -> None:
    for by, closed in (("registry", True), ("registry alone", False), ("header alone", False)):
        scene = Scene()
        scene.hear(report("x", T0, "a", Turn.SETTLED, anchor=bound(process(100), by)))
        assert may_be_closed(scene.only(), scene.world) is closed, by
