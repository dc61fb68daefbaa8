"""The Python clients with a real daemon: plain and asyncio, the same promises."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import headcount
from headcount.client.claims import new_request
from headcount.client.faults import NotFound, NotRunning, Refused
from headcount.client.values import HeldByAnother, Session
from headcount.times import START_AGAIN_AFTER
from tests.rig.agents.commands_inside import MARKS, command, environment, outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

MakeAgent = Callable[..., Agent]


def env(daemon: Daemon) -> dict[str, str]:
    return {name: value for name, value in environment(daemon).items() if name not in MARKS}


@pytest.fixture
def client(daemon: Daemon) -> Any:
    with headcount.Client(autostart=False, env=env(daemon)) as made:
        yield made


def test_importing_the_package_imports_no_client() -> None:
    code = "import headcount, sys; print([name for name in sys.modules if name.startswith('headcount.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
    with pytest.raises(AttributeError):
        _ = headcount.NoSuchThing


def test_a_claim_is_held_inside_the_with_and_free_after_it(client: headcount.Client) -> None:
    with client.claim("task:A", own=True, note="why") as claim:
        assert claim and claim.granted and claim.is_current()
        assert claim.holder is not None and claim.holder.pid == os.getpid()
        (listed,) = client.claims()
        assert (listed.item, listed.fence, listed.note) == ("task:A", claim.fence, "why")
    assert client.claims() == [] and not claim.is_current()
    assert [event.type for event in client.history("task:A")] == ["claim.granted", "claim.released"]


def test_a_claim_is_given_back_when_the_block_raises(client: headcount.Client) -> None:
    with pytest.raises(ZeroDivisionError), client.claim("task:A", own=True):
        _ = 1 / 0
    assert client.claims() == []


def test_asking_again_is_the_same_number_and_the_inner_with_does_not_give_it_back(
    client: headcount.Client,
) -> None:
    with client.claim("task:A", own=True) as outer:
        with client.claim("task:A", own=True) as inner:
            assert inner.again and inner.fence == outer.fence
        assert outer.is_current()
    assert client.claims() == []


def test_a_refusal_is_a_value_and_entering_it_raises(client: headcount.Client, daemon: Daemon) -> None:
    holding = subprocess.Popen(
        command("hold", "task:A", "--", "sh", "-c", "echo; exec sleep 60"),
        env=env(daemon),
        stdout=subprocess.PIPE,
    )
    try:
        assert holding.stdout is not None and holding.stdout.readline()
        claim = client.claim("task:A", own=True)
        assert not claim and claim.fence is None and claim.code == "held"
        assert claim.holder is not None and claim.holder.pid == holding.pid
        with pytest.raises(HeldByAnother) as raised, claim:
            raise AssertionError("never entered")
        assert raised.value.claim is claim
        claim.release()  # harmless: it is not ours
        with pytest.raises(Refused):
            client.release("task:A")
    finally:
        holding.kill()
        holding.communicate()
    with client.claim("task:A", own=True, wait=10) as granted:
        assert granted.granted


def test_a_claim_lost_by_force_is_stale_and_leaving_the_block_is_harmless(
    client: headcount.Client, daemon: Daemon
) -> None:
    with client.claim("task:A", own=True) as claim:
        assert outside(daemon, "release", "task:A", "--force").code == 0
        assert not claim.is_current()
    with pytest.raises(NotFound):
        client.release("task:A")


def test_outside_every_agent_whoami_is_nobody_and_a_claim_needs_own(client: headcount.Client) -> None:
    assert client.whoami() is None
    with pytest.raises(Refused) as refused:
        client.claim("task:A")
    assert refused.value.code == "not-an-agent"


def test_a_bad_item_says_what_was_meant(client: headcount.Client) -> None:
    with pytest.raises(Refused) as refused:
        client.claim("AUTH-12", own=True)
    assert "task:AUTH-12" in refused.value.message


def test_sessions_are_typed_and_handoff_gives_to_one(
    client: headcount.Client, daemon: Daemon, agent: MakeAgent
) -> None:
    one = agent()
    id = settled(one, daemon, session_title="auth-refactor")
    session = client.session("auth-refactor")
    assert (session.id, session.pid, session.liveness) == (id, one.pid, "alive")
    assert id in [each.id for each in client.sessions()]
    claim = client.claim("task:A", own=True)
    given = client.handoff("task:A", "auth-refactor", fence=claim.fence)
    assert given.fence is not None and claim.fence is not None and given.fence > claim.fence
    assert client.session(id).claims == ("task:A",)
    with pytest.raises(NotFound):
        client.session("nonesuch")


def test_callbacks_hear_a_start_and_an_end_also_across_a_restart(
    client: headcount.Client, daemon: Daemon, agent: MakeAgent
) -> None:
    started: list[Session] = []
    ended: list[Session] = []
    client.on_start(started.append)
    with client.on_end(ended.append) as listening:
        one, two = agent(), agent()
        settled(one, daemon)
        settled(two, daemon)
        assert eventually(lambda: one.conversation in [each.conversation for each in started])
        one.kill()
        assert eventually(lambda: one.conversation in [each.conversation for each in ended])
        daemon.restart()
        two.kill()
        assert eventually(lambda: two.conversation in [each.conversation for each in ended])
        assert listening.is_open
    assert not listening.is_open


def test_a_callback_goes_on_after_the_daemon_was_away_for_long(
    client: headcount.Client, daemon: Daemon, agent: MakeAgent
) -> None:
    ended: list[Session] = []
    one = agent()
    settled(one, daemon)
    listening = client.on_end(ended.append)
    daemon.kill()
    since = time.monotonic()
    one.kill()
    eventually(lambda: time.monotonic() - since > 2 * START_AGAIN_AFTER)  # longer than a stream is waited for
    assert listening.is_open
    daemon.ready()
    assert eventually(lambda: one.conversation in [each.conversation for each in ended])


def test_a_callback_that_raises_hurts_nobody_else(
    client: headcount.Client, daemon: Daemon, agent: MakeAgent
) -> None:
    heard: list[Session] = []
    bad = client.on_start(lambda session: 1 / 0)
    client.on_start(heard.append)
    one = agent()
    settled(one, daemon)
    assert eventually(lambda: one.conversation in [each.conversation for each in heard])
    assert eventually(lambda: not bad.is_open)


def test_events_begin_with_a_snapshot_and_go_on(client: headcount.Client) -> None:
    stream = client.events()
    assert next(stream).type == "snapshot"
    client.claim("task:A", own=True).release()
    granted = next(event for event in stream if event.type == "claim.granted")
    assert granted.item == "task:A" and granted.holder is not None and granted.holder.pid == os.getpid()
    again = client.events(since=granted.seq)
    later = next(event for event in again if event.type.startswith("claim."))  # a machine has other agents
    assert (later.type, later.seq > granted.seq) == ("claim.released", True)
    for each in (stream, again):
        each.close()  # type: ignore[attr-defined]


def test_threads_share_a_client(client: headcount.Client) -> None:
    done: list[int] = []

    def work(n: int) -> None:
        for _ in range(10):
            with client.claim(f"task:T{n}", own=True) as claim:
                assert claim.fence is not None
                done.append(claim.fence)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(set(done)) == 80


def test_no_daemon_is_a_fault_of_its_own(tmp_path: Path) -> None:
    with headcount.Client(str(tmp_path), autostart=False) as client, pytest.raises(NotRunning):
        client.claims()


# --- asyncio -----------------------------------------------------------------------------------------


async def test_the_async_client_claims_waits_and_gives_back(daemon: Daemon) -> None:
    async with headcount.AsyncClient(autostart=False, env=env(daemon)) as client:
        async with await client.claim("task:A", own=True) as claim:
            assert claim.granted and await claim.is_current()
            again = await client.claim("task:A", own=True)
            assert again.again and again.fence == claim.fence
            assert [each.item for each in await client.claims()] == ["task:A"]
        assert await client.claims() == [] and await client.whoami() is None
        assert [event.type for event in await client.history("task:A")] == ["claim.granted", "claim.released"]
        with pytest.raises(NotFound):
            await client.release("task:A")


async def test_one_that_waits_holds_up_no_other_and_a_cancelled_wait_leaves_the_line(daemon: Daemon) -> None:
    holding = subprocess.Popen(
        command("hold", "task:A", "--", "sh", "-c", "echo; exec sleep 60"),
        env=env(daemon),
        stdout=subprocess.PIPE,
    )
    try:
        assert holding.stdout is not None and holding.stdout.readline()
        async with headcount.AsyncClient(autostart=False, env=env(daemon)) as client:
            waiting = asyncio.create_task(client.claim("task:A", own=True, wait=60))
            while not (await client.claims())[0].raw["waiting"]:
                await asyncio.sleep(0.01)
            async with await client.claim("task:B", own=True) as other:
                assert other.granted
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            async with asyncio.timeout(10):
                while (await client.claims())[0].raw["waiting"]:
                    await asyncio.sleep(0.01)
            patient = asyncio.create_task(client.claim("task:A", own=True, wait=60))
            while not (await client.claims())[0].raw["waiting"]:
                await asyncio.sleep(0.01)
            holding.kill()
            assert (await asyncio.wait_for(patient, 10)).granted
    finally:
        holding.kill()
        holding.communicate()


async def test_sixteen_tasks_share_an_async_client(daemon: Daemon) -> None:
    fences: list[int] = []

    async def work(client: headcount.AsyncClient, n: int) -> None:
        for _ in range(5):
            async with await client.claim(f"task:T{n}", own=True) as claim:
                assert claim.fence is not None
                fences.append(claim.fence)

    async with headcount.AsyncClient(autostart=False, env=env(daemon)) as client:
        await asyncio.gather(*(work(client, n) for n in range(16)))
    assert len(set(fences)) == 80


async def test_async_callbacks_and_events(daemon: Daemon, agent: MakeAgent) -> None:
    ended: list[str | None] = []

    async def heard(session: Session) -> None:
        ended.append(session.conversation)

    async with headcount.AsyncClient(autostart=False, env=env(daemon)) as client:
        await client.on_end(heard)
        one = agent()
        await asyncio.to_thread(settled, one, daemon)
        one.kill()
        async with asyncio.timeout(10):
            while one.conversation not in ended:
                await asyncio.sleep(0.01)
        events = client.events()
        assert (await anext(events)).type == "snapshot"
        await events.aclose()


async def test_a_restart_of_the_daemon_between_two_calls_is_not_felt(daemon: Daemon) -> None:
    async with headcount.AsyncClient(autostart=False, env=env(daemon)) as client:
        claim = await client.claim("task:A", own=True)
        await asyncio.to_thread(daemon.restart)
        assert await claim.is_current()
        await claim.release()
        assert await client.claims() == []


def test_requests_made_one_after_the_other_differ_and_lie_together_in_a_store() -> None:
    made = [new_request() for _ in range(1_000)]
    assert len(set(made)) == 1_000
    hours = [each[:5] for each in made]  # of sixteen digits of nanoseconds: five hours a step
    assert hours == sorted(hours) and len(set(hours)) <= 2
