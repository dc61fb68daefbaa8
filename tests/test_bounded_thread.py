"""Calls in a thread with a deadline."""

import asyncio
import threading
import time

import pytest

from headcount.bounded_thread import BoundedThreads, Late


async def test_an_answer_that_came_in_time_counts_although_the_loop_was_busy() -> None:
    threads = BoundedThreads("test")
    asking = asyncio.ensure_future(threads.ask(lambda: 42, 0.05))
    await asyncio.sleep(0)  # the call has started
    time.sleep(0.2)  # the loop is busy past the deadline
    assert await asking == 42
    assert threads.hanging == 0


async def test_a_call_that_takes_longer_is_late_and_counted_while_it_hangs() -> None:
    threads, hangs = BoundedThreads("test"), threading.Event()
    with pytest.raises(Late):
        await threads.ask(lambda: hangs.wait(20), 0.05)
    assert threads.hanging == 1
    hangs.set()
    async with asyncio.timeout(20):
        while threads.hanging:
            await asyncio.sleep(0.01)
