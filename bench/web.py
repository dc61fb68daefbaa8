"""The page: from a kill to what a person sees in a real browser, and 500 sessions drawn and filtered.

Beside it: the same browser on a page that asks for the list every two seconds, as dashboards without a stream do.
"""

import random
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from bench.figure import Figure, Ratio, Row
from bench.home import running, scratch
from bench.numbers import median, ms, percentile, times
from tests.rig.agents.crowd import Crowd
from tests.rig.browser.chromium import Tab, chromium
from tests.rig.browser.page_link import link
from tests.rig.browser.page_port import Door
from tests.rig.daemon.real_daemon import Daemon, eventually

SESSIONS = 500
KILLS = 60
POLLED_KILLS = 25
POLLED_EVERY = 2_000  # milliseconds
FRAME_MOST = 0.05  # the browser calls a task longer than this a long one
SHOWN_WITHIN = 0.2

WATCH = """
window.painted = {}; window.long = [];
new PerformanceObserver((list) => { for (const each of list.getEntries()) window.long.push(each.duration / 1000); }).observe({ type: "longtask", buffered: true });
const seen = new Set();
const look = () => {
  for (const each of document.querySelectorAll('[data-liveness="ended"]')) {
    const id = each.dataset.session;
    if (seen.has(id)) continue;
    seen.add(id);
    requestAnimationFrame(() => setTimeout(() => { window.painted[id] = (performance.timeOrigin + performance.now()) / 1000; }));
  }
};
document.addEventListener("DOMContentLoaded", () => new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-liveness"] }));
"""

POLLING = """
({ credential, every }) => {
  window.gone = {}; let known = new Set();
  const ask = async () => {
    const answer = await fetch("/v1/sessions", { headers: { authorization: `Bearer ${credential}` } });
    const now = new Set((await answer.json()).sessions.map((each) => each.pid));
    for (const pid of known) if (!now.has(pid)) window.gone[pid] = (performance.timeOrigin + performance.now()) / 1000;
    known = now;
  };
  ask(); setInterval(ask, every);
}
"""

TYPED = """
(text) => new Promise((done) => {
  const began = performance.now(), field = document.getElementById("filter");
  field.value = text; field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done((performance.now() - began) / 1000))));
})
"""


def measure() -> Figure:
    many = SESSIONS + KILLS + POLLED_KILLS
    with scratch() as directory, running(directory, many) as (daemon, crowd), chromium() as browser:
        shown, first, filtered, long = _ours(browser, daemon, crowd, directory)
        polled = _polled(browser, daemon, crowd, directory)
    base = median(shown)
    rows = (
        _row(
            "kill to painted, by the stream",
            shown,
            base,
            f"under {ms(SHOWN_WITHIN)}",
            percentile(shown, 0.99) < SHOWN_WITHIN,
        ),
        _row("kill to known, by asking every 2 s", polled, base),
        _row(f"{SESSIONS} rows, from opening the link to all drawn", [first], None),
        _row(
            "a letter in the filter, to painted",
            filtered,
            None,
            "under 100 ms",
            percentile(filtered, 0.99) < 0.1,
        ),
        _row("tasks over 50 ms while 60 agents died and were filtered", long or [0.0], None),
    )
    notes = (
        f"{KILLS} kills with at least {SESSIONS} living sessions on the board; painted is the frame after the row changed.",
        f"{len(long)} tasks over 50 ms, counted from the moment the board stood.",
        f"The alternative: {POLLED_KILLS} kills at random moments; it only learns that a process is gone, and draws nothing.",
        "Headless Chromium without a GPU, on the machine that also runs the daemon and all the processes.",
    )
    ratio = Ratio(
        "a death, painted in a browser",
        ms(base),
        f"asking every 2 s: {ms(median(polled))}",
        median(polled) / base,
        f"p99 under {ms(SHOWN_WITHIN)}",
        percentile(shown, 0.99) < SHOWN_WITHIN,
    )
    return Figure("web", "The page", ("p50", "p99", "slowest", "ratio"), rows, notes, (ratio,))


def _row(
    what: str, sample: list[float], base: float | None, target: str = "", met: bool | None = None
) -> Row:
    ratio = "" if base is None else times(median(sample), base)
    return Row(what, (ms(median(sample)), ms(percentile(sample, 0.99)), ms(max(sample)), ratio), target, met)


def _ours(
    browser: Browser, daemon: Daemon, crowd: Crowd, directory: Path
) -> tuple[list[float], float, list[float], list[float]]:
    tab = Tab(browser)
    tab.page.add_init_script(WATCH)
    url = link(daemon, directory / "errands")
    began = time.time()
    tab.open(url)
    alive = "document.querySelectorAll('main [data-session][data-liveness=alive]').length"
    fold = tab.page.locator("button.fold:has-text('Idle')")
    if fold.count():
        fold.click()
    eventually(lambda: tab.page.evaluate(alive) >= SESSIONS + KILLS, within=60)
    first = time.time() - began
    tab.page.evaluate("window.long.length = 0")
    victim = crowd.take()  # the group of the ended appears with the first of them, and is opened
    victim.kill()
    victim.reap()
    tab.page.locator("button.fold:has-text('Ended today')").click()
    shown = [_killed(tab, daemon, crowd) for _ in range(KILLS)]
    filtered = [tab.page.evaluate(TYPED, "claude"[: nth % 7]) for nth in range(28)]
    long: list[float] = tab.page.evaluate("window.long")
    assert tab.faults() == [], tab.faults()
    tab.close()
    return shown, first, filtered, long


def _killed(tab: Tab, daemon: Daemon, crowd: Crowd) -> float:
    member = crowd.take()
    id = daemon.sessions(pid=member.pid)[0]["id"]
    time.sleep(random.Random(member.pid).uniform(0.05, 0.2))
    at = time.time()
    member.kill()
    painted: Any = eventually(lambda: tab.page.evaluate("(id) => window.painted[id]", id))
    member.reap()
    return float(painted) - at


def _polled(browser: Browser, daemon: Daemon, crowd: Crowd, directory: Path) -> list[float]:
    door = Door(daemon, directory / "errands").log_in()
    tab = Tab(browser)
    tab.page.goto(f"http://127.0.0.1:{door.port}/icon.svg")
    tab.page.evaluate(POLLING, {"credential": door.credential, "every": POLLED_EVERY})
    time.sleep(1)
    killed = {}
    chance = random.Random(1)
    for _ in range(POLLED_KILLS):
        member = crowd.take()
        time.sleep(chance.uniform(0.1, 0.9))
        killed[member.pid] = time.time()
        member.kill()
        member.reap()
    gone = eventually(lambda: found if len(found := _gone(tab, killed)) == len(killed) else None, within=30)
    tab.close()
    return [gone[pid] - at for pid, at in killed.items()]


def _gone(tab: Tab, killed: dict[int, float]) -> dict[int, float]:
    found: dict[str, float] = tab.page.evaluate("window.gone")
    return {int(pid): at for pid, at in found.items() if int(pid) in killed}
