"""The form of a mailbox file: whatever the bytes are, no report that is whole is lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.daemon.letters import Sender, Slip, parse_stat, split

STAT = b"12 (cla) ude (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20 21"
PAYLOAD = b'{"session_id": "a", "text": "x\\n}"}'


def test_a_stat_line_and_a_payload_are_one_report():
    assert split(STAT + b"\n" + PAYLOAD) == [Slip(Sender(12, 777), PAYLOAD)]
    assert split(STAT + b"\n" + PAYLOAD + b"\n") == [Slip(Sender(12, 777), PAYLOAD)]


def test_a_payload_of_many_lines_is_one_report():
    payload = json.dumps({"a": {"b": [1, 2]}}, indent=2).encode()
    assert split(STAT + b"\n" + payload) == [Slip(Sender(12, 777), payload)]


@pytest.mark.parametrize("count", [2, 3, 5000])
def test_hooks_that_shared_a_file_are_as_many_reports(count):
    assert split((STAT + b"\n" + PAYLOAD) * count) == [Slip(Sender(12, 777), PAYLOAD)] * count
    assert split((STAT + b"\n" + PAYLOAD + b"\n") * count) == [Slip(Sender(12, 777), PAYLOAD)] * count


@pytest.mark.parametrize(
    "line", [b"", b"no such process", b"1", "１２ (x) S".encode(), b"-1 (x) S" + b" 1" * 30]
)
def test_a_line_that_names_nobody_does_not_lose_its_report(line):
    """An agent that was killed has no stat line any more, and macOS has none at all."""
    assert split(line + b"\n" + PAYLOAD) == [Slip(None, PAYLOAD)]
    assert split(PAYLOAD) == [Slip(None, PAYLOAD)]
    assert split(STAT + b"\n" + PAYLOAD + b"\n" + line + b"\n" + PAYLOAD) == [
        Slip(Sender(12, 777), PAYLOAD),
        Slip(None, PAYLOAD),
    ]


@pytest.mark.parametrize("end", range(len(STAT) + 1 + len(PAYLOAD)))
def test_what_is_cut_short_is_not_whole_and_no_other_report(end):
    assert split((STAT + b"\n" + PAYLOAD)[:end]) in (
        None,
        [Slip(Sender(12, 777), PAYLOAD[: end - len(STAT) - 1])],
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
    assert split(line + b"\n" + PAYLOAD) == [Slip(None, PAYLOAD)]


@given(st.binary(max_size=200) | st.text(alphabet='{}"\n 1()S\\', max_size=60).map(str.encode))
def test_no_bytes_raise(data):
    slips = split(data)
    assert slips is None or all(isinstance(slip, Slip) for slip in slips)


@pytest.mark.parametrize(
    "payload", [b"[" * 100_000, b'{"a":' * 100_000, b'{"n": ' + b"9" * 10_000 + b"\n\n}"]
)
def test_depth_and_length_do_not_raise(payload):
    split(STAT + b"\n" + payload)
    split(STAT + b"\n\n" + payload + b"\n\n")
