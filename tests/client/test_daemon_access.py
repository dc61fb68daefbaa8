"""Reaching a daemon: what is started, what is replaced, what is only said."""

from pathlib import Path

import pytest

from headcount.client.daemon_access import DaemonAccess, order, quoted
from headcount.client.faults import NotRunning, Unavailable
from headcount.paths import Places
from tests.client.scripted_server import WireServer, answer


class Said:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, line: str) -> None:
        self.lines.append(line)


def client_of(home: Path, said: Said, *, autostart: bool = True, version: str = "0.1.0") -> DaemonAccess:
    return DaemonAccess(Places.below(str(home)), {}, autostart=autostart, say=said, version=version)


def test_one_question_is_one_round_trip(tmp_path: Path) -> None:
    said = Said()
    with WireServer(str(tmp_path / "headcount.sock"), lambda *_: answer({"sessions": []})) as server:
        client = client_of(tmp_path, said)
        assert client.get("/v1/sessions") == {"sessions": []}
        client.close()
    assert len(server.requests) == 1
    assert said.lines == []


def test_what_may_be_asked_twice_needs_no_question_before_it(tmp_path: Path) -> None:
    """An acquire carries its request id, so that the first answer can be the version check, as for a question."""
    with WireServer(str(tmp_path / "headcount.sock"), lambda *_: answer({})) as server:
        asked_once = client_of(tmp_path, Said())
        asked_once.answer("POST", "/v1/claims", {"item": "task:A", "request": "r"}, again=True)
        asked_once.close()
        assert len(server.requests) == 1
        other = client_of(tmp_path, Said())
        other.answer("POST", "/v1/claims/task:A/handoff", {"to": "x"})
        other.close()
    assert len(server.requests) == 3


def test_without_autostart_nobody_is_started(tmp_path: Path) -> None:
    with pytest.raises(NotRunning):
        client_of(tmp_path, Said(), autostart=False).get("/healthz")
    assert list(tmp_path.iterdir()) == []


def test_a_newer_daemon_is_used_and_said_once(tmp_path: Path) -> None:
    said = Said()
    with WireServer(str(tmp_path / "headcount.sock"), lambda *_: answer({}, version="0.10.0")):
        client = client_of(tmp_path, said, version="0.9.9")
        client.get("/")
        client.get("/")
        client.close()
    assert len(said.lines) == 1
    assert "newer" in said.lines[0]


def test_an_older_daemon_is_stopped_and_replaced_and_the_question_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accident H10: an upgrade left the old daemon running with the old code."""
    path = str(tmp_path / "headcount.sock")
    servers: list[WireServer] = []

    def old(line: str, *_: object) -> bytes:
        if line.startswith("POST /v1/stop"):
            servers[0]._sock.close()
            Path(path).unlink()
            return answer({}, 202, version="0.1.0", more="connection: close\r\n")
        return answer({"by": "old"}, version="0.1.0")

    servers.append(WireServer(path, old))
    said = Said()
    client = client_of(tmp_path, said, version="0.2.0")

    def start() -> None:
        servers.append(WireServer(path, lambda *_: answer({"by": "new"}, version="0.2.0")))
        client.started = True

    monkeypatch.setattr(client, "start", start)
    assert client.get("/v1/sessions") == {"by": "new"}
    client.close()
    assert [line for line, _, _ in servers[0].requests if "stop" in line] == ["POST /v1/stop HTTP/1.1"]
    assert len(said.lines) == 1
    for server in servers:
        server.close()


def test_an_older_daemon_that_refuses_to_stop_is_used_as_it_is(tmp_path: Path) -> None:
    def script(line: str, *_: object) -> bytes:
        return (
            answer({"error": {"code": "not-allowed", "message": "no"}}, 403)
            if "stop" in line
            else answer({"x": 1})
        )

    said = Said()
    with WireServer(str(tmp_path / "headcount.sock"), script):
        client = client_of(tmp_path, said, version="9.0")
        assert client.get("/") == {"x": 1}
        client.close()
    assert "A person restarts it" in said.lines[0]


def test_an_answer_without_our_version_is_not_headcount(tmp_path: Path) -> None:
    with WireServer(str(tmp_path / "headcount.sock"), lambda *_: answer({}, version=None)):
        client = client_of(tmp_path, Said())
        with pytest.raises(Unavailable):
            client.get("/")
        client.close()


def test_versions_are_ordered_by_number() -> None:
    assert order("0.9.1") < order("0.10.0") < order("1.0")
    assert order("1.0") == order("1.0.0")
    assert order("0.2.0rc1") == order("0.2.0+local")
    assert order("") == ()


def test_foreign_text_cannot_leave_its_place_in_an_address() -> None:
    assert quoted("a/b ?&#\r\n%é") == "a%2Fb%20%3F%26%23%0D%0A%25%C3%A9"
