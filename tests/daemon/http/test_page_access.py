"""The page's door: who gets through it, with what, and for how long. Asked over a real loopback connection."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headcount.daemon.http.page_access import Credentials
from headcount.daemon.routes.table import ROUTES
from headcount.times import PAGE_CODE_WITHIN, PAGE_CREDENTIAL
from tests.daemon.api.test_permissions import rows
from tests.rig.agents.callers import Errand, Request, child, detached
from tests.rig.agents.stand_in import Agent
from tests.rig.browser.page_port import Answer, Door
from tests.rig.daemon.real_daemon import Daemon, eventually


class Watch:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def now(self) -> float:
        return self.at


@pytest.fixture
def door(daemon: Daemon, tmp_path: Path) -> Iterator[Door]:
    yield Door(daemon, tmp_path / "errands")


@contextmanager
def fixed(directory: Path, port: int | None = None) -> Iterator[Daemon]:
    """A daemon whose page has that port, or one that was free, in its settings."""
    daemon = Daemon(directory / "headcount")
    if port is None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    (daemon.home / "config.toml").write_text(f"web_port = {port}\n")
    with daemon:
        yield daemon


# --- codes and credentials -------------------------------------------------------------------------


def test_a_code_is_good_once_and_for_a_minute() -> None:
    watch = Watch()
    credentials = Credentials(watch)  # type: ignore[arg-type]
    code, late = credentials.mint_code(), credentials.mint_code()
    credential = credentials.log_in(code)
    assert credential is not None and credentials.admits(f"Bearer {credential}")
    assert credentials.log_in(code) is None
    watch.at += PAGE_CODE_WITHIN
    assert credentials.log_in(late) is None
    watch.at += PAGE_CREDENTIAL - PAGE_CODE_WITHIN - 1
    assert credentials.admits(f"Bearer {credential}")
    watch.at += 1
    assert not credentials.admits(f"Bearer {credential}")


@pytest.mark.parametrize(
    "word",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic x",
        "Bearer " + "x" * 5000,
        "Bearer \u00e9",
        "Headcount-Session x",
    ],
)
def test_what_is_no_credential_admits_nobody(word: str | None) -> None:
    assert not Credentials(Watch()).admits(word)  # type: ignore[arg-type]


def test_codes_and_tabs_are_bounded_and_the_oldest_give_way() -> None:
    credentials = Credentials(Watch())  # type: ignore[arg-type]
    first = credentials.mint_code()
    for _ in range(100):
        credentials.mint_code()
    assert credentials.log_in(first) is None
    tabs = [credentials.log_in(credentials.mint_code()) for _ in range(200)]
    assert not credentials.admits(f"Bearer {tabs[0]}")
    assert credentials.admits(f"Bearer {tabs[-1]}")


# --- the door --------------------------------------------------------------------------------------


def test_without_a_person_there_is_no_door(daemon: Daemon) -> None:
    assert daemon.get("/v1/status")["url"] is None


def test_an_agent_gets_no_link(daemon: Daemon, tmp_path: Path, agent: "type[Agent]") -> None:
    inside = agent()  # type: ignore[call-arg]
    inside.hook(daemon.mailbox, "SessionStart", source="startup")
    daemon.session(conversation=inside.conversation)
    (answer,) = child(inside, Errand(tmp_path / "errands", daemon.socket, [Request("POST", "/v1/web", {})]))
    assert answer.code == "operator-only"
    assert daemon.get("/v1/status")["url"] is None


def test_the_command_prints_a_link_that_logs_in(daemon: Daemon, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headcount", "web", "--print"]
    out = tmp_path / "out"
    line = f"{' '.join(command)} >{out}.new 2>{out}.err; mv {out}.new {out}"
    subprocess.run(["setsid", "-f", "/bin/sh", "-c", line], env=daemon.env, check=True)
    eventually(out.exists)
    url = out.read_text().strip()
    host, _, code = url.removeprefix("http://").partition("/#")
    said = Path(f"{out}.err").read_text()
    assert "good once" in said and f"{daemon.get('/v1/status')['url']}#{code}" in said
    assert re.fullmatch(r"[0-9a-f]{32}\.localhost:[0-9]+", host)


def test_only_loopback_is_listened_on(door: Door) -> None:
    found = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    places = {
        line.split()[1] for line in found.splitlines() if f":{door.port:04X} " in line and " 0A " in line
    }
    assert places == {f"0100007F:{door.port:04X}"}


def test_every_route_needs_the_credential_but_the_login(door: Door) -> None:
    """Nobody, and whoever brings an agent's token instead."""
    for template in rows("x", 1):
        method, _, request, _ = template
        for authorization in (None, "Headcount-Session abc", "Bearer abc"):
            answer = door.ask(method, request.target, request.body, authorization=authorization)
            wanted = "bad-code" if request.target == "/v1/web/login" else "not-logged-in"
            assert (answer.status, answer.code) == (401, wanted), request
    assert door.ask("GET", "/nowhere").status == 401  # not even which routes there are
    assert door.daemon.call("GET", "/healthz").status == 200


def test_a_page_may_do_what_the_operator_may(door: Door) -> None:
    door.log_in()
    refused = []
    for method, _, request, _ in rows("x", os.getpid()):
        if (method, request.target) in (
            ("DELETE", "/v1/web"),
            ("POST", "/v1/stop"),
            ("POST", "/v1/web/login"),
        ):
            continue
        answer = door.ask(method, request.target, request.body)
        if (answer.status in (401, 403) and answer.code != "not-an-agent") or answer.status >= 500:
            refused.append((method, request, answer))
    assert refused == []
    me = door.ask("GET", "/v1/sessions/me?explain=1").data
    assert (me["kind"], me["resolved_by"], me["session"]) == ("page", "page", None)
    assert door.ask("POST", "/v1/stop", {}).status == 202


def test_a_page_is_no_agent_and_claims_nothing_for_itself(door: Door) -> None:
    answer = door.log_in().ask("POST", "/v1/claims", {"item": "task:PAGE-1"})
    assert answer.code == "not-an-agent"


FOREIGN: list[tuple[dict[str, str | None], int]] = [
    ({"host": "evil.test"}, 421),
    ({"host": "evil.test:{port}"}, 421),
    ({"host": "127.0.0.1"}, 421),
    ({"host": "127.0.0.1:1"}, 421),
    ({"host": "localhost"}, 421),
    ({"host": "127.0.0.1:{port}.evil.test"}, 421),
    ({"host": "0.0.0.0:{port}"}, 421),
    ({"host": "[::1]:{port}"}, 421),
    ({"host": "evil.localhost:{port}"}, 421),
    ({"host": "x{name}"}, 421),
    ({"host": "{name}."}, 421),
    ({"host": None}, 421),
    ({"host": ""}, 421),
    ({"origin": "http://evil.test"}, 403),
    ({"origin": "null"}, 403),
    ({"origin": "http://127.0.0.1:1"}, 403),
    ({"origin": "http://localhost:{port}"}, 403),  # another origin than the one that was asked
    ({"origin": "http://{name}"}, 403),
    ({"origin": "https://127.0.0.1:{port}"}, 403),
    ({"origin": ""}, 403),
    ({"sec_fetch_site": "cross-site"}, 403),
    ({"sec_fetch_site": "same-site"}, 403),
]


def test_foreign_pages_are_refused_with_and_without_a_credential(door: Door) -> None:
    paths = ("/", "/app.js", "/v1/sessions", "/v1/web/login")
    for path in paths:
        assert door.ask("GET", path).status in (200, 401, 405)
    for credential in (None, door.log_in().credential):
        door.credential = credential
        for headers, status in FOREIGN:
            sent = {
                name: value.format(port=door.port, name=door.host) if value else value
                for name, value in headers.items()
            }
            for path in paths:
                answer = door.ask("GET", path, **sent)
                assert answer.status in (status, 400), (headers, path)
                assert not any(name.startswith("access-control") for name in answer.headers)


def test_our_own_page_by_each_name_is_let_in(door: Door) -> None:
    door.log_in()
    for host in (f"127.0.0.1:{door.port}", f"localhost:{door.port}", door.host):
        assert (
            door.ask(
                "GET", "/v1/sessions", host=host, origin=f"http://{host}", sec_fetch_site="same-origin"
            ).status
            == 200
        )
        assert door.ask("GET", "/", host=host, sec_fetch_site="none").status == 200


def test_a_form_cannot_post_and_a_preflight_is_refused(door: Door) -> None:
    door.log_in()
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data", None):
        assert door.ask("POST", "/v1/stop", {}, content_type=kind).status == 415
    preflight = door.ask(
        "OPTIONS", "/v1/stop", origin=f"http://127.0.0.1:{door.port}", access_control_request_method="POST"
    )
    assert preflight.status == 405
    assert not any(name.startswith("access-control") for name in preflight.headers)
    assert door.daemon.call("GET", "/healthz").status == 200


def test_every_answer_confines_the_page(door: Door) -> None:
    door_in: list[Answer] = [
        door.ask("GET", "/"),
        door.ask("GET", "/v1/sessions"),
        door.ask("GET", "/", host="evil.test"),
    ]
    door.log_in()
    door_in += [
        door.ask("GET", "/v1/sessions"),
        door.ask("GET", "/v1/events"),
        door.ask("HEAD", "/style.css"),
    ]
    for answer in door_in:
        policy = answer.headers["content-security-policy"]
        assert (
            "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        )
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"


def test_only_the_pages_own_files_are_served_by_their_own_names(door: Door) -> None:
    assert door.ask("GET", "/vendor/htm.module.js").status == 200
    for path in (
        "/../pyproject.toml",
        "/%2e%2e/app.js",
        "/vendor",
        "/vendor/",
        "//app.js",
        "/app.js/",
        "/views/../app.js",
    ):
        assert door.ask("GET", path).status == 401, path


def test_the_unix_socket_serves_no_page(door: Door) -> None:
    assert door.daemon.call("GET", "/").status == 404


# --- an origin of its own ----------------------------------------------------------------------------


def test_each_opening_has_an_origin_of_its_own_and_ends_every_credential_before_it(door: Door) -> None:
    """Whoever had the port meanwhile may have left a page or a service worker at the origin that was."""
    door.log_in()
    seen = [door.host]
    (closed,) = detached(Errand(door.directory, door.daemon.socket, [Request("DELETE", "/v1/web")]))
    assert closed.data == {"closed": True}
    seen.append(Door(door.daemon, door.directory).host)
    for _ in range(2):
        door.daemon.restart()
        assert door.daemon.get("/v1/status")["url"] is None
        again = Door(door.daemon, door.directory)
        seen.append(again.host)
        again.credential = door.credential
        assert again.ask("GET", "/v1/sessions").status == 401
    names = [host.partition(".localhost:")[0] for host in seen]
    assert len(set(names)) == len(names) and all(re.fullmatch("[0-9a-f]{32}", name) for name in names)
    assert not list(door.daemon.home.glob("web.*")), "nothing about tabs is on the disk"


def test_a_second_link_is_for_the_same_origin_and_leaves_the_first_tab_in(door: Door) -> None:
    door.log_in()
    second = Door(door.daemon, door.directory)
    assert second.host == door.host and second.code != door.code
    assert second.log_in().ask("GET", "/v1/sessions").status == 200
    assert door.ask("GET", "/v1/sessions").status == 200


def test_the_link_has_the_fresh_name_and_status_keeps_the_plain_one(door: Door) -> None:
    assert door.link.startswith(f"http://{door.host}/#")
    plain = door.daemon.get("/v1/status")["url"]
    assert plain == f"http://127.0.0.1:{door.port}/"
    assert door.plain_link == f"{plain}#{door.code}"
    door.log_in()  # at 127.0.0.1, for browsers that do not resolve the other name
    assert door.ask("GET", "/", host=door.host).status == 200
    assert door.ask("GET", "/v1/sessions", host=door.host, origin=f"http://{door.host}").status == 200


def test_on_a_fixed_port_the_page_is_served_at_its_fresh_name_alone(tmp_path: Path) -> None:
    with fixed(tmp_path) as daemon:
        door = Door(daemon, tmp_path / "errands")
        assert door.plain_link is None
        words = [sys.executable, "-m", "headcount", "web", "--print"]
        told = subprocess.run(words, env=daemon.env, capture_output=True, text=True, timeout=60).stderr
        assert (
            f"remove web_port from {daemon.home}/config.toml, then: headcount down && headcount up\n" in told
        )
        assert str(door.port) in (tmp_path / "headcount" / "config.toml").read_text()
        for host in (f"127.0.0.1:{door.port}", f"localhost:{door.port}"):
            for path in ("/", "/app.js", "/v1/sessions", "/v1/status"):
                assert door.ask("GET", path, host=host).status == 401
            assert door.ask("POST", "/v1/web/login", {"code": door.code}, host=host).status == 401
        assert door.ask("GET", "/", host=door.host).status == 200
        login = door.ask("POST", "/v1/web/login", {"code": door.code}, host=door.host)
        assert login.status == 200, "the code was not used up by those"
        door.credential = login.data["credential"]
        assert door.ask("GET", "/v1/sessions").status == 200  # a program, with the credential
        assert door.ask("GET", "/").status == 404


def test_the_name_of_an_earlier_run_is_not_answered_on_a_fixed_port(tmp_path: Path) -> None:
    with fixed(tmp_path) as daemon:
        old = Door(daemon, tmp_path / "errands")
        daemon.restart()
        new = Door(daemon, tmp_path / "errands")
        assert new.port == old.port
        for path in ("/", "/v1/sessions"):
            answer = new.ask("GET", path, host=old.host)
            assert (answer.status, answer.code) == (421, "wrong-host")
            assert "headcount web" in answer.data["error"]["hint"]


def test_nobody_can_listen_on_the_other_loopback_address_beside_the_page(door: Door) -> None:
    """Browsers resolve names of localhost to ::1 first: whoever listened there would be the page."""
    for address in ("::1", "::"):
        with socket.socket(socket.AF_INET6) as squatter, pytest.raises(OSError, match="in use"):
            squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            squatter.bind((address, door.port))
            squatter.listen()
    with socket.socket(socket.AF_INET6) as browser, pytest.raises(ConnectionRefusedError):
        browser.connect(("::1", door.port))


def test_a_fixed_port_that_another_has_on_the_other_loopback_address_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET6) as squatter:
        squatter.bind(("::1", 0))
        squatter.listen()
        with fixed(tmp_path, squatter.getsockname()[1]) as daemon:
            (answer,) = detached(
                Errand(tmp_path / "errands", daemon.socket, [Request("POST", "/v1/web", {})])
            )
            assert answer.code == "no-port"
            assert daemon.get("/v1/status")["url"] is None


def test_no_service_worker_is_served_or_allowed(door: Door) -> None:
    for path in ("/app.js", "/v1/sessions"):
        assert door.ask("GET", path, service_worker="script").code == "foreign-origin"
    answer = door.ask("GET", "/", host=door.host)
    assert "worker-src 'none'" in answer.headers["content-security-policy"]
    assert "service-worker-allowed" not in answer.headers


def test_closing_ends_tabs_and_streams(door: Door) -> None:
    door.log_in()
    with socket.create_connection(("127.0.0.1", door.port)) as stream:
        head = f"GET /v1/events HTTP/1.1\r\nhost: 127.0.0.1:{door.port}\r\nauthorization: Bearer {door.credential}\r\n\r\n"
        stream.sendall(head.encode())
        stream.settimeout(10)
        assert b"200 OK" in stream.recv(65536)
        (closed,) = detached(Errand(door.directory, door.daemon.socket, [Request("DELETE", "/v1/web")]))
        assert closed.data == {"closed": True}
        while stream.recv(65536):
            pass
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", door.port), 1)


# --- its routes and its port -------------------------------------------------------------------------


def test_every_route_is_in_the_matrix_of_the_page() -> None:
    assert {(route.method, route.path) for route in ROUTES} == {
        (method, template) for method, template, _, _ in rows("x", 1)
    }
