"""Hostile strings in everything that the page shows: shown as text, obeyed by nobody."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.present.sample_rows import at, session
from tests.rig.browser.chromium import Tab, chromium
from tests.rig.browser.pretended_daemon import Pretend
from tests.rig.daemon.real_daemon import eventually
from tests.rig.security.hostile_strings import WITNESS, hostile, traces, word_of

STRINGS = hostile()
OWN_TAGS = {
    "A", "ARTICLE", "B", "BUTTON", "CODE", "DD", "DIALOG", "DIV", "DL", "DT", "FOOTER", "H1", "H2", "HEADER", "I", "INPUT", "LABEL",
    "LI", "MAIN", "NAV", "OL", "P", "SECTION", "SPAN", "TABLE", "TBODY", "TD", "TH", "THEAD", "TIME", "TR", "UL",
}  # fmt: skip


class Words:
    """Gives each string that is asked for another of the two thousand, and knows which were given."""

    def __init__(self) -> None:
        self._next = itertools.cycle(STRINGS)
        self.given: set[str] = set()

    def __call__(self) -> str:
        string = next(self._next)
        self.given.add(string)
        return string


def ended(word: Words) -> dict[str, Any]:
    return {
        "at": at(5),
        "because": word(),
        "kind": "killed",
        "exit_code": None,
        "signal": 9,
        "away": False,
        "successor": word(),
    }


def row(word: Words, **more: Any) -> dict[str, Any]:
    """Hostile in all that is text; what places it in a group stays what it is."""
    fields = ("conversation", "waiting_on", "failure", "doing", "name", "role", "cwd", "title", "model", "entrypoint",
              "permission_mode", "source", "parent", "predecessor", "where", "repo", "branch", "resume", "agent")  # fmt: skip
    return session(
        f"of a row {word()}",
        **{field: word() for field in fields},
        groups=[word()],
        claims=[word()],
        alarms=[word()],
        background=[{"id": word(), "kind": word(), "label": word()}],
        context_tokens=5,
        **more,
    )


def belief(word: Words) -> dict[str, Any]:
    line = {
        "says": word(),
        "because": word(),
        "source": word(),
        "at": at(9),
        "stands": False,
        "why_not": word(),
    }
    return {"value": word(), "because": word(), "source": word(), "at": at(9), "evidence": [line]}


def explanation(word: Words, raw: dict[str, Any]) -> dict[str, Any]:
    beliefs = {name: belief(word) for name in ("liveness", "activity", "binding")}
    return {"session": raw, **beliefs, "agree": False, "would_change": [word(), word()]}


def holder(word: Words) -> dict[str, Any]:
    return {"session": word(), "conversation": word(), "pid": 7, "name": word()}


def event(word: Words, seq: int, type: str) -> dict[str, Any]:
    raw = row(word)
    return {
        "seq": seq,
        "at": at(seq),
        "type": type,
        "session": raw,
        "item": word(),
        "fence": 4,
        "holder": holder(word),
        "because": word(),
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def judge(tab: Tab, words: Words, everywhere: bool = True) -> None:
    """Nothing ran, nothing was fetched from elsewhere, nothing became an element, nothing hides; all is shown."""
    page = tab.page
    assert page.evaluate(f"window.{WITNESS}") is None
    tags = set(
        page.evaluate("[...new Set([...document.querySelectorAll('#page *')].map((each) => each.tagName))]")
    )
    assert tags <= OWN_TAGS, tags - OWN_TAGS
    assert page.evaluate("[...document.body.children].map((each) => each.tagName)") == ["DIV", "NOSCRIPT"]
    origin = page.url.split("/#")[0]
    assert [url for url in tab.asked if not url.startswith(origin)] == []
    handlers = "[...document.querySelectorAll('#page *')].flatMap((each) => each.getAttributeNames().filter((name) => name.startsWith('on')))"
    assert page.evaluate(handlers) == []
    links = page.evaluate("[...document.querySelectorAll('a')].map((each) => each.href)")
    assert [href for href in links if not href.startswith(f"{origin}/#/")] == []
    texts = page.evaluate(
        "[...document.querySelectorAll('main *')].flatMap((each) => [each.getAttribute('aria-label') || '', each.children.length ? '' : each.textContent])"
    )
    assert [trace for text in texts for trace in traces(text, lines=False)] == []
    if everywhere:
        shown = page.evaluate("document.querySelector('main').textContent")
        assert [string for string in words.given if word_of(string) not in shown] == []
    assert tab.faults() == []


def test_hostile_strings_in_every_field_of_every_row_are_only_text(browser: Browser) -> None:
    words = Words()
    states = itertools.cycle(
        [{"activity": each} for each in ("waiting", "failed", "done", "working", "odd", "idle")]
        + [{"liveness": "lost"}]
    )
    sessions = [row(words, **next(states)) for _ in range(100)]
    for string in STRINGS:  # each as a name, at least
        sessions.append(session(string, name=words_only(words, string), activity="waiting"))
    with Pretend(sessions) as pretend:
        tab = Tab(browser).open(pretend.url)
        tab.page.wait_for_selector("main [data-session]")
        eventually(lambda: tab.page.locator("main [data-session]").count() > len(STRINGS), within=30)
        judge(tab, words, everywhere=False)
        shown = tab.page.evaluate("document.querySelector('main').textContent")
        assert [string for string in STRINGS if word_of(string) not in shown] == []
        tab.close()


def words_only(words: Words, string: str) -> str:
    words.given.add(string)
    return string


def test_hostile_strings_in_everything_known_of_a_session_are_only_text(browser: Browser) -> None:
    words = Words()
    raw = row(words, liveness="ended", ended=ended(words), pid=7)
    raw["id"] = "aaaa"
    types = ("session.activity", "session.ended", "alarm.raised", "claim.granted", "claim.released", words())
    answers = {
        "/v1/sessions/*": lambda path: explanation(words, raw) if path.endswith("explain") else raw,
        "/v1/history": {
            "events": [event(words, nth + 1, type) for nth, type in enumerate(types * 8)],
            "oldest": 0,
        },
        "/v1/leftovers": {"leftovers": [leftover(words, "aaaa")]},
    }
    with Pretend([raw], answers) as pretend:
        tab = Tab(browser).open(pretend.url)
        tab.page.goto(tab.page.url.split("#")[0] + "#/session/aaaa")
        tab.page.wait_for_selector(".beliefs")
        for _ in range(25):  # each time other strings
            judge(tab, words, everywhere=False)
            raw["name"] = words()
            said = word_of(raw["name"])
            pretend.tell("session.changed", {"session": raw | {"since": at(1)}})
            tab.page.wait_for_selector(f"h1:has-text('{said}')")
        tab.close()


def leftover(word: Words, id: str | None = None) -> dict[str, Any]:
    return {
        "id": word(),
        "kind": word(),
        "session": id or word(),
        "pid": 3,
        "what": word(),
        "evidence": [word(), word()],
        "found_at": at(9),
        "gone_at": None,
        "age_s": 5.0,
        "cpu_s": 3.0,
        "memory_bytes": 5,
        "ports": [80],
        "facts": {},
    }


def host(word: Words) -> dict[str, Any]:
    times = {"seen_at": at(4), "age_s": 4.0, "epoch": 1, "sessions": 2, "claims": 1, "here": False}
    return {"id": f"of a row {word()}", "name": word(), "state": word(), "version": word(), **times}


def test_hostile_strings_in_the_lists_are_only_text(browser: Browser) -> None:
    claims, left, today, hosts = Words(), Words(), Words(), Words()
    many = len(STRINGS) // 4
    history = {
        "item": claims(),
        "history": [event(claims, 1, "claim.granted"), event(claims, 2, "claim.released")],
    }

    def claim_rows(path: str) -> Any:
        if "history=" in path:
            return history
        return {"claims": rows, "loss": None}

    rows = [
        {
            "item": claims(),
            "fence": nth,
            "holder": holder(claims),
            "since": at(4),
            "note": claims(),
            "waiting": 1,
        }
        for nth in range(many)
    ]
    answers = {
        "/v1/claims": claim_rows,
        "/v1/leftovers": {
            "leftovers": [leftover(left) for _ in range(many)] + [leftover(left) | {"kind": "process"}]
        },
        "/v1/fleet": {
            "joined": True,
            "database": hosts(),
            "name": hosts(),
            "vouched": False,
            "fault": hosts(),
            "hosts": [host(hosts) for _ in range(many)],
        },
        "/v1/fleet/sessions": {
            "sessions": [row(hosts) | {"host": hosts(), "activity": "waiting"} for _ in range(40)],
            "hosts": [],
        },
        "/v1/today": {
            "since": at(9),
            "waited_s": 5,
            "any_s": 4,
            "waits": 2,
            "waiting_now": 1,
            "sessions": [
                {"session": today(), "name": today(), "times": 1, "seconds": 4} for _ in range(many)
            ],
        },
    }
    with Pretend([], answers) as pretend:
        tab = Tab(browser).open(pretend.url)
        base = tab.page.url.split("#")[0]
        for view, words in (("claims", claims), ("leftovers", left), ("fleet", hosts), ("today", today)):
            tab.page.goto(f"{base}#/{view}")
            tab.until("document.querySelectorAll('main li').length >= 500")
            judge(tab, words, everywhere=False)
        tab.page.goto(f"{base}#/claims")
        tab.page.locator("button:has-text('History')").first.click()
        tab.page.wait_for_selector("ol.events")
        tab.page.locator("button:has-text('Take away…')").nth(3).click()
        tab.page.wait_for_selector("[role=alertdialog]")
        judge(tab, claims, everywhere=False)
        tab.close()


def test_hostile_strings_in_the_timeline_and_under_the_pointer_are_only_text(browser: Browser) -> None:
    words = Words()
    lanes = [lane(words) for _ in range(120)]
    shown = {
        "since": at(7200),
        "to": at(0),
        "lanes": lanes,
        "blind": [{"since": at(900), "to": at(800)}],
        "whole": True,
    }
    with Pretend([], {"/v1/timeline": shown}) as pretend:
        tab = Tab(browser).open(pretend.url)
        tab.page.goto(tab.page.url.split("#")[0] + "#/timeline")
        tab.page.wait_for_selector("li.lane")
        judge(tab, words, everywhere=False)
        for nth in range(12):
            tab.page.locator(".track .span").nth(nth).hover()
            tip = tab.page.wait_for_selector(".tip")
            assert traces(tip.text_content() or "", lines=False) == []
            judge(tab, words, everywhere=False)
        tab.close()


def lane(word: Words) -> dict[str, Any]:
    span = {"since": at(600), "to": at(300), "activity": "waiting", "waiting_on": word(), "doing": word()}
    held = {"item": word(), "fence": 3, "since": at(500), "to": at(400), "because": word()}
    return {"session": word(), "agent": word(), "name": word(), "cwd": word(), "liveness": "alive", "activity": "working",
            "spans": [span], "claims": [held], "ended": ended(word) | {"at": at(100)}}  # fmt: skip


def test_a_naive_page_obeys_the_same_strings(browser: Browser) -> None:
    """The negative control: as markup, several of them run."""
    page = browser.new_context().new_page()
    page.set_content("<main></main>")
    page.evaluate("(strings) => { for (const each of strings) document.querySelector('main').insertAdjacentHTML('beforeend', each); }",
                  [string.encode("utf-8", "replace").decode() for string in STRINGS if "<meta" not in string and "<base" not in string])  # fmt: skip
    page.wait_for_function(f"window.{WITNESS} === 1")
    page.context.close()
