"""Mailbox letters: a stat line and a payload, perhaps several times; nothing in it is trusted, nothing raises."""

import json

from headcount.daemon.intake import mailbox_format
from headcount.daemon.intake.mailbox_format import (
    PID_DIGITS_MOST,
    REPORTS_MOST,
    TICK_DIGITS_MOST,
    MailboxReport,
)
from tests.fuzz.target import Target

STAT = b"4242 (claude) S 1 4242 4242 0 -1 4194560 100 0 0 0 1 1 0 0 20 0 1 0 987654 1000 100"
PAYLOAD = b'{"session_id": "a", "hook_event_name": "Stop", "prompt": "one\\ntwo } {"}'


def split(data: bytes) -> list[MailboxReport] | None:
    found = mailbox_format.split(data)
    assert found is None or (len(found.slips) <= REPORTS_MOST and 0 <= found.left <= len(data))
    assert found is None or found.slips or found.left, "a whole letter holds something"
    return None if found is None else found.slips


def check(data: bytes) -> None:
    is_promised(data, split(data))
    is_told_whole(data)


def is_promised(data: bytes, slips: list[MailboxReport] | None) -> None:
    for slip in slips or ():
        assert slip.payload, "a report of nothing"
        if slip.sender is not None:
            assert 0 <= slip.sender.pid < 10**PID_DIGITS_MOST
            assert 0 <= slip.sender.started < 10**TICK_DIGITS_MOST
    assert sum(len(slip.payload) for slip in slips or ()) <= 3 * len(data), "more came out than went in"


def is_told_whole(data: bytes) -> None:
    """Whatever a payload holds: alone, and twice in one file, it comes out as it went in."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(document, dict):
        payload = json.dumps(document).encode()
        once, twice = split(STAT + b"\n" + payload), split((STAT + b"\n" + payload + b"\n") * 2)
        assert once is not None and [slip.payload for slip in once] == [payload]
        assert twice is not None and [slip.payload for slip in twice] == [payload, payload]
        assert all(slip.sender is not None and slip.sender.pid == 4242 for slip in (*once, *twice))


def naive(data: bytes) -> None:
    """The first line is the stat line, the rest is the payload."""
    line, _, payload = data.partition(b"\n")
    slips = [MailboxReport(None, payload)] if int(line.split()[0] or b"0") else []
    is_promised(data, slips)


def samples() -> list[bytes]:
    return [
        STAT + b"\n" + PAYLOAD,
        STAT + b"\n" + PAYLOAD + b"\n" + STAT + b"\n" + PAYLOAD + b"\n",
        b"\n" + PAYLOAD,
        PAYLOAD,
        STAT.replace(b"claude", b"a) S 1 (b\n") + b"\n" + PAYLOAD,
        STAT + b"\n" + PAYLOAD[:20],
    ]


TARGETS = (Target("letter", check, naive, samples),)
