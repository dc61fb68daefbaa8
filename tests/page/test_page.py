"""The page in a real browser with a real daemon and real processes: live, and by keyboard."""

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.rig.agents.callers import Errand, Request, detached
from tests.rig.agents.stand_in import Agent
from tests.rig.browser.chromium import Tab, chromium
from tests.rig.browser.page_link import link
from tests.rig.browser.page_with_daemon import ASKS, EDITS, PROMPT, Scene
from tests.rig.daemon.real_daemon import Daemon, eventually


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def scene(daemon: Daemon, browser: Browser, tmp_path: Path, agent: Callable[..., Agent]) -> Iterator[Scene]:
    made = Scene(daemon, browser, tmp_path, agent)
    yield made
    made.close()


def test_what_happens_is_shown_without_a_reload_and_without_a_word_in_the_console(scene: Scene) -> None:
    tab = scene.tab()
    agent, id = scene.agent("auth-refactor", PROMPT)
    row = tab.row(id)
    expect(row).to_have_attribute("data-liveness", "alive")
    expect(row.locator(".state")).to_have_text("working")
    agent.hook(scene.daemon.mailbox, *ASKS[:1], **ASKS[1])
    expect(row.locator(".state")).to_have_text("permission")
    expect(row.locator(".doing")).to_have_text("Bash: alembic upgrade head")
    expect(tab.page.locator(f".group.needs-you [data-session='{id}']")).to_be_visible()
    eventually(lambda: re.match(r"\(\d+\) Headcount", tab.page.title()))
    agent.kill()
    expect(tab.page.locator(f".group.needs-you [data-session='{id}']")).to_have_count(
        0
    )  # else the fold moves
    tab.page.locator("button.fold:has-text('Ended today')").click()
    expect(tab.row(id)).to_have_attribute("data-liveness", "ended")
    expect(tab.row(id).locator(".state")).to_have_text("killed (SIGKILL)")
    assert tab.faults() == []


def test_the_link_is_good_once_and_leaves_the_address_bar_and_a_reload_stays_in(scene: Scene) -> None:
    once = link(scene.daemon, scene.place / "errands")
    tab = scene.tab()
    assert "#/board" in tab.page.url
    tab.page.reload()
    tab.page.wait_for_selector("header .live")
    tab.page.goto(once)  # an unused one, in a tab that is in already
    tab.page.wait_for_selector("header .live")
    other = Tab(scene.browser)
    scene.tabs.append(other)
    other.page.goto(once)  # used by now
    other.page.wait_for_selector("main.alone code")
    assert "headcount web" in (other.page.text_content("main") or "")
    other.page.goto(tab.page.url)  # and without a code nobody is in
    other.page.wait_for_selector("main.alone code")


def test_a_daemon_that_hangs_is_not_shown_as_live(scene: Scene) -> None:
    """It is stopped, not gone: every connection stands, and nothing comes. (No idea of silence: live for ever.)"""
    _, id = scene.agent("i18n", PROMPT, EDITS)
    other, gone = scene.agent("bench", PROMPT)
    tab = scene.tab()
    expect(tab.row(id)).to_be_visible()
    resumed: list[str | None] = []
    tab.page.on(
        "request",
        lambda request: (
            resumed.append(request.headers.get("last-event-id")) if "/v1/events?" in request.url else None
        ),
    )
    assert scene.daemon.process is not None
    scene.daemon.process.send_signal(signal.SIGSTOP)
    other.kill()
    expect(tab.page.locator(".banner")).to_contain_text("Connection lost", timeout=15_000)
    age = re.search(r"(\d+)s old", tab.page.locator(".banner").inner_text())
    assert age and int(age[1]) >= 3, "as old as the last that was heard"
    scene.daemon.process.send_signal(signal.SIGCONT)
    expect(tab.page.locator(".banner")).to_have_count(0, timeout=20_000)
    assert resumed and all((after or "").isdigit() for after in resumed), "it goes on where it broke"
    expect(tab.row(id)).to_have_attribute("data-liveness", "alive")
    tab.page.locator("button.fold:has-text('Ended today')").click()
    expect(tab.row(gone)).to_have_attribute("data-liveness", "ended")


def test_closing_the_page_logs_every_tab_out(scene: Scene) -> None:
    tab = scene.tab()
    (closed,) = detached(Errand(scene.place / "errands", scene.daemon.socket, [Request("DELETE", "/v1/web")]))
    assert closed.data == {"closed": True}
    assert scene.daemon.get("/v1/status")["url"] is None
    expect(tab.page.locator("main.alone code")).to_have_text("headcount web")
    expect(tab.page.locator("[data-session]")).to_have_count(0)  # nor does it show what was
    assert tab.page.evaluate("sessionStorage.length") == 0


def test_a_walk_through_everything_by_keyboard_alone(scene: Scene) -> None:
    _, first_id = scene.agent("first", PROMPT, ASKS)
    _, second_id = scene.agent("second", PROMPT, ASKS)
    third, third_id = scene.agent("third", PROMPT, EDITS)
    scene.claim(third, "task:KEYS-1")
    tab = scene.tab()
    keys, page = tab.page.keyboard, tab.page
    expect(tab.row(third_id)).to_contain_text("task:KEYS-1")

    def focused() -> Any:
        return page.evaluate("document.activeElement.parentElement?.dataset.session ?? null")

    keys.press("/")
    keys.type("thir")
    expect(tab.row(first_id)).to_have_count(0)
    expect(tab.row(third_id)).to_be_visible()
    keys.press("Enter")
    assert focused() == third_id
    keys.press("Escape")
    keys.press("Escape")
    expect(tab.row(first_id)).to_be_visible()
    keys.press("n")
    assert eventually(focused) in (first_id, second_id)
    one = focused()
    keys.press("n")
    eventually(lambda: focused() in {first_id, second_id} - {one})
    keys.press("j")
    keys.press("k")
    eventually(lambda: focused() in {first_id, second_id} - {one})
    keys.press("Enter")
    expect(page.locator("article.session h1")).to_be_visible()
    expect(page.locator(".beliefs")).to_contain_text("PermissionRequest")
    keys.press("Escape")
    expect(page.locator("#filter")).to_be_visible()
    for key, sign in (
        ("2", ".timeline"),
        ("3", "[data-item='task:KEYS-1']"),
        ("4", "h1:has-text('Leftovers')"),
        ("5", "h1:has-text('Waited')"),
    ):
        keys.press(key)
        expect(page.locator(sign)).to_be_visible()
    keys.press("?")
    expect(page.locator("[role=dialog]")).to_be_visible()
    keys.press("Escape")
    expect(page.locator("[role=dialog]")).to_have_count(0)
    assert tab.faults() == []


def test_rows_do_not_move_under_somebody_who_moves_through_them(scene: Scene) -> None:
    scene.agent("first", PROMPT, EDITS)
    scene.agent("second", PROMPT, EDITS)
    third, third_id = scene.agent("third", PROMPT, EDITS)
    tab = scene.tab()
    expect(tab.row(third_id)).to_be_visible()

    def order() -> Any:
        return tab.page.evaluate(
            "[...document.querySelectorAll('main [data-session]')].map((each) => each.dataset.session)"
        )

    tab.page.keyboard.press("j")
    before = order()
    third.hook(scene.daemon.mailbox, *ASKS[:1], **ASKS[1])
    expect(tab.row(third_id).locator(".state")).to_have_text("permission")
    assert order() == before
    expect(tab.page.locator(".held-word")).to_be_visible()
    tab.page.keyboard.press("Escape")
    eventually(lambda: order()[0] == third_id)


def test_a_claim_is_taken_away_only_after_a_second_word(scene: Scene) -> None:
    agent, _ = scene.agent("holder", PROMPT)
    scene.claim(agent, "task:ONLY-1")
    tab = scene.tab()
    tab.page.goto(tab.page.url.split("#")[0] + "#/claims")
    tab.page.locator("[data-item='task:ONLY-1'] button:has-text('Take away')").click()
    dialog = tab.page.locator("[role=alertdialog]")
    expect(dialog).to_contain_text("headcount release --force task:ONLY-1")
    assert [row["item"] for row in scene.daemon.get("/v1/claims")["claims"]] == ["task:ONLY-1"]
    assert tab.page.evaluate("document.activeElement.id") == "no"  # Enter by habit does nothing
    tab.page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert len(scene.daemon.get("/v1/claims")["claims"]) == 1
    tab.page.locator("[data-item='task:ONLY-1'] button:has-text('Take away')").click()
    dialog.locator("button.danger").click()
    expect(tab.page.locator("[data-item='task:ONLY-1']")).to_have_count(0)
    assert scene.daemon.get("/v1/claims")["claims"] == []
    past = scene.daemon.get("/v1/claims?history=task%3AONLY-1")["history"]
    assert past[-1]["because"] == "forced"


def test_the_timeline_shows_work_waiting_claims_a_death_and_where_nobody_looked(scene: Scene) -> None:
    agent, id = scene.agent("auth-refactor", PROMPT, ASKS)
    victim, dead = scene.agent("victim", PROMPT)
    scene.claim(agent, "task:TIME-1")
    scene.daemon.restart()
    victim.kill()
    scene.daemon.session(id=dead, liveness="ended")
    tab = scene.tab()
    tab.page.goto(tab.page.url.split("#")[0] + "#/timeline")
    lane = tab.page.locator(f"li.lane[data-session='{id}']")
    expect(lane).to_have_attribute("data-liveness", "alive")
    expect(lane.locator(".span.a-waiting").first).to_be_visible()
    expect(lane.locator(".held")).to_have_count(1)
    expect(tab.page.locator(f"li.lane[data-session='{dead}'] .death.killed")).to_have_text("✗")
    expect(tab.page.locator(".blinds .blind").first).to_be_attached()
    expect(tab.page.locator(".ranges button[aria-pressed=true]")).to_have_text("15m")  # it has not seen more
    for _ in range(2):
        tab.page.locator("button[aria-label='Zoom in']").click()
    lane.locator(".span.a-waiting").last.hover()
    expect(tab.page.locator(".tip")).to_contain_text("waited for you: permission")
    tab.page.keyboard.press("5")
    expect(tab.page.locator(".bars")).to_contain_text("auth-refactor")
    assert tab.faults() == []


def test_every_view_fits_every_width_and_its_words_can_be_read_by_day_and_night(scene: Scene) -> None:
    agent, id = scene.agent("a-name-that-is-quite-long-for-a-small-screen", PROMPT, ASKS)
    scene.agent("works", PROMPT, EDITS)
    scene.agent("done", PROMPT, ("Stop", {}))
    scene.agent("stopped", PROMPT, ("StopFailure", {"error": "rate_limit"}))
    scene.claim(agent, f"task:{'y' * 200}")
    tab = scene.tab()
    expect(tab.row(id)).to_be_visible()
    base = tab.page.url.split("#")[0]
    schemes: tuple[Any, ...] = ("light", "dark")
    for view in ("board", "timeline", "claims", "leftovers", "today", f"session/{id}"):
        tab.page.goto(f"{base}#/{view}")
        tab.page.wait_for_selector("main > *")
        if view == "claims":
            tab.page.locator("button:has-text('History')").first.click()
            tab.page.wait_for_selector(".cards ol.events")
        for scheme in schemes:
            tab.page.emulate_media(color_scheme=scheme)
            for width in (390, 768, 1440):
                tab.page.set_viewport_size({"width": width, "height": 800})
                assert tab.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
                    view,
                    width,
                )
                beyond = tab.page.evaluate(BEYOND)
                assert beyond == [], (view, width, beyond)  # nor is anything to be scrolled to within
            poor = tab.page.evaluate(CONTRAST)
            assert poor == [], (view, scheme, poor)
        assert tab.page.evaluate(UNNAMED) == 0, view


BEYOND = """[...document.querySelectorAll('main td, main th, main dd, main code, main .age')]
  .filter((each) => each.offsetParent && each.getBoundingClientRect().right > window.innerWidth + 1)
  .map((each) => [each.className, each.textContent.slice(0, 40)])"""

UNNAMED = """[...document.querySelectorAll('button, a, input')]
  .filter((each) => !(each.getAttribute('aria-label') || each.textContent.trim() || each.labels?.length)).length"""

CONTRAST = """(() => {
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return { r, g, b, a }; };
  const over = (top, under) => ({ r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a), b: top.b * top.a + under.b * (1 - top.a), a: 1 });
  const paper = (each) => {
    const layers = [];
    for (let at = each; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
  };
  const light = ({ r, g, b }) => { const [x, y, z] = [r, g, b].map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
  const poor = [];
  for (const each of document.querySelectorAll('#page *')) {
    const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || each.closest(':disabled') || !each.offsetParent || each.closest('.track')) continue;
    const under = paper(each), ink = over(parse(getComputedStyle(each).color), under);
    const [a, b] = [light(ink), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push([each.className, each.textContent.slice(0, 30), ratio.toFixed(2)]);
  }
  return poor;
})()"""
