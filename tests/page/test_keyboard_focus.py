"""The page for whoever uses no mouse, or listens: the focus is never lost, dialogs hold it, little is read out."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.present.sample_rows import at, session
from tests.rig.browser.chromium import Tab, chromium
from tests.rig.browser.pretended_daemon import Pretend
from tests.rig.daemon.real_daemon import eventually

CLAIM = {
    "item": "task:A", "fence": 3, "since": at(9), "note": None, "waiting": 0,
    "holder": {"session": "7f3aaaaa", "conversation": None, "pid": 7, "name": "auth"},
}  # fmt: skip
FOCUSED = (
    "document.activeElement.closest('[data-session]')?.dataset.session ?? document.activeElement.tagName"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def pretend() -> Iterator[Pretend]:
    rows = [session("7f3aaaaa", name="auth", activity="waiting"), session("02b7aaaa", name="i18n")]
    belief = {"value": "alive", "because": "x", "source": "kernel", "at": at(1), "evidence": []}
    explained: dict[str, Any] = {"session": rows[0], "agree": True, "would_change": []}
    explained |= dict.fromkeys(("liveness", "activity", "binding"), belief)
    with Pretend(
        rows, {"/v1/claims": {"claims": [CLAIM], "loss": None}, "/v1/sessions/*": explained}
    ) as made:
        yield made


@pytest.fixture
def tab(browser: Browser, pretend: Pretend) -> Iterator[Tab]:
    made = Tab(browser).open(pretend.url)
    yield made
    made.close()


def test_a_dialog_holds_the_focus_and_gives_it_back(tab: Tab) -> None:
    tab.page.goto(tab.page.url.split("#")[0] + "#/claims")
    button = tab.page.locator("button:has-text('Take away')")
    button.focus()
    tab.page.keyboard.press("Enter")
    expect(tab.page.locator("[role=alertdialog]")).to_be_visible()
    held = "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
    for _ in range(6):  # around and around, never behind it
        tab.page.keyboard.press("Tab")
        assert tab.page.evaluate(held)
    assert not tab.page.evaluate("document.querySelector('nav a').matches(':focus')")
    tab.page.keyboard.press("Escape")
    expect(tab.page.locator("dialog")).to_have_count(0)
    eventually(lambda: tab.page.evaluate("document.activeElement.textContent") == "Take away…")


def test_the_list_of_keys_is_a_dialog_that_can_be_closed_by_each_way_out(tab: Tab) -> None:
    for leave in ("Escape", "?", "Enter"):  # Enter: on its button
        tab.page.keyboard.press("?")
        expect(tab.page.locator("dialog[role=dialog]")).to_be_visible()
        assert tab.page.evaluate("!!document.activeElement.closest('dialog')")
        tab.page.keyboard.press("j")  # is not for the list behind it
        assert tab.page.evaluate("!!document.activeElement.closest('dialog')")
        tab.page.keyboard.press(leave)
        expect(tab.page.locator("dialog")).to_have_count(0)


def test_back_on_the_board_the_focus_is_on_the_row_one_came_from(tab: Tab) -> None:
    tab.page.keyboard.press("j")
    tab.page.keyboard.press("j")
    assert tab.page.evaluate(FOCUSED) == "02b7aaaa"
    tab.page.keyboard.press("Enter")
    expect(tab.page.locator("article.session")).to_be_visible()
    eventually(lambda: tab.page.evaluate("document.activeElement.tagName") == "MAIN")
    tab.page.keyboard.press("Escape")
    eventually(lambda: tab.page.evaluate(FOCUSED) == "02b7aaaa")


def test_a_key_for_the_board_works_from_every_view(tab: Tab) -> None:
    for view in ("claims", "today", "session/7f3aaaaa"):
        tab.page.goto(tab.page.url.split("#")[0] + f"#/{view}")
        expect(tab.page.locator("#filter")).to_have_count(0)
        tab.page.keyboard.press("n")
        eventually(lambda: tab.page.evaluate(FOCUSED) == "7f3aaaaa")
        expect(tab.page.locator("#filter")).to_have_count(1)
        tab.page.goto(tab.page.url.split("#")[0] + f"#/{view}")
        expect(tab.page.locator("#filter")).to_have_count(0)
        tab.page.keyboard.press("/")
        eventually(lambda: tab.page.evaluate("document.activeElement.id") == "filter")


def test_what_is_read_out_is_what_matters_and_not_the_passing_of_seconds(tab: Tab, pretend: Pretend) -> None:
    live = "[...document.querySelectorAll('[role=status], [role=alert], [aria-live]')].map((each) => each.textContent).join(' | ')"
    said = tab.page.evaluate(live)
    assert "1 agent needs you" in said
    pretend.tell("session.activity", {"session": session("02b7aaaa", name="i18n", activity="idle")})
    tab.until("document.querySelector('.summary').textContent.includes('1 idle')")
    assert tab.page.evaluate(live) == said  # that somebody went on working, or stopped, is for the eye
    pretend.close_streams()
    tab.page.wait_for_selector(".banner")
    alert = "document.querySelector('.banner [role=alert]').textContent"
    first = tab.page.evaluate(alert)
    tab.until("/ [2-9]s old/.test(document.querySelector('.banner').textContent)")
    assert tab.page.evaluate(alert) == first


def test_a_notice_goes_by_itself(tab: Tab) -> None:
    tab.page.clock.install()
    tab.page.goto(tab.page.url.split("#")[0] + "#/claims")
    tab.page.evaluate("import('/acting.js').then((acting) => acting.say('Copied.'))")
    expect(tab.page.locator(".notice")).to_be_visible()
    tab.page.clock.fast_forward(12_000)
    expect(tab.page.locator(".notice")).to_have_count(0)


def test_nothing_moves_by_itself_for_anybody(tab: Tab) -> None:
    """An endless animation draws the tab sixty times a second, all day long."""
    assert tab.page.evaluate("document.getAnimations().length") == 0


def test_a_page_that_cannot_draw_says_so_and_does_not_show_what_was(tab: Tab, pretend: Pretend) -> None:
    expect(tab.row("02b7aaaa")).to_be_visible()
    pretend.tell("session.activity", {"session": session("02b7aaaa", name="i18n", background=[None])})
    expect(tab.page.locator("main [role=alert]")).to_contain_text("could not draw")
    expect(tab.row("02b7aaaa")).to_have_count(0)
