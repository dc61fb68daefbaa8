"""The page says what `headcount ps` says: both run on the same rows, word for word and in the same order."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from headcount.cli import rows as ps
from headcount.cli.sanitize import clean
from tests.cli.samples_of_rows import NOW, SCREEN, at, session
from tests.rig.browser import Tab, chromium
from tests.rig.hostile import hostile
from tests.rig.pretend import Pretend

ENDS: list[dict[str, Any]] = [
    {"kind": "exited", "because": "exited", "exit_code": 0, "signal": None, "away": False},
    {"kind": "exited", "because": "exited with 3", "exit_code": 3, "signal": None, "away": False},
    {"kind": "killed", "because": "killed (SIGKILL)", "exit_code": None, "signal": 9, "away": False},
    {"kind": "rebooted", "because": "x", "exit_code": None, "signal": None, "away": True},
    {"kind": "unseen", "because": "gone", "exit_code": None, "signal": None, "away": True},
    {
        "kind": "superseded",
        "because": "continued as 5e61 (/clear)",
        "exit_code": None,
        "signal": None,
        "away": True,
    },
]
MORE = [
    *(
        session(
            f"e{nth}00",
            liveness="ended",
            name=f"end-{nth}",
            ended={"at": at(60 + nth), "successor": None, **end},
        )
        for nth, end in enumerate(ENDS)
    ),
    *(
        session(
            f"a{nth}00", liveness=liveness, activity=activity, name=f"{liveness}-{activity}", ago=100 + nth
        )
        for nth, (liveness, activity) in enumerate(
            (liveness, activity)
            for liveness in ("alive", "unknown", "lost", "odd")
            for activity in ("working", "waiting", "done", "failed", "idle", "unknown", "odd", "constructor")
        )
    ),
    session("b100", activity="idle", background=[{"id": "1", "kind": "", "label": ""}]),
    session("b200", activity="failed", failure=None, doing="x"),
    session("b201", activity="working", background=[{"id": "1", "kind": "shell", "label": "y"}] * 3),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    with Pretend([]) as pretend:
        made = Tab(browser).open(pretend.url)
        yield made
        made.close()


def asked(tab: Tab, script: str, given: Any) -> Any:
    return tab.page.evaluate(
        f"async (given) => {{ const words = await import('/words.js'); {script} }}", given
    )


def test_the_page_orders_and_names_rows_as_ps_does(tab: Tab) -> None:
    sessions = [*SCREEN, *MORE]
    drawn = asked(
        tab,
        f"""const now = {NOW};
        const short = words.shortIds(given.map((raw) => raw.id));
        return words.inOrder(given, now).map(({{ raw, group, since }}) => [short.get(raw.id), group,
          words.stateOf(raw, now), words.span(now - since), words.agentName(raw), words.nameOf(raw),
          words.doingOf(raw, group)]);""",
        sessions,
    )
    wanted = [
        [row.id, row.group, row.state, row.age, row.agent, row.name, row.doing]
        for row in ps.rows_of(sessions, NOW)
    ]
    assert drawn == wanted


def test_the_page_cleans_foreign_text_as_the_command_line_does(tab: Tab) -> None:
    strings = [
        string.encode("utf-8", "replace").decode() for string in hostile()
    ]  # no lone surrogates over this bridge
    assert asked(tab, "return given.map(words.clean);", strings) == [clean(string) for string in strings]
    assert asked(tab, "return words.clean('a\\ud800b');", None) == clean("a\ud800b")


@pytest.mark.parametrize("length", [0, 59, 60, 3599, 3600, 86399, 86400, 200000, -5])
def test_spans_read_the_same(tab: Tab, length: int) -> None:
    from headcount.cli.moments import exact_span, span

    said = asked(tab, "return [words.span(given), words.exactSpan(given)];", length)
    assert said == [span(length), exact_span(length)]
