"""Clients that give up: whatever ends a claim's call, nothing stays held, and the next block owns the item.

The signal and the daemon's silence come from a worker of the campaign (tests/campaign/claims/giving_up.py).
"""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import headcount
from headcount import times
from headcount.client import claims
from headcount.client.daemon_access import reach
from headcount.client.faults import Broken, Deaf, NotRunning, Refused
from tests.client.scripted_server import WireServer, answer
from tests.rig.agents.commands_inside import MARKS, environment
from tests.rig.claims.claiming_process import Worker
from tests.rig.daemon.real_daemon import Daemon, eventually

ITEM = "task:given-up"


@pytest.fixture
def env(daemon: Daemon) -> dict[str, str]:
    return {name: value for name, value in environment(daemon).items() if name not in MARKS}


@pytest.fixture
def client(env: dict[str, str]) -> Iterator[headcount.Client]:
    with headcount.Client(env=env, autostart=False) as made:
        yield made


def held(daemon: Daemon) -> list[str]:
    return [row["item"] for row in daemon.get("/v1/claims")["claims"]]


def check_owned(client: headcount.Client, daemon: Daemon) -> None:
    with client.claim(ITEM, own=True) as claim:
        assert claim.granted and not claim.again
    assert held(daemon) == []


async def test_a_claim_that_is_cancelled_at_any_moment_leaves_nothing(
    daemon: Daemon, env: dict[str, str]
) -> None:
    async with headcount.AsyncClient(env=env, autostart=False) as client:
        for nth in range(40):
            asks = asyncio.ensure_future(client.claim(ITEM, own=True))
            await asyncio.sleep(nth * 0.0002)
            asks.cancel()
            (answer,) = await asyncio.gather(asks, return_exceptions=True)
            if isinstance(answer, headcount.client.aio.AsyncClaim):
                await answer.release()
            async with await client.claim(ITEM, own=True) as claim:
                assert claim.granted and not claim.again
            assert await client.claims() == []


async def test_a_cancelled_inner_block_releases_nothing_of_the_outer_one(env: dict[str, str]) -> None:
    async with (
        headcount.AsyncClient(env=env, autostart=False) as client,
        await client.claim(ITEM, own=True) as outer,
    ):
        for nth in range(10):
            asks = asyncio.ensure_future(client.claim(ITEM, own=True))
            await asyncio.sleep(nth * 0.0005)
            asks.cancel()
            await asyncio.gather(asks, return_exceptions=True)
        assert await outer.is_current()


def test_a_block_whose_release_fails_leaves_nothing_to_the_next(
    daemon: Daemon, client: headcount.Client
) -> None:
    with pytest.raises(Broken), client.claim(ITEM, own=True):
        daemon.kill()
    daemon.ready()
    assert held(daemon) == [ITEM]
    check_owned(client, daemon)


async def test_an_async_block_whose_release_fails_leaves_nothing_to_the_next(
    daemon: Daemon, env: dict[str, str]
) -> None:
    async with headcount.AsyncClient(env=env, autostart=False) as client:
        with pytest.raises(Broken):
            async with await client.claim(ITEM, own=True):
                daemon.kill()
        daemon.ready()
        async with await client.claim(ITEM, own=True) as claim:
            assert claim.granted and not claim.again
        assert await client.claims() == []


async def test_many_cancelled_claims_take_one_thread_of_the_programs_own(
    daemon: Daemon, env: dict[str, str]
) -> None:
    async with headcount.AsyncClient(env=env, autostart=False) as client:
        await client.claims()
        before = threading.active_count()
        daemon.process.send_signal(signal.SIGSTOP)  # type: ignore[union-attr]
        try:
            asks = [asyncio.ensure_future(client.claim(f"{ITEM}-{nth}", own=True)) for nth in range(30)]
            await asyncio.sleep(0.1)
            for each in asks:
                each.cancel()
            await asyncio.gather(*asks, return_exceptions=True)
            assert threading.active_count() <= before + 1
        finally:
            daemon.process.send_signal(signal.SIGCONT)  # type: ignore[union-attr]
        assert await client.claims() == []


def test_a_daemon_that_says_nothing_leaves_nothing_once_it_goes_on(
    daemon: Daemon, client: headcount.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.kill(daemon.pid, signal.SIGSTOP)
    with monkeypatch.context() as patched:
        for name in ("CALL_WITHIN", "GIVE_UP_WITHIN"):
            patched.setattr(times, name, 0.1)
        try:
            with pytest.raises(Deaf):
                client.claim(ITEM, own=True)
        finally:
            os.kill(daemon.pid, signal.SIGCONT)
    check_owned(client, daemon)


def test_what_was_given_up_while_no_daemon_ran_is_withdrawn_by_the_next_call_of_any_client(
    daemon: Daemon, client: headcount.Client, env: dict[str, str]
) -> None:
    question = claims.acquire(ITEM, own=True)
    asks = reach(env)
    claims.ask(asks, question)  # granted, and its caller does not hear of it
    asks.close()
    daemon.kill()
    claims.give_up(env, question, KeyboardInterrupt())
    daemon.ready()
    assert held(daemon) == [ITEM]
    with headcount.Client(env=env, autostart=False) as other:
        assert other.claims() == []
    check_owned(client, daemon)


def test_nothing_is_withdrawn_where_nothing_can_have_been_granted(
    daemon: Daemon, client: headcount.Client
) -> None:
    with pytest.raises(Refused):
        client.claim("nonsense", own=True)
    client.close()
    daemon.kill()
    with pytest.raises(NotRunning):
        client.claim(ITEM, own=True)
    assert not claims.is_unconfirmed(str(daemon.socket))
    daemon.ready()


async def test_a_claim_that_broke_with_its_daemon_is_withdrawn_where_nobody_starts_another(
    tmp_path: Path,
) -> None:
    """What broke may have been heard: that nobody listens afterwards says nothing of it."""
    env = {"HEADCOUNT_HOME": str(tmp_path)}
    socket = tmp_path / "headcount.sock"

    def says(line: str, *_: object) -> bytes | None:
        if line.startswith("POST /v1/claims"):
            socket.unlink()
            return None
        return answer({})

    async with headcount.AsyncClient(env=env, autostart=False) as client:
        with WireServer(str(socket), says):
            await client.claims()
            with pytest.raises(Broken):
                await client.claim(ITEM, own=True)
    assert claims.is_unconfirmed(str(socket))


# --- a client that is closed, or whose daemon stopped ------------------------------------------------


def wait(client: headcount.Client, begun: threading.Event, ended: list[BaseException]) -> None:
    begun.set()
    try:
        client.claim(ITEM, own=True, wait=60)
    except BaseException as error:
        ended.append(error)


def test_closing_a_client_ends_a_wait_of_another_thread_whenever_it_comes_and_the_wait_is_withdrawn(
    daemon: Daemon, env: dict[str, str]
) -> None:
    holder = Worker(daemon)
    holder.claim(ITEM)
    try:
        for nth in range(30):
            client = headcount.Client(env=env, autostart=False)
            client.claims()
            ended: list[BaseException] = []
            begun = threading.Event()
            waiting = threading.Thread(target=wait, args=(client, begun, ended))
            waiting.start()
            begun.wait()
            if nth % 3 == 0:
                eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"])
            else:
                threading.Event().wait(nth * 0.00005)
            while not ended:  # the call may not have begun: whoever closes after that ends it
                client.close()
                waiting.join(0.02)
            assert [type(error) for error in ended] == [Broken], ended
            assert "closed" in str(ended[0])
            waiting.join(20)
            assert daemon.get("/v1/claims")["claims"][0]["waiting"] == 0
        assert held(daemon) == [ITEM]
    finally:
        holder.close()


def test_a_closed_client_may_be_used_again(client: headcount.Client, daemon: Daemon) -> None:
    client.claims()
    client.close()
    check_owned(client, daemon)


def test_a_client_that_started_the_daemon_starts_it_again(daemon: Daemon, env: dict[str, str]) -> None:
    daemon.kill()
    client = headcount.Client(env=env)
    pids = []
    try:
        for _ in range(3):
            assert client.claims() == []
            pids.append(int(daemon.get("/healthz")["pid"]))
            reach(env, autostart=False).stop()
    finally:
        client.close()
    assert len(set(pids)) == 3
