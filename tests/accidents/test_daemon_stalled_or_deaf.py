"""Accidents H4, H11 and H18: a daemon that stalls, is deaf, or looks from another place."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headcount.client.transport.connection import Connection
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon import altered
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import UNSHARE, Make, command, seated
from tests.rig.naive_ways import naive


async def longest_wait(during: Callable[[], Any]) -> float:
    """How long the loop kept its clock waiting while something ran on it."""
    longest, ended = 0.0, asyncio.Event()

    async def tick() -> None:
        nonlocal longest
        while not ended.is_set():
            began = time.monotonic()
            await asyncio.sleep(0.001)
            longest = max(longest, time.monotonic() - began)

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.01)
    await during()
    ended.set()
    await ticking
    return longest


async def test_H4_looking_at_many_sessions_stalls_nobody(tmp_path: Path) -> None:
    """While every session is explained and every process looked at, another caller is answered at once."""
    wrapped = Daemon(tmp_path / "headcount", **altered.environment(CENSUS_EVERY=0.05, CENSUS_FRESH=0.0))
    wrapped.start(altered.WRAPPER)
    agents = [Agent(tmp_path / "agents") for _ in range(60)]
    try:
        for each in agents:
            each.hook(wrapped.mailbox, "SessionStart", source="startup")
        pids = {each.pid for each in agents}
        eventually(lambda: {row["pid"] for row in wrapped.sessions(liveness="alive")} >= pids)
        ids = [row["id"] for row in wrapped.sessions(liveness="alive")]
        ended = threading.Event()

        def ask_everything() -> None:
            while not ended.is_set():
                wrapped.get("/v1/sessions?all=1")
                for id in ids:
                    wrapped.explain(id)

        asking = threading.Thread(target=ask_everything)
        asking.start()
        slowest = []
        probe = Connection(str(wrapped.socket))
        for _ in range(200):
            began = time.monotonic()
            assert probe.call("GET", "/healthz").status == 200
            slowest.append(time.monotonic() - began)
        ended.set()
        asking.join(30)
        probe.close()
        stalled = await longest_wait(lambda: naive.look_at_each(sorted(pids)))
        ours = sorted(slowest)[len(slowest) * 95 // 100]
        assert ours < stalled / 4, f"ours {ours * 1000:.0f} ms, the naive way {stalled * 1000:.0f} ms"
    finally:
        for each in agents:
            each.close()
        wrapped.stop()


DEAF = """
import asyncio, sys, time
from pathlib import Path
from headcount.daemon.engine.watchdog import Watchdog

async def main():
    Watchdog(asyncio.get_running_loop(), Path(sys.argv[1]), every=0.1).start()
    await asyncio.sleep(0.5)
    print("listening", flush=True)
    if sys.argv[2] == "blocked":
        time.sleep(60)  # blocks the loop, and raises nothing
    await asyncio.sleep(1.5)

asyncio.run(main())
"""


@pytest.mark.parametrize(("manner", "code"), [("blocked", 70), ("free", 0)])
def test_H11_a_loop_that_is_deaf_ends_itself_and_says_where_it_was(
    tmp_path: Path, manner: str, code: int
) -> None:
    stacks = tmp_path / "stacks.txt"
    done = subprocess.run(
        [sys.executable, "-c", DEAF, stacks, manner], capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stdout) == (code, "listening\n"), done.stderr
    assert stacks.exists() == (manner == "blocked")
    if manner == "blocked":
        assert "in main" in stacks.read_text()


def test_H11_a_stopped_watchdog_is_not_a_deaf_loop(tmp_path: Path) -> None:
    """A machine that slept: nobody was asked, so nobody failed to answer."""
    argv = [sys.executable, "-c", DEAF, tmp_path / "stacks.txt", "free"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as sleeper:
        assert sleeper.stdout is not None and sleeper.stdout.readline() == b"listening\n"
        sleeper.send_signal(signal.SIGSTOP)
        time.sleep(1)  # ten times the interval: the sleep itself is what is tested
        sleeper.send_signal(signal.SIGCONT)
        assert sleeper.wait(10) == 0


def test_H11_doctor_sees_a_daemon_that_is_alive_and_deaf(daemon: Daemon) -> None:
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        assert naive.is_well_by_pid(daemon.pid), "the naive way finds it well"
        found = command(daemon, "doctor", "--json")
        assert found.returncode == 1
        (finding,) = [each for each in json.loads(found.stdout)["findings"] if each["check"] == "daemon"]
        assert "did not answer" in finding["says"], finding
    finally:
        daemon.process.send_signal(signal.SIGCONT)


@pytest.mark.root
def test_H18_a_daemon_in_another_pid_namespace_ends_nobody(tmp_path: Path, agent: Make) -> None:
    """As in a container that shares the home: no process of the host is there, and no handle opens."""
    if subprocess.run([*UNSHARE, "true"], capture_output=True).returncode != 0:
        pytest.skip("pid namespaces cannot be made here")
    daemon = Daemon(tmp_path / "headcount").ready()
    living, dying = agent(), agent()
    try:
        ids = {name: seated(daemon, each)["id"] for name, each in (("living", living), ("dying", dying))}
        daemon.stop()

        daemon.start(UNSHARE)
        assert daemon.word == "ready"
        for id in ids.values():
            row = daemon.session(id=id)
            assert (row["liveness"], row["ended"]) == ("unknown", None)
            assert "another pid namespace" in daemon.explain(id)["liveness"]["because"]
        check = f"from tests.rig.naive_ways import naive; print(naive.is_dead_if_not_here({living.pid}))"
        said = subprocess.run(
            [*UNSHARE, sys.executable, "-c", check], cwd=altered.ROOT, capture_output=True, text=True
        )
        assert said.stdout == "True\n", "the naive way calls the living one dead there"
        living.hook(daemon.mailbox, "UserPromptSubmit", prompt="heard in the container")
        eventually(lambda: daemon.sessions(id=ids["living"], activity="working"))
        assert daemon.session(id=ids["living"])["liveness"] == "unknown"
        dying.kill()
        assert daemon.session(id=ids["dying"])["liveness"] == "unknown"
        refused = daemon.call("POST", "/v1/stop", {})  # from there nobody outside can be told for a person
        assert (refused.status, refused.data["error"]["code"]) == (403, "operator-only")
        daemon.kill()  # the namespace ends with its first process

        daemon.ready()
        assert daemon.session(id=ids["living"])["liveness"] == "alive"
        gone = daemon.session(id=ids["dying"])
        assert (gone["liveness"], gone["ended"]["away"]) == ("ended", True)
        living.kill()
        eventually(lambda: daemon.sessions(id=ids["living"], liveness="ended"))
    finally:
        daemon.stop()
