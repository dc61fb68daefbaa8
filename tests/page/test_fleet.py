"""The page of a host that has joined a fleet: the real hosts, what runs there, and a database that is away."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.rig.agents.stand_in import Agent
from tests.rig.browser.chromium import chromium
from tests.rig.browser.page_with_daemon import ASKS, PROMPT, Scene
from tests.rig.daemon.fleet import Host, fleet
from tests.rig.network.cuttable_proxy import CLEAN
from tests.rig.network.postgres import Postgres


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def hosts(tmp_path: Path, postgres: Postgres) -> Iterator[list[Host]]:
    with fleet(tmp_path, postgres, "alpha", "beta") as joined:
        yield joined


def test_a_fleet_is_shown_with_its_hosts_what_runs_there_and_when_it_cannot_be_reached(
    hosts: list[Host], browser: Browser, tmp_path: Path
) -> None:
    alpha, beta = hosts
    with Agent(tmp_path / "agents") as claude:
        for event, fields in (("SessionStart", {"source": "startup"}), PROMPT, ASKS):
            claude.hook(beta.daemon.mailbox, event, session_title="on-beta", **fields)
        id = beta.daemon.session(conversation=claude.conversation, name="on-beta")["id"]
        status, granted = beta.worker().claim("task:FAR-1", note="the login")
        assert status == 200
        scene = Scene(alpha.daemon, browser, tmp_path, Agent)
        tab = scene.tab()
        tab.page.locator("nav a:has-text('Fleet')").click()
        here = tab.page.locator("[data-host]:has-text('alpha')")
        expect(here).to_contain_text("alpha (here)")
        there = tab.page.locator("[data-host]:has-text('beta')")
        expect(there).to_contain_text("alive")
        expect(there).to_contain_text("1 claim", timeout=15_000)
        far = tab.row(id)
        expect(far).to_contain_text("on-beta", timeout=15_000)
        expect(far.locator(".state")).to_have_text("permission")
        expect(far.locator(".id")).to_have_text("beta")
        scene.show(tab, "claims")
        card = tab.page.locator("[data-item='task:FAR-1']")
        expect(card).to_contain_text("on beta")
        expect(card).to_contain_text(f"claim #{granted['fence']}")
        scene.show(tab, "fleet")
        alpha.line.cut(CLEAN)
        expect(tab.page.locator("main .alarm")).to_contain_text("cannot be vouched for", timeout=20_000)
        expect(tab.page.locator("nav")).to_contain_text("Fleet")  # it is away, not left
        alpha.line.mend()
        expect(tab.page.locator("main .alarm")).to_have_count(0, timeout=20_000)
        scene.close()


def test_a_host_in_no_fleet_has_no_view_of_one(browser: Browser, tmp_path: Path) -> None:
    from tests.rig.daemon.real_daemon import Daemon

    with Daemon(tmp_path / "alone") as daemon:
        scene = Scene(daemon, browser, tmp_path, Agent)
        tab = scene.tab()
        expect(tab.page.locator("footer")).to_contain_text("left behind")
        expect(tab.page.locator("nav")).not_to_contain_text("Fleet")
        scene.show(tab, "fleet")
        expect(tab.page.locator("main")).to_contain_text("in no fleet")
        scene.close()
