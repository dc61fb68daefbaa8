"""The table of `ps`: the documented screen, and every width."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.clean_text import width
from headcount.present.screen import Screen, screen_of
from headcount.present.session_words import GROUPS, rows_of, short_ids, state_of
from headcount.present.table import columns_of, draw
from tests.present.sample_rows import DRAWN, NOW, SCREEN, at, session

PIPE = Screen(columns=None, colour=False, unicode=True)


def terminal(columns: int, colour: bool = False, unicode: bool = True) -> Screen:
    return Screen(columns, colour, unicode)


def test_the_documented_screen_is_what_is_drawn() -> None:
    rows = rows_of(SCREEN, NOW)
    assert "\n".join(draw(rows, PIPE)) == DRAWN
    assert "\n".join(draw(rows, terminal(100))) == DRAWN


def test_below_100_columns_where_goes_and_80_fit() -> None:
    for columns in (99, 80):
        lines = draw(rows_of(SCREEN, NOW), terminal(columns))
        assert "WHERE" not in lines[0]
        assert "DOING" in lines[0] and "NAME" in lines[0]
        assert all(width(line) <= columns for line in lines)


def test_repo_goes_when_it_does_not_fit() -> None:
    rows = rows_of(SCREEN, NOW)
    assert "repo" in [column.key for column in columns_of(rows, 99)]
    assert "repo" not in [column.key for column in columns_of(rows, 62)]


def test_below_60_columns_only_mark_name_state_and_age_are_left() -> None:
    lines = draw(rows_of(SCREEN, NOW), terminal(59))
    assert lines[0].split() == ["NAME", "STATE", "FOR"]
    assert lines[1].split() == ["▲", "auth-refactor", "permission", "4m"]


NAMES = st.text(max_size=40)


@given(
    st.integers(20, 200),
    st.lists(
        st.tuples(NAMES, NAMES, st.sampled_from(["idle", "working", "waiting", "?"])), min_size=1, max_size=6
    ),
)
def test_no_line_is_wider_than_the_terminal(columns: int, drawn: list[tuple[str, str, str]]) -> None:
    raws = [
        session(
            f"{index:08x}",
            name=name,
            doing=doing,
            activity=activity,
            cwd="/nowhere/" + "x" * len(name),
            alarms=[doing],
        )
        for index, (name, doing, activity) in enumerate(drawn)
    ]
    for line in draw(rows_of(raws, NOW), terminal(columns)):
        assert width(line) <= columns


def test_a_pipe_cuts_nothing() -> None:
    long = "n" * 200
    lines = draw(rows_of([session(name=long, doing=long)], NOW), PIPE)
    assert lines[1].count(long) == 2


def test_colour_is_on_the_mark_and_the_state_only() -> None:
    line = draw(
        rows_of([session(activity="waiting", waiting_on="plan", name="n")], NOW), terminal(100, colour=True)
    )[1]
    assert re.findall(r"\x1b\[([\d;]+)m([^\x1b]*)\x1b\[0m", line) == [("1;33", "▲"), ("1;33", "plan")]
    assert (
        re.sub(r"\x1b\[[\d;]*m", "", line)
        == draw(rows_of([session(activity="waiting", waiting_on="plan", name="n")], NOW), terminal(100))[1]
    )


def test_an_escape_in_a_name_is_never_sent_to_the_terminal() -> None:
    raw = session(
        "\x1b[2J1234",
        name="\x1b]0;x\x07",
        doing="\x1b[31m",
        cwd="/nowhere/\x1bc",
        agent="\x9b",
        alarms=["\x1b[A"],
    )
    raw["waiting_on"], raw["activity"], raw["where"] = "\x1b[5m", "waiting", "\x1b[1m"
    assert "\x1b" not in "".join(draw(rows_of([raw], NOW), terminal(200)))


def test_without_utf8_marks_are_ascii() -> None:
    groups = {row.group: row for row in rows_of(SCREEN, NOW)}
    lines = draw(rows_of(SCREEN, NOW), terminal(80, unicode=False))
    assert all(line.isascii() for line in lines)
    assert [line[0] for line in lines[1:-1]] == list(">>#+**?-")
    assert set(groups) == set(GROUPS) - {"ended"}


def test_more_than_eight_idle_rows_fold_except_in_pipes_and_with_alarms() -> None:
    raws = [session(f"{index:08x}", activity="idle", name=f"n{index}") for index in range(9)]
    assert len(draw(rows_of(raws, NOW), terminal(100))) == 2
    assert "9 idle" in draw(rows_of(raws, NOW), terminal(100))[0]
    assert len(draw(rows_of(raws, NOW), PIPE)) == 11
    assert len(draw(rows_of(raws, NOW), terminal(100), everything=True)) == 11
    assert len(draw(rows_of(raws[:8], NOW), terminal(100))) == 10
    alarmed = session("ffffffff", activity="idle", name="loud", alarms=["conversation also open in 41877"])
    lines = draw(rows_of([*raws, alarmed], NOW), terminal(100))
    assert len(lines) == 5  # head, the loud one, its alarm, the fold, the summary
    assert "loud" in lines[1]


def test_an_alarm_is_an_indented_red_line() -> None:
    lines = draw(
        rows_of([session(alarms=["conversation also open in 41877"])], NOW), terminal(100, colour=True)
    )
    assert lines[2] == "\x1b[31m        ! conversation also open in 41877\x1b[0m"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"activity": "waiting", "waiting_on": "plan"}, "plan"),
        ({"activity": "waiting"}, "waiting"),
        ({"activity": "failed", "failure": "limit"}, "limit"),
        ({"activity": "failed"}, "error"),
        ({"activity": "working", "liveness": "unknown"}, "working?"),
        ({"activity": "unknown", "liveness": "unknown"}, "unknown"),
        ({"liveness": "lost", "last_event_at": at(720)}, "unheard 12m"),
        (
            {"liveness": "ended", "ended": {"kind": "exited", "because": "exited (0)", "exit_code": 0}},
            "exited",
        ),
        (
            {"liveness": "ended", "ended": {"kind": "exited", "because": "exited with 3", "exit_code": 3}},
            "exited with 3",
        ),
        (
            {"liveness": "ended", "ended": {"kind": "killed", "because": "killed (SIGKILL)", "signal": 9}},
            "killed (SIGKILL)",
        ),
        (
            {"liveness": "ended", "ended": {"kind": "superseded", "because": "continued as 5e61 (/clear)"}},
            "continued as 5e61 (/clear)",
        ),
        (
            {"liveness": "ended", "ended": {"kind": "rebooted", "because": "x", "away": True}},
            "ended by reboot",
        ),
        (
            {"liveness": "ended", "ended": {"kind": "unseen", "because": "x", "away": True}},
            "ended while headcount was away",
        ),
    ],
)
def test_states_have_the_words_of_people(fields: dict[str, object], words: str) -> None:
    assert state_of(session(**fields), NOW) == words


def test_rows_are_in_order_and_the_oldest_need_comes_first() -> None:
    raws = [session(f"{index:08x}", activity="waiting", ago=index) for index in (5, 50, 20)]
    assert [row.since for row in rows_of(raws, NOW)] == [NOW - 50, NOW - 20, NOW - 5]


def test_the_dead_are_last_and_counted_apart() -> None:
    ended = {"at": at(5), "kind": "killed", "because": "killed (SIGKILL)", "signal": 9}
    rows = rows_of([session("aaaa", liveness="ended", ended=ended), session("bbbb", activity="idle")], NOW)
    assert [row.id for row in rows] == ["bbbb", "aaaa"]
    assert draw(rows, PIPE)[-1] == "1 alive: 1 idle; 1 ended"


@given(st.lists(st.text("ab", min_size=1, max_size=12), unique=True))
def test_short_ids_are_unique_prefixes(ids: list[str]) -> None:
    short = short_ids(ids)
    for one in ids:
        assert one.startswith(short[one])
        assert len(short[one]) >= min(4, len(one))
        assert short[one] == one or [other for other in ids if other.startswith(short[one])] == [one]


def test_no_agents_says_what_to_do() -> None:
    assert "headcount demo" in draw([], PIPE)[0]


class Stream:
    def __init__(self, tty: bool, encoding: str = "utf-8") -> None:
        self.encoding = encoding
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty

    def fileno(self) -> int:
        raise OSError


def test_the_screen_obeys_no_color_pipes_and_locale() -> None:
    utf8 = {"LANG": "de_DE.UTF-8", "COLUMNS": "77"}
    assert screen_of(Stream(True), utf8) == Screen(77, True, True)  # type: ignore[arg-type]
    assert screen_of(Stream(False), utf8) == Screen(None, False, True)  # type: ignore[arg-type]
    assert not screen_of(Stream(True), {**utf8, "NO_COLOR": "1"}).colour  # type: ignore[arg-type]
    assert not screen_of(Stream(True), {**utf8, "LC_ALL": "C"}).unicode  # type: ignore[arg-type]
    assert not screen_of(Stream(True, "ascii"), utf8).unicode  # type: ignore[arg-type]
    assert screen_of(Stream(True), {}).columns == 80  # type: ignore[arg-type]
