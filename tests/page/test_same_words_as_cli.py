"""The page says what `headcount ps` says: both run on the same rows, word for word and in the same order."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from headcount import clean_text
from headcount.clean_text import clean, command
from headcount.present import event_lines, leftovers
from headcount.present import session_words as ps
from headcount.present.screen import Screen
from headcount.present.table import summary
from tests.present.sample_rows import NOW, SCREEN, at, session
from tests.rig.browser.chromium import Tab, chromium
from tests.rig.browser.pretended_daemon import Pretend
from tests.rig.security.hostile_strings import hostile

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
    session("b303", activity="unknown", stalled=True),
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


def asked(tab: Tab, script: str, given: Any, module: str = "words") -> Any:
    return tab.page.evaluate(
        f"async (given) => {{ const {module} = await import('/{module}.js'); {script} }}", given
    )


def test_the_page_orders_and_names_rows_as_ps_does(tab: Tab) -> None:
    sessions = [*SCREEN, *MORE]
    drawn = asked(
        tab,
        f"""const now = {NOW};
        const short = words.shortIds(given.map((raw) => raw.id));
        return words.inOrder(given, now).map(({{ raw, group, since }}) => [short.get(raw.id), group,
          words.stateOf(raw, now), words.span(now - since), words.agentName(raw), words.nameOf(raw),
          words.doingOf(raw, group, now)]);""",
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


def test_the_page_quotes_items_and_names_as_the_command_line_does(tab: Tab) -> None:
    strings = [
        string.encode("utf-8", "replace").decode()
        for string in (*hostile(), "task:AUTH-12", "任務", "x" * 700)
    ]
    drawn = asked(tab, "return given.map((each) => [words.said(each), words.saidItem(each)]);", strings)
    assert drawn == [[clean_text.said(string), clean_text.said_item(string)] for string in strings]
    row = {"id": "7f3aaaaaaaaa", "name": "x; headcount resume ed11"}
    assert asked(tab, "return words.whoOf(given);", row) == ps.who(row) == '7f3a "x; headcount resume ed11"'


@pytest.mark.parametrize("length", [0, 59, 60, 3599, 3600, 86399, 86400, 200000, -5])
def test_spans_read_the_same(tab: Tab, length: int) -> None:
    from headcount.present.time_text import exact_span, span

    said = asked(tab, "return [words.span(given), words.exactSpan(given)];", length)
    assert said == [span(length), exact_span(length)]


def test_the_summary_counts_as_alive_only_who_is_proved_to_be(tab: Tab) -> None:
    sessions = [raw for raw in [*SCREEN, *MORE] if raw["liveness"] != "ended"]
    wanted = summary(ps.rows_of(sessions, NOW))
    assert asked(tab, "return words.summaryOf(given);", sessions) == wanted
    assert "not proven alive" in wanted and "unheard" in wanted


LEFT: list[dict[str, Any]] = [
    {"pid": 41377, "what": "node vite", "ports": [5173, 80], "cpu_s": 181.0, "age_s": 400.0, "memory_bytes": 1.3e9},
    {"pid": None, "what": "~/src/web, 3 uncommitted", "ports": [], "cpu_s": None, "age_s": None, "memory_bytes": None},
    {"pid": 7, "what": "bash\x1b[2J", "ports": [], "cpu_s": 0.2, "age_s": 3.9, "memory_bytes": 200},
    {"pid": 8, "what": "x", "ports": [], "cpu_s": 1, "age_s": 90_000, "memory_bytes": 0},
]  # fmt: skip


def test_a_leftover_reads_as_in_the_list_of_the_command_line(tab: Tab) -> None:
    rows = [each | {"found_at": at(75), "evidence": ["child seen 13:58", "marks\u202e"]} for each in LEFT]
    script = f"return given.map((each) => [remains.whatOf(each), remains.ageOf(each, {NOW}), remains.memory(each.memory_bytes), remains.evidenceOf(each)]);"
    drawn = asked(tab, script, rows, "remains")
    wanted = [[leftovers.what_of(each), leftovers._age(each, NOW), leftovers.memory(each["memory_bytes"]), "; ".join(map(clean, each["evidence"]))] for each in rows]  # fmt: skip
    assert drawn == wanted


@pytest.mark.parametrize("outcome", ["exited", "killed", "survived", "over", "refused"])
@pytest.mark.parametrize("seconds", [None, 0.24])
def test_what_became_of_a_process_reads_as_reap_says_it(
    tab: Tab, outcome: str, seconds: float | None
) -> None:
    result = {"pid": 41377, "outcome": outcome, "seconds": seconds, "because": "it is an ancestor"}
    names = (
        {},
        {"what": "i18n", "session": "02b7aaaa"},
        {"what": "node", "session": "02b7aaaa", "leftover": "l1"},
    )
    for each in (result | more for more in (*names, {"what": "node", "leftover": "l1"})):
        assert asked(tab, "return remains.sentence(given);", each, "remains") == event_lines.sentence(each)


HOLDER = {"session": "02b7aaaa", "name": "i18n", "pid": 7, "conversation": None, "host": None}
DEAD = session("02b7aaaa", name="i18n", liveness="ended", ended={"at": at(60), "successor": None, **ENDS[2]})
EVENTS: list[dict[str, Any]] = [
    *({"type": "claim.released", "because": why, "by": "operator"} for why in (*event_lines.FREED, "odd")),
    {"type": "claim.granted"},
    {"type": "claim.granted", "holder": HOLDER | {"session": None}},
    *({"type": type, "session": SCREEN[0]} for type in ("session.started", "session.activity", "session.reopened",
      "session.doubted", "alarm.raised", "alarm.cleared", "session.lost", "session.odd")),
    {"type": "session.closing", "session": SCREEN[0], "facts": {"closes_at": at(-60)}},
    {"type": "session.ended", "session": DEAD},
    {"type": "session.examined", "session": DEAD, "facts": {"freed": ["task:A", "task:B"], "left": {"process": 2, "worktree": 1, "odd": 3}, "resumable": True}},
    {"type": "session.examined", "session": DEAD, "facts": {"left": {"pane": 1}}},
    {"type": "leftover.found", "session": DEAD, "leftover": {"kind": "process", "pid": 7, "what": "node"}},
    {"type": "leftover.found", "leftover": {"kind": "odd", "pid": None, "what": "x"}},
    {"type": "leftover.gone", "session": DEAD, "leftover": {"kind": "worktree", "pid": None, "what": "~/web"}},
    {"type": "ending.intended", "session": DEAD, "facts": {"signal": "SIGTERM", "pid": 7, "what": "claude", "verb": "stop", "by": "operator"}},
    {"type": "ending.intended", "session": DEAD, "facts": {"signal": "SIGTERM", "pid": 7, "verb": "stop", "by": "7f3aaaaa",
     "caller": {"chain": [{"pid": 9, "program": "headcount"}, {"pid": 8, "program": "sh"}], "terminal": "pts/3"}}},
    {"type": "ending.finished", "session": DEAD, "facts": {"pid": 7, "what": "i18n", "outcome": "exited", "seconds": 0.2}},
    {"type": "ending.finished", "session": DEAD, "facts": {"outcome": "closed", "by": "operator"}},
]  # fmt: skip


def test_what_happened_reads_as_watch_tells_it(tab: Tab) -> None:
    filled = [{"at": at(30), "item": "task:A", "fence": 12, "holder": HOLDER} | event for event in EVENTS]
    drawn = asked(tab, "return given.map(story.storyOf);", filled, "story")
    for event, said in zip(filled, drawn, strict=True):
        (line, *_) = event_lines.lines_of(event, Screen(None, False, True), NOW)
        assert said and line.endswith(said), (event["type"], said, line)
    quiet = [{"at": at(1), "type": type, "session": SCREEN[0]} for type in sorted(event_lines.QUIET)]
    assert asked(tab, "return given.map(story.storyOf);", quiet, "story") == [""] * len(quiet)


def test_the_page_writes_a_command_as_the_command_line_does(tab: Tab) -> None:
    strings = [
        "",
        "task:AUTH-12",
        "path:/a b/**",
        *(each.encode("utf-8", "replace").decode() for each in hostile()),
    ]
    drawn = asked(tab, "return given.map((each) => words.command('headcount', 'claim', each));", strings)
    assert drawn == [command("headcount", "claim", each) for each in strings]
