"""Streams of events and the async client across forks: each copy listens for itself. (test_forks.py: calls and claims.)"""

from pathlib import Path

import pytest

from tests.rig.claims.forked_clients import played
from tests.rig.daemon.real_daemon import Daemon

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="callers are known by Linux's /proc"
)

STREAM = """
events = client.events()
next(events)
ended = []
listening = client.on_end(ended.append)
inbox, outbox = os.pipe()
def next_claim():
    return next(each for each in events if each.type == "claim.granted").item
def child():
    os.read(inbox, 1)
    say("child", next_claim())
    client.close()
pid = in_child(child)
client.claim("task:A", own=True)
say("parent", next_claim())
os.write(outbox, b"x")
os.waitpid(pid, 0)
client.claim("task:B", own=True)
say("parent", next_claim())
say("listens", listening.is_open)
"""


def test_an_event_stream_is_not_read_by_two_and_a_copy_goes_on_with_its_own(daemon: Daemon) -> None:
    said = played(daemon, STREAM)
    assert said == [["parent", "task:A"], ["child", "task:A"], ["parent", "task:B"], ["listens", True]]


def test_control_two_that_read_one_stream_miss_events(daemon: Daemon) -> None:
    taken = STREAM.replace('say("parent", next_claim())\nos.write', "os.write")  # the copy reads first
    said = played(daemon, taken.replace("client.close()", ""), naive=True)
    assert ["parent", "task:A"] not in said


ASYNC = """
client.close()
async def child(client, outer):
    async with await client.claim("task:B", own=True) as claim:
        say("child", claim.holder.pid == os.getpid(), await outer.is_current())
    try:
        await outer.release()
    except WrongCall:
        say("not its own")
    await outer.__aexit__()
    await client.close()

async def main():
    async with headcount.AsyncClient(autostart=False) as client:
        events = client.events()
        await anext(events)
        listening = await client.on_end(lambda _: None)
        async with await client.claim("task:A", own=True) as claim:
            await asyncio.gather(*(client.claims() for _ in range(8)))  # several connections are kept
            os.waitpid(in_child(lambda: asyncio.run(child(client, claim))), 0)
            async with asyncio.timeout(20):
                say("parent", await claim.is_current(), [each.item for each in await client.claims()])
                await asyncio.gather(*(client.claims() for _ in range(8)))
                seen = []
                async for event in events:
                    if event.item:  # other sessions of this machine have events too
                        seen.append((event.type, event.item))
                    if event.type == "claim.released":
                        break
                say(seen)
            say("listens", not listening.done())
        say([each.item for each in await client.claims()])
asyncio.run(main())
"""


def test_the_async_client_is_forked_likewise_and_the_parents_loop_feels_nothing(daemon: Daemon) -> None:
    assert played(daemon, ASYNC) == [
        ["child", True, True],
        ["not its own"],
        ["parent", True, ["task:A"]],
        [[["claim.granted", "task:A"], ["claim.granted", "task:B"], ["claim.released", "task:B"]]],
        ["listens", True],
        [[]],
    ]


ASYNC_STREAM = """
async def go_on(events):
    async with asyncio.timeout(20):
        async for event in events:
            if event.type == "claim.granted":
                return event.item

async def main():
    aio = headcount.AsyncClient(autostart=False)
    events = aio.events()
    await anext(events)
    client.claim("task:A", own=True)
    os.waitpid(in_child(lambda: say("child", asyncio.run(go_on(events)))), 0)
    say("parent", await go_on(events))
    await aio.close()
asyncio.run(main())
"""


def test_an_async_event_stream_goes_on_in_both(daemon: Daemon) -> None:
    assert played(daemon, ASYNC_STREAM) == [["child", "task:A"], ["parent", "task:A"]]
