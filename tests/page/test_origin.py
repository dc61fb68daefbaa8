"""The page's origin in a real browser: fresh for each run of the daemon, whatever was left at the port before it."""

import shlex
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.rig.browser.chromium import Tab, another, chromium
from tests.rig.browser.page_link import link, links
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network import sshd
from tests.rig.network.postgres import free_port

PLANTED = b"""<!doctype html><title>planted</title><script>
navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready)
  .then(() => { document.title = "worker ready"; });
</script>"""
WORKER = b"""const planted = `<!doctype html><title>planted</title><p id="read"></p>
<script>document.getElementById("read").textContent = location.hash</script>`;
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("fetch", (event) =>
  event.respondWith(new Response(planted, { headers: { "content-type": "text/html" } })));"""


class Squatting(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        is_worker = self.path == "/worker.js"
        body = WORKER if is_worker else PLANTED
        self.send_response(200)
        self.send_header("content-type", "text/javascript" if is_worker else "text/html")
        self.send_header("cache-control", "max-age=86400")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Squatter(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


@contextmanager
def squatter(port: int) -> Iterator[None]:
    """Somebody who listens on that port while the daemon does not, and leaves a service worker behind."""
    server = Squatter(("127.0.0.1", port), Squatting)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def fixed(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon whose page has a port of its settings."""
    daemon = Daemon(tmp_path / "headcount")
    (daemon.home / "config.toml").write_text(f"web_port = {free_port()}\n")
    with daemon:
        yield daemon


@contextmanager
def tab_of(browser: Browser) -> Iterator[Tab]:
    tab = Tab(browser)
    try:
        yield tab
    finally:
        tab.close()


def test_a_worker_planted_while_the_daemon_was_down_does_not_see_the_next_link(
    fixed: Daemon, browser: Browser, tmp_path: Path
) -> None:
    old = link(fixed, tmp_path / "errands")
    port = urlsplit(old).port
    assert port is not None
    plain = f"http://127.0.0.1:{port}/"
    with tab_of(browser) as tab:
        tab.open(old)
        fixed.kill()
        with squatter(port):
            for origin in (plain, old.partition("#")[0], f"http://localhost:{port}/"):
                tab.page.goto(origin)
                tab.until("navigator.serviceWorker.controller !== null || document.title === 'worker ready'")
        fixed.ready()
        new, beside = links(fixed, tmp_path / "errands")
        assert beside is None and urlsplit(new).port == port
        tab.page.goto(f"{plain}#code")  # the control: at the address that was remembered it reads the code
        expect(tab.page.locator("#read")).to_have_text("#code")
        tab.open(new)
        assert tab.page.evaluate("navigator.serviceWorker.controller") is None
        assert urlsplit(tab.page.url).netloc == urlsplit(new).netloc


def test_a_reload_and_a_second_tab_work_while_the_daemon_runs(
    daemon: Daemon, browser: Browser, tmp_path: Path
) -> None:
    with tab_of(browser) as first, tab_of(browser) as second:
        first.open(link(daemon, tmp_path / "errands"))
        first.page.reload()
        first.page.wait_for_selector("header .live")
        second.open(link(daemon, tmp_path / "errands"))
        assert urlsplit(second.page.url).netloc == urlsplit(first.page.url).netloc
        first.page.reload()
        first.page.wait_for_selector("header .live")
        registered = "navigator.serviceWorker.register('/app.js').then(() => 'registered', () => 'refused')"
        assert first.page.evaluate(registered) == "refused"
        assert second.faults() == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_after_a_restart_the_tab_says_so_and_names_the_command(
    daemon: Daemon, browser: Browser, tmp_path: Path, how: signal.Signals
) -> None:
    with tab_of(browser) as tab, tab_of(browser) as new:
        tab.open(link(daemon, tmp_path / "errands"))
        daemon.kill(how)
        place = tab.page.locator("main.alone" if how == signal.SIGTERM else ".banner")
        expect(place).to_contain_text("stopped or restarted")
        expect(place.locator("code")).to_have_text("headcount web")
        daemon.ready()
        new.open(link(daemon, tmp_path / "errands"))
        expect(place).to_contain_text("stopped or restarted")  # still: it does not come back


def test_on_a_fixed_port_a_tab_of_the_run_before_is_logged_out_by_the_new_page(
    fixed: Daemon, browser: Browser, tmp_path: Path
) -> None:
    with tab_of(browser) as tab, tab_of(browser) as new:
        tab.open(link(fixed, tmp_path / "errands"))
        fixed.restart()
        new.open(link(fixed, tmp_path / "errands"))
        expect(tab.page.locator("main.alone")).to_contain_text("stopped or restarted")
        expect(tab.page.locator("main.alone code")).to_have_text("headcount web")
        assert tab.page.evaluate("sessionStorage.length") == 0


def test_a_browser_that_does_not_resolve_the_name_uses_the_plain_link_on_a_fresh_port(
    daemon: Daemon, browser: Browser, tmp_path: Path
) -> None:
    """As Safari on macOS, where the system's resolver is asked."""
    rule = "--host-resolver-rules=MAP *.localhost ~NOTFOUND"
    with another(browser, rule) as other, tab_of(other) as failed, tab_of(other) as tab:
        named, plain = links(daemon, tmp_path / "errands")
        with pytest.raises(Exception, match="ERR_NAME_NOT_RESOLVED"):
            failed.page.goto(named)
        assert plain is not None
        tab.open(plain)
        tab.page.reload()
        tab.page.wait_for_selector("header .live")


@pytest.mark.skipif(not sshd.is_possible(), reason="no sshd here")
def test_the_link_works_through_an_ssh_tunnel_of_a_fixed_port(
    fixed: Daemon, browser: Browser, tmp_path: Path
) -> None:
    """The other machine is 127.0.0.2: its browser finds the same port there."""
    named = link(fixed, tmp_path / "errands")
    port = urlsplit(named).port
    with sshd.Sshd(tmp_path / "sshd", fixed.env) as server:
        words = [*shlex.split(server.ssh), "-N", "-L", f"127.0.0.2:{port}:127.0.0.1:{port}", "127.0.0.1"]
        with subprocess.Popen(words) as tunnel:
            try:
                eventually(lambda: _listens("127.0.0.2", port or 0))
                rule = "--host-resolver-rules=MAP *.localhost 127.0.0.2"
                with another(browser, rule) as other, tab_of(other) as tab:
                    tab.open(named)
                    assert tab.faults() == []
            finally:
                tunnel.terminate()


def _listens(host: str, port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex((host, port)) == 0
