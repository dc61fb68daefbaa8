"""A wait in line has one end, also when the daemon is restarted under it: what is asked again asks for the rest."""

import asyncio
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import headcount
from headcount import times
from headcount.client import claims
from headcount.client.daemon_access import DaemonAccess, reach
from headcount.client.faults import Broken, Unavailable
from headcount.paths import Places
from tests.client.scripted_server import WireServer, answer
from tests.rig.agents.commands_inside import MARKS, command, environment
from tests.rig.daemon.real_daemon import Daemon, eventually

PAUSE = 0.2
WAIT = 3.0


class Cut:
    """Says nothing for a while at the first wishes, and closes; says no to the next."""

    def __init__(self, cuts: int = 1) -> None:
        self.wishes: list[dict[str, object]] = []
        self.cuts = cuts

    def __call__(self, line: str, _headers: object, body: bytes, _conn: object) -> bytes | None:
        if not line.startswith("POST /v1/claims"):
            return answer({})
        self.wishes.append(json.loads(body))
        if len(self.wishes) <= self.cuts:
            time.sleep(PAUSE)
            return None
        return answer({"item": "task:A", "granted": False, "because": "held", "code": "held"}, 409)

    def check(self) -> None:
        first, *_, last = self.wishes
        assert len(self.wishes) == self.cuts + 1
        assert first["wait"] == 60 and first["request"] == last["request"]
        assert isinstance(last["wait"], float) and 0 < last["wait"] <= 60 - PAUSE * self.cuts


@pytest.mark.parametrize("cuts", [1, 3])
def test_a_wish_that_was_cut_off_asks_for_the_rest_of_its_time(tmp_path: Path, cuts: int) -> None:
    cut = Cut(cuts)
    with WireServer(str(tmp_path / "headcount.sock"), cut):
        client = DaemonAccess(
            Places.below(str(tmp_path)), {}, autostart=False, say=lambda line: None, version="0.1.0"
        )
        claims.ask(client, claims.acquire("task:A", wait=60))
        client.close()
    cut.check()


@pytest.mark.parametrize(("kept", "cuts"), [(False, 1), (True, 1), (True, 3)])
async def test_the_async_client_asks_for_the_rest_too(tmp_path: Path, kept: bool, cuts: int) -> None:
    """Both where it has a connection already, and where it opens one; however often it is cut off."""
    cut = Cut(cuts)
    with WireServer(str(tmp_path / "headcount.sock"), cut):
        async with headcount.AsyncClient(str(tmp_path), autostart=False, env={}) as client:
            if kept:
                await client.claims()
            assert not await client.claim("task:A", own=True, wait=60)
    cut.check()


def test_a_client_that_is_closed_ends_the_wait_of_another_thread_and_does_not_ask_again(
    tmp_path: Path,
) -> None:
    asked, go_on = threading.Event(), threading.Event()
    wishes = []

    def says(line: str, *_: object) -> bytes | None:
        if not line.startswith("POST /v1/claims"):
            return answer({})
        wishes.append(line)
        asked.set()
        go_on.wait(20)
        return None

    with WireServer(str(tmp_path / "headcount.sock"), says):
        client = headcount.Client(str(tmp_path), autostart=False, env={})
        ended: list[Exception] = []

        def wait() -> None:
            try:
                client.claim("task:A", own=True, wait=60)
            except Exception as error:
                ended.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        assert asked.wait(20)
        client.close()
        waiting.join(20)
        go_on.set()
        assert not waiting.is_alive() and isinstance(ended[0], Broken)
    assert len(wishes) == 1


def test_when_its_time_is_over_it_is_asked_without_waiting_and_has_time_for_its_answer() -> None:
    late = claims.acquire("task:A", wait=60).after(100)
    assert late.body is not None and late.body["wait"] == 0
    assert late.within == times.CALL_WITHIN
    assert claims.acquire("task:A").after(100).within == times.CALL_WITHIN


@contextmanager
def held_elsewhere(env: dict[str, str]) -> Iterator[None]:
    words = command("hold", "task:A", "--", "sh", "-c", "echo; exec sleep 60")
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as holding:
        try:
            assert holding.stdout is not None and holding.stdout.readline()
            yield
        finally:
            holding.kill()


async def restarted_under_it(daemon: Daemon, env: dict[str, str], waiting: "asyncio.Future[object]") -> float:
    """Kills the daemon late in the wait; the waiter starts another. When that one answered."""
    began = time.monotonic()
    row = {"waiting": 0}
    while not row["waiting"]:
        (row,) = (await asyncio.to_thread(daemon.get, "/v1/claims"))["claims"]
        await asyncio.sleep(0.01)
    while time.monotonic() - began < WAIT * 2 / 3:  # so much of its time is spent
        await asyncio.sleep(0.01)
    assert not waiting.done()
    daemon.kill()
    await asyncio.to_thread(eventually, lambda: _answers(env), 30)
    return time.monotonic()


def _answers(env: dict[str, str]) -> bool:
    asks = reach(env, autostart=False)
    try:
        asks.get("/healthz")
        return True
    except Unavailable:
        return False
    finally:
        asks.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="callers are known by Linux's /proc")
@pytest.mark.parametrize("plain", [True, False])
async def test_a_wait_over_a_restart_of_the_daemon_does_not_begin_anew(daemon: Daemon, plain: bool) -> None:
    env = {name: value for name, value in environment(daemon).items() if name not in MARKS}
    with held_elsewhere(env):
        sync, client = headcount.Client(env=env), headcount.AsyncClient(env=env)
        if plain:
            asked = asyncio.to_thread(sync.claim, "task:A", own=True, wait=WAIT)
        else:
            asked = client.claim("task:A", own=True, wait=WAIT)  # type: ignore[assignment]
        waiting: asyncio.Future[object] = asyncio.ensure_future(asked)
        try:
            back = await restarted_under_it(daemon, env, waiting)
            assert not await waiting
            assert time.monotonic() - back < WAIT  # one that begins anew waits that long from here
        finally:
            await client.close()
            sync.close()
            await asyncio.to_thread(reach(env, autostart=False).stop)
