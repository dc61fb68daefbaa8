"""Times as the wire writes them and as people read them."""

import calendar
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.present.time_text import exact_span, parse, parse_span, span, stamp


@given(st.integers(0, 4_102_444_800_000))
def test_a_stamp_is_read_as_it_was_written(milliseconds: int) -> None:
    moment = milliseconds / 1000
    assert parse(stamp(moment)) == pytest.approx(moment, abs=0.0006)


def test_a_known_stamp_is_that_moment() -> None:
    expected = calendar.timegm(time.strptime("2026-11-15 13:20:05", "%Y-%m-%d %H:%M:%S")) + 0.25
    assert parse("2026-11-15T13:20:05.250Z") == expected


@pytest.mark.parametrize(
    "bad", [None, 3, "", "now", "2026-11-15T13:20:05", "２026-11-15T13:20:05.250Z", "2026-11-15T13:20:05.x0Z"]
)
def test_what_is_no_moment_is_none(bad: object) -> None:
    assert parse(bad) is None


@pytest.mark.parametrize(
    ("seconds", "short", "exact"),
    [
        (-3, "0s", "0s"),
        (38, "38s", "38s"),
        (252, "4m", "4m12s"),
        (7560, "2h", "2h06m"),
        (273_600, "3d", "3d04h"),
    ],
)
def test_spans_are_short_for_tables_and_exact_for_stories(seconds: float, short: str, exact: str) -> None:
    assert (span(seconds), exact_span(seconds)) == (short, exact)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1.5h", 5400),
        ("1h30m", 5400),
        ("3d", 259_200),
        ("", None),
        ("h", None),
        ("1h30", None),
        ("-5", None),
        ("5 m", None),
        ("٣", None),
        ("1..2", None),
    ],
)
def test_spans_are_read_strictly(text: str, seconds: float | None) -> None:
    assert parse_span(text) == seconds
