"""Accidents L1 to L4 and L6: the dead that were called alive. Each with the naive way that did it."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.rig.daemon import altered
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import ROUNDS, UNSHARE, Make, seated
from tests.rig.kernel.spawner import Spawner, state_of
from tests.rig.naive_ways import naive
from tests.rig.network.raw_requests import Orphan, hook


def reuse(home: Path, manner: str) -> list[dict[str, Any]]:
    if subprocess.run([*UNSHARE, "true"], capture_output=True).returncode != 0:
        pytest.skip("pid namespaces cannot be made here")
    done = subprocess.run(
        [
            *UNSHARE,
            sys.executable,
            "-m",
            "tests.rig.kernel.reuse_pid_of_agent",
            str(home),
            str(ROUNDS // 4),
            manner,
        ],
        cwd=altered.ROOT,
        capture_output=True,
        timeout=100 + ROUNDS * 5,
    )
    assert done.returncode == 0, done.stderr.decode()
    rounds: list[dict[str, Any]] = json.loads(done.stdout)
    return rounds


@pytest.mark.timeout(100 + ROUNDS * 10)
@pytest.mark.root
def test_L1_a_reused_pid_is_not_the_dead_one(tmp_path: Path) -> None:
    """Across a restart of the daemon, and whoever has the pid now is an agent too."""
    for each in reuse(tmp_path, "as it comes"):
        assert (each["ours"], each["away"], each["other_session"]) == ("ended", True, True)
        assert each["pid"], "the naive check by pid calls the dead one alive"


@pytest.mark.timeout(100 + ROUNDS * 10)
@pytest.mark.root
def test_L2_a_reused_pid_within_one_tick_is_not_the_dead_one(tmp_path: Path) -> None:
    for each in reuse(tmp_path, "same-tick"):
        assert (each["ours"], each["away"], each["other_session"]) == ("ended", True, True)
        assert each["pid_and_start"], "the naive check by pid and start calls the dead one alive"


def test_L3_a_zombie_is_dead_at_once(daemon: Daemon, agent: Make) -> None:
    """Its parent, which is this test, does not look after it."""
    dying = agent()
    id = seated(daemon, dying)["id"]
    dying.process.send_signal(signal.SIGKILL)
    row = eventually(lambda: daemon.sessions(id=id, liveness="ended"))[0]
    assert state_of(dying.pid) == "Z"
    assert naive.is_alive_by_kill_zero(dying.pid), "the naive check calls a zombie alive"
    assert (row["ended"]["because"], row["ended"]["signal"]) == ("killed (SIGKILL)", 9)


def test_L3_a_zombie_is_dead_to_a_new_daemon_too(daemon: Daemon, agent: Make) -> None:
    dying = agent()
    id = seated(daemon, dying)["id"]
    daemon.kill()
    dying.process.send_signal(signal.SIGKILL)
    eventually(lambda: state_of(dying.pid) == "Z")
    daemon.ready()
    assert daemon.session(id=id)["liveness"] == "ended"
    assert naive.is_alive_by_kill_zero(dying.pid)


def test_L4_nobody_vouches_for_the_dead(daemon: Daemon, agent: Make) -> None:
    """A ticker goes on reporting under the dead one's conversation, with its own pid."""
    dying = agent()
    id = seated(daemon, dying)["id"]
    dying.kill()
    eventually(lambda: daemon.sessions(id=id, liveness="ended"))
    fresh = naive.SessionsKeptFresh()
    body = json.dumps({"session_id": dying.conversation, "hook_event_name": "PostToolUse"}).encode()
    with Spawner() as spawner, Orphan() as ticker:
        own = spawner.child().pid
        for _ in range(5):
            assert ticker.send(daemon.socket, hook(body, f"X-Claude-PID: {own}")).status == 202
            fresh.touch(id, own, time.time())
        rows = daemon.sessions(conversation=dying.conversation)
        assert [row["liveness"] for row in rows if row["id"] == id] == ["ended"]
        assert [row for row in rows if row["liveness"] == "alive"] == []
        assert [row["pid"] for row in rows if row["id"] != id] == [None], "nobody's pid is taken for it"
        assert fresh.is_alive(id, time.time()), "the naive way keeps the dead one fresh"


def test_L6_sessions_without_a_process_are_lost_and_not_for_ever_active(tmp_path: Path) -> None:
    wrapped = Daemon(tmp_path / "headcount", **altered.environment(LOST_AFTER=0.5))
    wrapped.start(altered.WRAPPER)
    try:
        with Orphan() as remote:

            def says(nth: int, event: str) -> None:
                body = json.dumps({"session_id": f"remote-{nth}", "hook_event_name": event}).encode()
                assert remote.send(wrapped.socket, hook(body)).status == 202

            for nth in range(30):
                says(nth, "UserPromptSubmit")
            names = {f"remote-{nth}" for nth in range(30)}

            def lost() -> set[str]:
                return {row["conversation"] for row in wrapped.sessions(liveness="lost")}

            eventually(lambda: lost() == names)
            assert naive.is_active_without_pid(None), "the naive way has 30 active sessions"
            says(7, "PostToolUse")
            assert wrapped.session(conversation="remote-7")["liveness"] == "unknown", (
                "its next word brings it back"
            )
            eventually(lambda: lost() == names)
    finally:
        wrapped.stop()
