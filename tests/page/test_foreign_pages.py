"""A page on another port that really tries: with fetch, forms, frames, scripts, a stolen credential, a rebound name.

The negative control is a naive local server (no check of Host, Origin, type or credential): the same page gets in.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.rig.browser.chromium import Tab, chromium
from tests.rig.browser.page_port import Door
from tests.rig.daemon.real_daemon import Daemon

REBOUND = "rebound.test"

TRIES = """
async ({ target, credential }) => {
  const got = {};
  const attempt = async (name, doing) => { try { got[name] = await doing(); } catch (fault) { got[name] = `refused: ${fault.name}`; } };
  const text = async (answer) => (answer.type === "opaque" ? "opaque" : (await answer.text()).slice(0, 60));
  const auth = { authorization: `Bearer ${credential}` };
  await attempt("read", async () => text(await fetch(`${target}/v1/sessions`)));
  await attempt("read with the credential", async () => text(await fetch(`${target}/v1/sessions`, { headers: auth })));
  await attempt("blind read", async () => text(await fetch(`${target}/v1/sessions`, { mode: "no-cors" })));
  await attempt("json", async () => text(await fetch(`${target}/v1/stop`, { method: "POST", headers: { "content-type": "application/json", ...auth }, body: "{}" })));
  await attempt("blind post", async () => text(await fetch(`${target}/v1/stop`, { method: "POST", mode: "no-cors", body: "{}" })));
  await attempt("delete", async () => text(await fetch(`${target}/v1/web`, { method: "DELETE", headers: auth })));
  await attempt("script", () => new Promise((done) => { const each = document.createElement("script"); each.src = `${target}/wire.js`; each.onload = () => done("ran"); each.onerror = () => done("refused"); document.body.append(each); }));
  await attempt("image", () => new Promise((done) => { const each = new Image(); each.src = `${target}/icon.svg`; each.onload = () => done("shown"); each.onerror = () => done("refused"); }));
  await attempt("stream", () => new Promise((done) => { const each = new EventSource(`${target}/v1/events`); each.onmessage = () => done("read"); each.onerror = () => { each.close(); done("refused"); }; }));
  await attempt("frame", () => new Promise((done) => { const each = document.createElement("iframe"); each.src = `${target}/`; each.onload = () => { try { done(each.contentDocument ? each.contentDocument.title : "closed"); } catch { done("closed"); } }; document.body.append(each); }));
  await attempt("form", () => new Promise((done) => {
    const into = document.createElement("iframe"); into.name = "into"; into.onload = () => setTimeout(() => done("sent"), 50); document.body.append(into);
    const each = document.createElement("form"); each.method = "POST"; each.action = `${target}/v1/stop`; each.target = "into"; each.enctype = "text/plain";
    const field = document.createElement("input"); field.name = '{"a":"'; field.value = '"}'; each.append(field); document.body.append(each); each.submit(); }));
  return got;
}
"""


class Handler(BaseHTTPRequestHandler):
    """What a careless tool on loopback does: answers whoever asks, and lets every page read it."""

    reached: list[tuple[str, str, str]]
    careless = True

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _any(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.reached.append((self.command, self.path, self.headers.get("host", "")))
        body = (
            json.dumps({"sessions": ["secret"]}).encode()
            if self.careless
            else b"<!doctype html><title>elsewhere</title>"
        )
        self.send_response(200)
        self.send_header("content-type", "application/json" if self.careless else "text/html")
        if self.careless:
            for name in ("origin", "headers", "methods"):
                self.send_header(
                    f"access-control-allow-{name}",
                    "authorization, content-type" if name == "headers" else "*",
                )
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_OPTIONS = do_DELETE = _any


class Server:
    def __init__(self, careless: bool) -> None:
        self.reached: list[tuple[str, str, str]] = []
        kind = type("Own", (Handler,), {"reached": self.reached, "careless": careless})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_port

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium(f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1") as running:
        yield running


def tries(browser: Browser, here: Server, target: str, credential: str) -> dict[str, Any]:
    tab = Tab(browser)
    try:
        tab.page.goto(f"http://127.0.0.1:{here.port}/")
        got: dict[str, Any] = tab.page.evaluate(TRIES, {"target": target, "credential": credential})
        return got
    finally:
        tab.close()


def test_a_page_on_another_port_gets_nothing_and_changes_nothing(
    daemon: Daemon, browser: Browser, tmp_path: Path
) -> None:
    door = Door(daemon, tmp_path / "errands").log_in()
    with Server(careless=False) as here:
        got = tries(browser, here, f"http://127.0.0.1:{door.port}", door.credential or "")
    for name in ("read", "read with the credential", "json", "delete"):
        assert got[name] == "refused: TypeError", (name, got)
    assert got["blind read"] in ("opaque", "refused: TypeError")
    assert (got["script"], got["image"], got["stream"]) == ("refused", "refused", "refused")
    assert got["frame"] in ("closed", ""), got
    assert daemon.call("GET", "/healthz").status == 200
    assert daemon.get("/v1/status")["url"] is not None
    assert door.ask("GET", "/v1/sessions").status == 200  # and the tab that is in stays in


def test_a_careless_server_on_loopback_is_read_and_changed_by_the_same_page(browser: Browser) -> None:
    with Server(careless=False) as here, Server(careless=True) as naive:
        got = tries(browser, here, f"http://127.0.0.1:{naive.port}", "x")
        reached = {(method, path) for method, path, _ in naive.reached}
    assert "secret" in got["read"] and "secret" in got["json"]
    assert ("POST", "/v1/stop") in reached and ("DELETE", "/v1/web") in reached


def test_a_name_that_was_made_to_point_here_is_not_answered(
    daemon: Daemon, browser: Browser, tmp_path: Path
) -> None:
    """DNS rebinding: to the browser the foreign name and our port are one origin; the Host header tells."""
    door = Door(daemon, tmp_path / "errands").log_in()
    tab = Tab(browser)
    answer = tab.page.goto(f"http://{REBOUND}:{door.port}/")
    assert answer is not None and answer.status == 421
    read = "(credential) => fetch('/v1/sessions', { headers: { authorization: `Bearer ${credential}` } }).then((answer) => answer.status)"
    assert tab.page.evaluate(read, door.credential) == 421
    with Server(careless=True) as naive:
        control = tab.page.goto(f"http://{REBOUND}:{naive.port}/")
        assert control is not None and control.status == 200
        assert naive.reached[0][2] == f"{REBOUND}:{naive.port}"
    tab.close()


def test_a_link_from_another_page_does_not_open_ours(
    daemon: Daemon, browser: Browser, tmp_path: Path
) -> None:
    """A person's own tab is typed, or opened by a program: the browser says so. A link elsewhere is not."""
    door = Door(daemon, tmp_path / "errands")
    tab = Tab(browser)
    with Server(careless=False) as here:
        tab.page.goto(f"http://127.0.0.1:{here.port}/")
        with tab.page.expect_response(lambda response: str(door.port) in response.url) as caught:
            tab.page.evaluate("(url) => { location.href = url; }", f"http://127.0.0.1:{door.port}/")
        assert caught.value.status == 403
    tab.close()
