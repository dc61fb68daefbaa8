"""Accident H12: a reader that lags, raises or leaves, and everybody else."""

import asyncio
import itertools
import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from headcount.client.event_stream import follow
from headcount.client.faults import Broken
from headcount.client.transport.response import ServerSentEvent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.naive_ways import naive
from tests.rig.network.raw_requests import connect, hook, read_reply, request

EVENTS = 24_000  # more than a reader may lag behind, with what the sockets hold


def many_reports(daemon: Daemon, count: int, conversation: str) -> None:
    """As many events, each by a file of its own in the mailbox; returns when they are stored."""
    for nth in range(count):
        body = {"session_id": conversation, "hook_event_name": "PreToolUse", "tool_name": f"T{nth}"}
        (daemon.mailbox / f"{conversation}.{nth}").write_text("\n" + json.dumps(body))
    eventually(lambda: is_empty(daemon.mailbox), within=60)


def is_empty(mailbox: Path) -> bool:
    """Without listing the thousands that may still be there."""
    with os.scandir(mailbox) as entries:
        return all(entry.name.startswith(".") for entry in entries)


def read_stream(sock: socket.socket, until: bytes) -> bytes:
    got = bytearray()
    while until not in got[-300_000:]:
        piece = sock.recv(262_144)
        if not piece:
            break
        got += piece
    return bytes(got)


def test_H12_a_reader_that_lags_hurts_nobody_and_resumes_without_a_gap(daemon: Daemon) -> None:
    with connect(daemon.socket) as stuck, connect(daemon.socket) as eager:
        for sock in (stuck, eager):
            sock.sendall(request("GET", "/v1/events"))
            assert read_reply(sock).status == 200
        told: list[bytes] = []
        reading = threading.Thread(target=lambda: told.append(read_stream(eager, b'"doing":"THE END"')))
        reading.start()
        many_reports(daemon, EVENTS, "flood")
        many_reports(daemon, 200, "more")  # the publisher goes on
        with connect(daemon.socket) as sock:
            sock.sendall(
                hook(b'{"session_id": "end", "hook_event_name": "PreToolUse", "tool_name": "THE END"}')
            )
            assert read_reply(sock).status == 202
        reading.join(60)
        assert not reading.is_alive(), "the eager reader has everything"
        eager_numbers = numbers(told[0])
        last_seq = daemon.get("/v1/status")["store"]["seq"]
        assert eager_numbers == list(range(eager_numbers[0], eager_numbers[-1] + 1))
        assert len(eager_numbers) > EVENTS

        got = read_stream(stuck, b"id: %d\nevent: snapshot" % last_seq)
        seen = numbers(got)
        assert len(seen) < 20_000 and seen == list(range(seen[0], seen[-1] + 1)), "no gap before the snapshot"
    assert "headcount_streams_dropped_total 1.0" in daemon.get("/metrics")
    with connect(daemon.socket) as again:
        again.sendall(request("GET", "/v1/events", b"", f"Last-Event-ID: {seen[-1]}"))
        rest = numbers(read_stream(again, b"id: %d\n" % last_seq))
    assert rest == list(range(seen[-1] + 1, rest[-1] + 1)) and rest[-1] >= last_seq


def numbers(stream: bytes) -> list[int]:
    return [int(each) for each in re.findall(rb"(?:^|\n)id: ([0-9]+)\nevent: (?!snapshot)", stream)]


async def test_H12_the_naive_publisher_waits_for_the_reader_that_lags() -> None:
    stuck: asyncio.Queue[int] = asyncio.Queue(maxsize=20_000)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(naive.publish_to_all([stuck], range(EVENTS)), 1)


def test_H12_whoever_watches_goes_on_after_being_dropped() -> None:
    """The stream says so and ends; the follower resumes by the last number it has."""
    asked: list[int | None] = []

    class Streams:
        hung_up = False

        def events(
            self, last: int | None, until: float | None, every: float | None
        ) -> Iterator[ServerSentEvent]:
            asked.append(last)
            if last is None:
                yield ServerSentEvent("session.heard", '{"seq": 4, "type": "session.heard"}', "4")
                yield ServerSentEvent("dropped", "{}", "4")
                raise Broken("The event stream ended.")
            yield ServerSentEvent("session.heard", '{"seq": 5, "type": "session.heard"}', "5")

    seen = list(itertools.islice(follow(Streams()), 2))  # type: ignore[arg-type]
    assert [each["seq"] for each in seen] == [4, 5] and asked == [None, 4]


def test_H12_readers_that_leave_in_the_middle_hurt_nobody(daemon: Daemon) -> None:
    for _ in range(20):
        with connect(daemon.socket) as sock:
            sock.sendall(request("GET", "/v1/events"))
            sock.recv(100)
    many_reports(daemon, 200, "after")
    eventually(lambda: "headcount_streams 0.0" in daemon.get("/metrics"))
    assert '"level": "error"' not in daemon.log()
