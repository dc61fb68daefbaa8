"""What ends something, on the page: asked twice, sent once, to the letter of the command that is shown."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.samples_of_rows import at, session
from tests.rig.browser import Tab, chromium
from tests.rig.daemon import eventually
from tests.rig.pretend import Pretend

LEFT = [
    {
        "kind": "process",
        "session": "02b7aaaa",
        "pid": 41377,
        "what": "41377 node vite",
        "evidence": "child seen",
    },
    {"kind": "process", "session": "02b7aaaa", "pid": 41402, "what": "41402 bash", "evidence": "same"},
    {"kind": "process", "session": "77770000", "pid": 9, "what": "9 another's", "evidence": "child seen"},
    {
        "kind": "worktree",
        "session": "02b7aaaa",
        "pid": None,
        "what": "~/src/web, 3 uncommitted",
        "evidence": "git",
    },
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def sent(pretend: Pretend) -> list[tuple[str, Any]]:
    return [each for each in pretend.posted if each[0] != "/v1/web/login"]


def test_leftovers_are_ended_after_a_second_word_as_the_command_does_it(browser: Browser) -> None:
    with Pretend([], {"/v1/leftovers": {"leftovers": LEFT}, "/v1/leftovers/reap": {}}) as pretend:
        tab = Tab(browser).open(pretend.url)
        tab.page.goto(tab.page.url.split("#")[0] + "#/leftovers")
        expect(tab.page.locator("[data-leftover='worktree']")).to_contain_text("never touched by us")
        expect(tab.page.locator("[data-leftover='worktree'] button")).to_have_count(0)
        tab.page.locator("[data-leftover='process'] button").first.click()
        dialog = tab.page.locator("[role=alertdialog]")
        expect(dialog).to_contain_text("headcount reap 02b7aaaa --yes")
        expect(dialog).to_contain_text("41402 bash")
        expect(dialog).not_to_contain_text("another's")
        tab.page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert sent(pretend) == []
        tab.page.locator("[data-leftover='process'] button").first.click()
        dialog.locator("button.danger").click()
        eventually(lambda: sent(pretend) == [("/v1/leftovers/reap", {"sessions": ["02b7aaaa"], "yes": True})])
        expect(tab.page.locator(".notice")).to_contain_text("2 processes")
        tab.close()


@pytest.mark.parametrize("able", [True, False])
def test_an_agent_is_stopped_after_a_second_word_where_the_daemon_can(browser: Browser, able: bool) -> None:
    raw = session("7f3aaaaa", name="auth", pid=41022)
    belief = {"value": "alive", "because": "x", "source": "kernel", "at": at(1), "evidence": []}
    explained = {"session": raw, **dict.fromkeys(("liveness", "activity", "binding"), belief), "agree": True}
    with Pretend([raw], {"/v1/sessions/*": explained | {"would_change": []}}) as pretend:
        paths = pretend.answers["/openapi.json"]["paths"]
        for verb in ("stop", "close"):
            paths.pop(f"/v1/sessions/{{id}}/{verb}", None)
        if able:
            paths["/v1/sessions/{id}/stop"] = {}
        tab = Tab(browser).open(pretend.url)
        tab.row("7f3aaaaa", " > a").click()
        expect(tab.page.locator(".beliefs")).to_be_visible()
        expect(tab.page.locator(".actions button")).to_have_count(1 if able else 0)
        if able:
            tab.page.locator(".actions button").click()
            expect(tab.page.locator("[role=alertdialog]")).to_contain_text("headcount stop 7f3aaaaa")
            assert sent(pretend) == []
            tab.page.locator("button.danger").click()
            eventually(lambda: sent(pretend) == [("/v1/sessions/7f3aaaaa/stop", {})])
        tab.close()
