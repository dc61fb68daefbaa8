"""Bad bodies on the wire: refused in clear words or harmless, never a 5xx."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network.raw_requests import Traces, assert_refused, exchange, files_waiting, hook, request

MEGABYTE = 1024 * 1024
GOOD = b'{"session_id": "good", "hook_event_name": "Stop"}'


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("home") / "headcount") as running:
        assert exchange(running.socket, hook(GOOD)).status == 202
        yield running
        assert '"level": "error"' not in running.log(), "a bad request is not an error of ours"
        assert "Traceback" not in running.log()


@pytest.fixture
def traces(daemon: Daemon) -> Iterator[Traces]:
    """Whatever the test sends: afterwards everything is as it was, and the daemon answers."""
    traces = Traces(daemon)
    yield traces
    traces.assert_unchanged()
    assert daemon.get("/healthz")["ok"] is True


# --- bodies that are no report ---------------------------------------------------------------------

NO_REPORTS = {
    "empty": b"",
    "spaces": b"  \n ",
    "not JSON": b"session_id=x",
    "half": b'{"session_id": "a", "hook_',
    "null": b"null",
    "a number": b"7",
    "a number too large for a float": b"1e999",
    "a number of ten thousand digits": b"9" * 10_000,
    "a string": b'"session"',
    "a list": b"[]",
    "a list of reports": b"[" + GOOD + b"]",
    "two objects": GOOD + GOOD,
    "no conversation": b'{"hook_event_name": "Stop"}',
    "a null conversation": b'{"session_id": null}',
    "an empty conversation": b'{"session_id": ""}',
    "a number for a conversation": b'{"session_id": 12}',
    "a conversation of 2^63": b'{"session_id": 9223372036854775808}',
    "NaN for a conversation": b'{"session_id": NaN}',
    "1e999 for a conversation": b'{"session_id": 1e999}',
    "a number read leniently": b'{"session_id": 12, "prompt": "\\ud800"}',
    "a half of a surrogate pair": b'{"session_id": "\\ud800"}',
    "a raw half of a surrogate pair": b'{"session_id": "\xed\xa0\x80"}',
    "bytes that are no text": b'{"session_id": "\xff\xfe"}',
    "a zero byte": b'{"session_id": "a\\u0000b"}',
    "a new line at the end": b'{"session_id": "abc\\n"}',
    "an option": b'{"session_id": "--resume"}',
    "a path": b'{"session_id": "../../etc/passwd"}',
    "an absolute path": b'{"session_id": "/etc/passwd"}',
    "other digits": '{"session_id": "１２３"}'.encode(),
    "a long conversation": b'{"session_id": "' + b"a" * 5000 + b'"}',
    "a conversation that is an object": b'{"session_id": {"a": 1}}',
    "lists of 100,000 levels": b"[" * 100_000 + b"]" * 100_000,
    "objects of 100,000 levels": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "levels that never close": b'{"session_id": ' + b"[" * 100_000,
    "UTF-16": '{"session_id": "a"}'.encode("utf-16"),
}


@pytest.mark.parametrize("body", NO_REPORTS.values(), ids=NO_REPORTS.keys())
def test_what_is_no_report_is_refused_and_changes_nothing(
    daemon: Daemon, traces: Traces, body: bytes
) -> None:
    assert_refused(daemon, hook(body), 400)


# --- reports with strange parts: harmless ------------------------------------------------------------

STRANGE = {
    "halves of pairs": b'"prompt": "\\ud800", "cwd": "/a\\udfff", "tool_name": "\\ud800"',
    "NaN": b'"tool_input": {"command": NaN, "x": -Infinity}, "is_interrupt": NaN',
    "numbers without end": b'"tool_input": {"n": 1e999, "m": ' + b"9" * 5000 + b"}",
    "2^63": b'"agent_id": 9223372036854775808, "cwd": 9223372036854775808, "tool_name": 18446744073709551616',
    "deep nesting": b'"tool_input": ' + b"[" * 100_000 + b"]" * 100_000,
    "doubled keys": b'"cwd": "/a", "cwd": "/b", "hook_event_name": "Stop", "hook_event_name": "PreToolUse"',
    "bytes that are no text": b'"prompt": "\xff\xfe", "cwd": "/\xff"',
    "wrong types": b'"cwd": [], "source": {}, "reason": 1, "model": false, "background_tasks": "x", "agent_id": []',
    "control characters": b'"cwd": "/a\\u001b[31m", "tool_name": "\\u0000", "session_title": "\\u202e"',
    "a long name": b'"tool_name": "' + b"x" * 100_000 + b'"',
    "unknown fields": b'"' + b"u" * 10_000 + b'": 1, "\\ud800": 2',
}


@pytest.mark.parametrize(
    "event", ["SessionStart", "PreToolUse", "Stop", "SessionEnd", "Unheard0f", "\x1b[31m"]
)
@pytest.mark.parametrize("part", STRANGE.values(), ids=STRANGE.keys())
def test_a_report_with_strange_parts_is_taken_or_refused_but_never_breaks_anything(
    daemon: Daemon, part: bytes, event: str
) -> None:
    body = b'{"session_id": "strange", "hook_event_name": %s, %s}' % (json.dumps(event).encode(), part)
    reply = exchange(daemon.socket, hook(body))
    assert reply.status in (202, 400), reply
    assert isinstance(reply.data, dict)
    for row in daemon.sessions(conversation="strange"):
        assert daemon.call("GET", f"/v1/sessions/{row['id']}/explain").status == 200
    assert daemon.get("/healthz")["ok"] is True


@pytest.mark.parametrize("part", STRANGE.values(), ids=STRANGE.keys())
def test_the_same_parts_in_the_mailbox_hold_nobody_up(daemon: Daemon, part: bytes, tmp_path: Path) -> None:
    name = f"strange-{abs(hash(part))}"
    stat = b"4000000 (x) S" + b" 1" * 30
    body = b'{"session_id": "strange2", "hook_event_name": "PreToolUse", %s}' % part
    (tmp_path / "letter").write_bytes(stat + b"\n" + body)
    (tmp_path / "letter").rename(daemon.mailbox / f"1.{abs(hash(part))}")
    (tmp_path / "letter").write_bytes(stat + b"\n" + b'{"session_id": "%s"}' % name.encode())
    (tmp_path / "letter").rename(daemon.mailbox / f"2.{abs(hash(part))}")
    daemon.session(conversation=name)
    eventually(lambda: files_waiting(daemon) == [])


# --- size ----------------------------------------------------------------------------------------------


def big_report(size: int) -> bytes:
    return b'{"session_id": "big", "prompt": "' + b"x" * size + b'"}'


def chunked(body: bytes, piece: int = 65536) -> bytes:
    parts = [body[at : at + piece] for at in range(0, len(body), piece)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def test_ten_megabytes_are_refused(daemon: Daemon, traces: Traces) -> None:
    assert_refused(daemon, hook(big_report(10 * MEGABYTE)), 413)


def test_ten_megabytes_of_unannounced_length_are_refused(daemon: Daemon, traces: Traces) -> None:
    assert_refused(daemon, hook(chunked(big_report(10 * MEGABYTE)), "Transfer-Encoding: chunked"), 413)


@pytest.mark.parametrize("zeros", [1, 19, 30])
def test_ten_megabytes_with_zeros_before_their_length_are_refused(
    daemon: Daemon, traces: Traces, zeros: int
) -> None:
    body = big_report(10 * MEGABYTE)
    assert_refused(daemon, hook(body, f"Content-Length: {'0' * zeros}{len(body)}"), 413)


def test_an_announced_length_beyond_all_measure_is_refused_at_once(daemon: Daemon, traces: Traces) -> None:
    for length in ("99999999", "9" * 19, "9" * 40):
        assert_refused(daemon, hook(b"{", f"Content-Length: {length}"), 400, 413)


@pytest.mark.parametrize("length", ["-1", "+5", "5 5", "0x10", "", "１２", "5\r\nContent-Length: 6"])
def test_a_length_that_is_no_number_is_refused(daemon: Daemon, traces: Traces, length: str) -> None:
    assert_refused(daemon, hook(GOOD, f"Content-Length: {length}"), 400, 413)


def test_a_megabyte_is_not_too_much(daemon: Daemon) -> None:
    assert exchange(daemon.socket, hook(big_report(900_000))).status == 202


@pytest.mark.parametrize("size", [40_000, 100_000, 300_000, 3_000_000])
def test_huge_headers_are_refused(daemon: Daemon, traces: Traces, size: int) -> None:
    assert_refused(daemon, hook(GOOD, "X-Filler: " + "x" * size), 431)
    assert_refused(daemon, hook(GOOD, *(f"X-{nth}: x" for nth in range(size // 5))), 431)
    assert_refused(daemon, request("GET", "/v1/sessions?" + "x" * size), 431)
