"""The form of a mailbox file: whatever the bytes are, no report that is whole is lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.daemon.intake import mailbox_format
from headcount.daemon.intake.mailbox_format import (
    REPORTS_MOST,
    TOKENS_MOST,
    Contents,
    MailboxReport,
    Sender,
    parse_stat,
)

STAT = b"12 (cla) ude (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20 21"
PAYLOAD = b'{"session_id": "a", "text": "x\\n}"}'


def split(data: bytes) -> list[MailboxReport] | None:
    found = mailbox_format.split(data)
    return None if found is None else found.slips


def test_a_stat_line_and_a_payload_are_one_report():
    assert split(STAT + b"\n" + PAYLOAD) == [MailboxReport(Sender(12, 777), PAYLOAD)]
    assert split(STAT + b"\n" + PAYLOAD + b"\n") == [MailboxReport(Sender(12, 777), PAYLOAD)]


def test_a_payload_of_many_lines_is_one_report():
    payload = json.dumps({"a": {"b": [1, 2]}}, indent=2).encode()
    assert split(STAT + b"\n" + payload) == [MailboxReport(Sender(12, 777), payload)]


@pytest.mark.parametrize("count", [2, 3, REPORTS_MOST])
def test_hooks_that_shared_a_file_are_as_many_reports(count):
    assert split((STAT + b"\n" + PAYLOAD) * count) == [MailboxReport(Sender(12, 777), PAYLOAD)] * count
    assert (
        split((STAT + b"\n" + PAYLOAD + b"\n") * count) == [MailboxReport(Sender(12, 777), PAYLOAD)] * count
    )


@pytest.mark.parametrize(
    "line", [b"", b"no such process", b"1", "１２ (x) S".encode(), b"-1 (x) S" + b" 1" * 30]
)
def test_a_line_that_names_nobody_does_not_lose_its_report(line):
    """An agent that was killed has no stat line any more, and macOS has none at all."""
    assert split(line + b"\n" + PAYLOAD) == [MailboxReport(None, PAYLOAD)]
    assert split(PAYLOAD) == [MailboxReport(None, PAYLOAD)]
    assert split(STAT + b"\n" + PAYLOAD + b"\n" + line + b"\n" + PAYLOAD) == [
        MailboxReport(Sender(12, 777), PAYLOAD),
        MailboxReport(None, PAYLOAD),
    ]


@pytest.mark.parametrize("end", range(len(STAT) + 1 + len(PAYLOAD)))
def test_what_is_cut_short_is_not_whole_and_no_other_report(end):
    assert split((STAT + b"\n" + PAYLOAD)[:end]) in (
        None,
        [MailboxReport(Sender(12, 777), PAYLOAD[: end - len(STAT) - 1])],
    )


@pytest.mark.parametrize(
    "line",
    [
        b"9" * 5000 + b" (x) S" + b" 1" * 30,
        b"12 (x) S" + b" 1" * 18 + b" " + b"9" * 5000,
        b"12 (x) S" + b" 1" * 18 + b" -5",
        b"0x12 (x) S" + b" 1" * 30,
        b"12 (x) S" + b" 1" * 18,
    ],
)
def test_numbers_beyond_measure_are_no_process(line):
    assert parse_stat(line) is None
    assert split(line + b"\n" + PAYLOAD) == [MailboxReport(None, PAYLOAD)]


@given(st.binary(max_size=200) | st.text(alphabet='{}"\n 1()S\\', max_size=60).map(str.encode))
def test_no_bytes_raise(data):
    slips = split(data)
    assert slips is None or all(isinstance(slip, MailboxReport) for slip in slips)


@pytest.mark.parametrize(
    "payload", [b"[" * 100_000, b'{"a":' * 100_000, b'{"n": ' + b"9" * 10_000 + b"\n\n}"]
)
def test_depth_and_length_do_not_raise(payload):
    split(STAT + b"\n" + payload)
    split(STAT + b"\n\n" + payload + b"\n\n")


def test_after_so_many_reports_the_rest_is_not_read():
    one = STAT + b"\n" + PAYLOAD + b"\n"
    found = mailbox_format.split(one * (REPORTS_MOST + 10))
    assert found is not None and found.slips == [MailboxReport(Sender(12, 777), PAYLOAD)] * REPORTS_MOST
    assert found.left == 10 * len(one) + 1
    assert mailbox_format.split(b"{}" * 100_000) == Contents(
        [MailboxReport(None, b"{}")] * REPORTS_MOST, 200_000 - 2 * REPORTS_MOST
    )


@pytest.mark.parametrize("filler", [b"[],", b'"a",', b'{"a":1},', b"x\n"])
def test_more_tokens_than_a_report_has_are_not_read(filler):
    data = (
        STAT
        + b"\n"
        + PAYLOAD
        + b"\n"
        + (b'{"a":[' if filler[-1:] == b"," else b"")
        + filler * TOKENS_MOST * 2
    )
    found = mailbox_format.split(data)
    assert found is not None and found.slips == [MailboxReport(Sender(12, 777), PAYLOAD)]
    assert found.left == len(data) - len(STAT) - 1 - len(PAYLOAD)


def test_of_a_file_that_goes_on_the_whole_reports_are_read():
    data = (STAT + b"\n" + PAYLOAD + b"\n") * 3
    found = mailbox_format.split(data + STAT + b"\n" + PAYLOAD[:-1], cut=True)
    assert found is not None and len(found.slips) == 3 and found.left
    assert mailbox_format.split(b"\0" * 5000, cut=True) == Contents([], 5000)


def test_a_large_report_is_read_whole():
    text = json.dumps({"session_id": "a", "text": 'a "quoted" {line}\n, ' * 300_000}).encode()
    assert split(STAT + b"\n" + text) == [MailboxReport(Sender(12, 777), text)]
    assert split((STAT + b"\n" + text + b"\n") * 2) == [MailboxReport(Sender(12, 777), text)] * 2
