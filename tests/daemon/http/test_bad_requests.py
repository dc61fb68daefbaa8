"""Bad requests on the wire: refused in clear words, never a 5xx, and nothing is changed by them."""

import re
from collections.abc import Iterator

import pytest

from tests.rig.daemon.real_daemon import Daemon
from tests.rig.network.raw_requests import JSON, Traces, assert_refused, connect, exchange, hook, request

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
        "/v1/sessions/nobody/start",
        "/v1/nothing",
    ],
)
def test_odd_paths_and_ids_find_nothing(daemon: Daemon, traces: Traces, path: str) -> None:
    """I8: an id is compared, never used as a name of anything."""
    assert_refused(daemon, request("GET", path), 400, 404)


def test_reports_of_an_agent_that_nobody_knows_are_refused(daemon: Daemon, traces: Traces) -> None:
    for agent in ("codex2", "..", "%2e%2e", "claude-code%00", "CLAUDE-CODE"):
        assert_refused(daemon, hook(GOOD, agent=agent), 404)


@pytest.mark.parametrize(
    "query",
    ["after=x", "after=-1", "limit=１２", "limit=1e3", "since=" + "9" * 16, "after=%00", "type=%00&type=x"],
)
def test_bad_parameters_are_refused(daemon: Daemon, traces: Traces, query: str) -> None:
    assert_refused(daemon, request("GET", f"/v1/history?{query}"), 400)


@pytest.mark.parametrize("query", ["session=%ff", "session=" + "x" * 9000, "limit=0", "newest=maybe"])
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
