"""Five hundred sessions on the board: all drawn, filtered, and one change touches one row. (Times: bench/web.py.)"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from headcount.present.time_text import stamp
from tests.present.sample_rows import session
from tests.rig.browser.chromium import Tab, chromium
from tests.rig.browser.pretended_daemon import Pretend

MANY = 500
ACTIVITIES = ("waiting", "failed", "done", "working", "unknown")
COUNT = "document.querySelectorAll('main [data-session]').length"

WATCH = """() => { window.touched = new Set();
  new MutationObserver((found) => { for (const each of found) {
    const at = each.target.nodeType === 1 ? each.target : each.target.parentElement;
    const row = at?.closest("[data-session]"); if (row) window.touched.add(row.dataset.session);
    for (const added of each.addedNodes) if (added.dataset?.session) window.touched.add(added.dataset.session);
  } }).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true, characterData: true }); }"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def row(nth: int, **more: Any) -> dict[str, Any]:
    """Hours old, so that no age changes while the test looks."""
    old = {"since": stamp(1_700_000_000.0 + nth)}
    activity = ACTIVITIES[nth % len(ACTIVITIES)]
    return session(
        f"{nth:08x}", name=f"agent-{nth}", activity=activity, cwd=f"/src/repo-{nth % 9}", **(old | more)
    )


def test_five_hundred_sessions_are_drawn_and_filtered(browser: Browser) -> None:
    with Pretend([row(nth) for nth in range(MANY)]) as pretend:
        tab = Tab(browser).open(pretend.url)
        tab.until(f"{COUNT} === {MANY}")
        tab.page.fill("#filter", "repo-3 working")
        wanted = sum(1 for nth in range(MANY) if nth % 9 == 3 and nth % 5 == 3)
        tab.until(f"{COUNT} === {wanted}")
        said = tab.page.locator(".summary").inner_text()
        assert said.startswith(f"{MANY} alive") and said.endswith(f"{wanted} of {MANY} shown")
        tab.page.fill("#filter", "no such thing")
        tab.until(f"{COUNT} === 0")
        tab.page.keyboard.press("Escape")
        tab.until(f"{COUNT} === {MANY}")
        assert tab.faults() == []
        tab.close()


def test_one_change_among_five_hundred_touches_one_row(browser: Browser) -> None:
    with Pretend([row(nth) for nth in range(MANY)]) as pretend:
        tab = Tab(browser).open(pretend.url)
        tab.until(f"{COUNT} === {MANY}")
        tab.page.evaluate(WATCH)
        changed = row(7, doing="Edit: one.txt")
        pretend.tell("session.activity", {"session": changed})
        tab.until("document.querySelector('main').textContent.includes('Edit: one.txt')")
        tab.page.evaluate("() => { window.later = performance.now() + 2200; }")
        tab.until("performance.now() > window.later")  # and as time goes by no row is drawn anew
        assert tab.page.evaluate("[...window.touched]") == [changed["id"]]
        tab.close()
