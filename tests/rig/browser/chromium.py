"""A real browser on the page: the system's Chromium, driven by Playwright, in a profile of its own.

Rules of this file
  1. What the page's console says, and every request that it makes, is noted; a test ends by looking.
  2. Waiting is on a condition with a deadline (Playwright's own, or `eventually`), never for a time.

Not here: the daemon and its agents (real_daemon.py, stand_in.py), the link (page_link.py).
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, BrowserType, Page, sync_playwright

from tests.rig.daemon.real_daemon import eventually

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",  # a container's root has no other way
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-proxy-server",
]
WITHIN = 15_000  # milliseconds


def program() -> str:
    found = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    assert found, "the page's tests need chromium; see tests/rig/install-programs"
    return found


@contextmanager
def chromium(*more: str) -> Iterator[Browser]:
    with sync_playwright() as playwright, _launched(playwright.chromium, *more) as browser:
        yield browser


@contextmanager
def another(browser: Browser, *more: str) -> Iterator[Browser]:
    """Beside one that runs: Playwright starts once a process."""
    with _launched(browser.browser_type, *more) as other:
        yield other


@contextmanager
def _launched(kind: BrowserType, *more: str) -> Iterator[Browser]:
    browser = kind.launch(executable_path=program(), args=[*ARGUMENTS, *more])
    try:
        yield browser
    finally:
        browser.close()


class Tab:
    """One tab on the page, with what it said and asked."""

    def __init__(self, browser: Browser, **context: Any) -> None:
        self.context: BrowserContext = browser.new_context(
            **{"viewport": {"width": 1280, "height": 800}} | context
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(WITHIN)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"pageerror: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, url: str) -> "Tab":
        self.page.goto(url)
        self.page.wait_for_selector("header .live")
        return self

    def row(self, session: str, more: str = "") -> Any:
        return self.page.locator(f'main [data-session="{session}"]{more}')

    def until(self, script: str, within: float = 15.0) -> Any:
        """The first true answer. (Playwright's own waiting evaluates a string, which the page's policy forbids.)"""
        return eventually(lambda: self.page.evaluate(script), within)

    def faults(self) -> list[str]:
        """Errors and warnings; a connection that a test itself broke is told by the browser and is none."""
        return [line for line in self.said if line.startswith(("error", "warning", "pageerror"))]

    def close(self) -> None:
        self.context.close()
