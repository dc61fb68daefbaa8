"""Bad input on the wire: refused in clear words, never a 5xx, and nothing is changed by it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.daemon import Daemon, eventually
from tests.rig.wire import JSON, Traces, connect, exchange, files_waiting, hook, request

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


def assert_refused(daemon: Daemon, data: bytes, *statuses: int) -> None:
    reply = exchange(daemon.socket, data)
    assert reply.status in statuses, reply
    error = reply.data["error"]
    assert re.fullmatch(r"[a-z-]+", error["code"]) and len(error["message"]) > 10, error
    assert not any(name.startswith("access-control") for name in reply.headers)


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


# --- who and how ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost:80",
        "localhost.evil.example",
        "127.0.0.1",
        "",
        "LOCALHOST",
        "localhost\r\nHost: localhost",
    ],
)
def test_another_host_is_refused(daemon: Daemon, traces: Traces, host: str) -> None:
    """A page that resolves its own name to this machine says its own name (DNS rebinding)."""
    assert_refused(daemon, request("POST", "/v1/hooks/claude-code", GOOD, JSON, host=host), 400, 421)
    assert_refused(daemon, request("GET", "/v1/sessions", host=host), 400, 421)


def test_no_host_is_refused(daemon: Daemon, traces: Traces) -> None:
    assert_refused(daemon, b"GET /v1/sessions HTTP/1.1\r\n\r\n", 400, 421)
    assert_refused(daemon, b"GET /v1/sessions HTTP/1.0\r\n\r\n", 400, 421)


@pytest.mark.parametrize(
    "header",
    [
        "Origin: http://localhost",
        "Origin: null",
        "Origin: https://evil.example",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Sec-Fetch-Site: nonsense",
    ],
)
def test_web_pages_are_refused(daemon: Daemon, traces: Traces, header: str) -> None:
    assert_refused(daemon, hook(GOOD, header), 403)
    assert_refused(daemon, request("GET", "/v1/sessions", b"", header), 403)
    assert_refused(daemon, request("POST", "/v1/stop", b"{}", JSON, header), 403)


@pytest.mark.parametrize(
    "kind",
    [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""],
)
def test_another_content_type_is_refused(daemon: Daemon, traces: Traces, kind: str | None) -> None:
    """A form needs no permission of the browser to be sent; JSON does."""
    headers = () if kind is None else (f"Content-Type: {kind}",)
    assert_refused(daemon, request("POST", "/v1/hooks/claude-code", GOOD, *headers), 415)
    assert_refused(daemon, request("POST", "/v1/stop", b"", *headers), 415)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/hooks/claude-code"),
        ("GET", "/v1/stop"),
        ("HEAD", "/v1/stop"),
        ("DELETE", "/v1/sessions"),
        ("DELETE", "/v1/hooks/claude-code"),
        ("PUT", "/v1/hooks/claude-code"),
        ("PATCH", "/v1/sessions"),
        ("OPTIONS", "/v1/sessions"),
        ("TRACE", "/v1/sessions"),
        ("PROPFIND", "/v1/sessions"),
        ("POST", "/v1/sessions"),
        ("POST", "/healthz"),
        ("POST", "/v1/events"),
    ],
)
def test_a_wrong_method_is_refused_and_says_which_is_right(
    daemon: Daemon, traces: Traces, method: str, path: str
) -> None:
    if method == "HEAD":  # its answer has no body, whatever it announces
        with connect(daemon.socket) as sock:
            sock.sendall(request(method, path))
            assert sock.recv(65536).startswith(b"HTTP/1.1 405 ")
    else:
        assert_refused(daemon, request(method, path, b"{}" if method == "POST" else b"", JSON), 405)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1",
        "/v1/sessions/",
        "//v1/sessions",
        "/v1/../v1/sessions",
        "/v1/sessions/..",
        "/v1/sessions/%2e%2e",
        "/v1/sessions/..%2f..%2fetc%2fpasswd",
        "/v1/sessions/%00",
        "/v1/sessions/%ff%fe",
        "/v1/sessions/%ed%a0%80",
        "/v1/sessions/%0d%0aX-Injected:%20yes",
        "/v1/sessions/" + "a" * 5000,
        "/v1/sessions/*",
        "/v1/sessions/%25",
        "/v1/sessions/' OR 1=1--".replace(" ", "%20"),
        "/v1/sessions/nobody/explain",
        "/v1/sessions/nobody/stop",
        "/v1/nothing",
    ],
)
def test_odd_paths_and_ids_find_nothing(daemon: Daemon, traces: Traces, path: str) -> None:
    """I8: an id is compared, never used as a name of anything."""
    assert_refused(daemon, request("GET", path), 404)


def test_reports_of_an_agent_that_nobody_knows_are_refused(daemon: Daemon, traces: Traces) -> None:
    for agent in ("codex2", "..", "%2e%2e", "claude-code%00", "CLAUDE-CODE"):
        assert_refused(daemon, hook(GOOD, agent=agent), 404)


@pytest.mark.parametrize(
    "query", ["after=x", "after=-1", "limit=１２", "limit=1e3", "since=" + "9" * 16, "after=%00"]
)
def test_bad_parameters_are_refused(daemon: Daemon, traces: Traces, query: str) -> None:
    assert_refused(daemon, request("GET", f"/v1/history?{query}"), 400)


@pytest.mark.parametrize(
    "query", ["session=%ff", "session=" + "x" * 9000, "type=%00&type=x", "limit=0", "newest=maybe"]
)
def test_parameters_that_fit_nothing_are_answered_with_nothing(daemon: Daemon, query: str) -> None:
    reply = exchange(daemon.socket, request("GET", f"/v1/history?{query}"))
    assert reply.status == 200 and isinstance(reply.data["events"], list)


@pytest.mark.parametrize("last", ["x", "-1", "1.0", "１２", "9" * 16, "0x1", "true"])
def test_a_last_event_id_that_is_no_number_is_refused(daemon: Daemon, traces: Traces, last: str) -> None:
    assert_refused(daemon, request("GET", "/v1/events", b"", f"Last-Event-ID: {last}"), 400)


# --- broken HTTP -----------------------------------------------------------------------------------------

BROKEN = {
    "nothing of HTTP": b"hello\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no version": b"GET /v1/sessions\r\n\r\n",
    "another version": b"GET /v1/sessions HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "a space in the path": b"GET /v1/ses sions HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a header without a colon": b"GET /v1/sessions HTTP/1.1\r\nHost localhost\r\n\r\n",
    "a header name with a space": b"GET /v1/sessions HTTP/1.1\r\nHost : localhost\r\n\r\n",
    "a zero byte in a header": b"GET /v1/sessions HTTP/1.1\r\nHost: local\0host\r\n\r\n",
    "a bare line feed in a header": b"GET /v1/sessions HTTP/1.1\r\nHost: localhost\nX: \r y\r\n\r\n",
    "two lengths": b"POST /v1/hooks/claude-code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
    b"Content-Length: 3\r\nContent-Type: application/json\r\n\r\n{} ",
    "length and chunks": b"POST /v1/hooks/claude-code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
    b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n0\r\n\r\n",
    "a chunk of nonsense": b"POST /v1/hooks/claude-code HTTP/1.1\r\nHost: localhost\r\n"
    b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\nzz\r\n{}\r\n",
    "a chunk without end": b"POST /v1/hooks/claude-code HTTP/1.1\r\nHost: localhost\r\n"
    b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\nffffffffffffffffff\r\n{}\r\n",
    "a tunnel": b"CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a star": b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a path that is none": b"GET v1/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a port beyond ports": b"GET http://localhost:99999999/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_broken_http_is_refused_in_words_or_closed(daemon: Daemon, traces: Traces, data: bytes) -> None:
    reply = exchange(daemon.socket, data)
    assert reply.status is None or 400 <= reply.status < 500, reply
    if reply.status is not None:
        assert reply.data["error"]["message"]


def test_an_upgrade_is_not_taken_up(daemon: Daemon, traces: Traces) -> None:
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    reply = exchange(
        daemon.socket, request("GET", "/v1/events/no", b"", *upgrade, "Sec-WebSocket-Version: 13")
    )
    assert reply.status == 404


def test_a_second_request_in_one_packet_passes_the_same_gate(daemon: Daemon, traces: Traces) -> None:
    with connect(daemon.socket) as sock:
        sock.sendall(
            request("GET", "/healthz") + request("POST", "/v1/stop", b"{}", JSON, host="evil.example")
        )
        got = b""
        while b"wrong-host" not in got and (piece := sock.recv(65536)):
            got += piece
        assert re.findall(rb"HTTP/1.1 ([0-9]+)", got) == [b"200", b"421"]


def test_a_sender_that_leaves_in_the_middle_of_its_report_changes_nothing(
    daemon: Daemon, traces: Traces
) -> None:
    for _ in range(20):
        with connect(daemon.socket) as sock:
            sock.sendall(hook(GOOD.replace(b"good", b"left"), "Content-Length: 200"))
    assert daemon.get("/healthz")["ok"] is True
