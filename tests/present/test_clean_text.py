"""No foreign escape sequence ever reaches a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.clean_text import clean, cut, cut_middle, pad, width


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_what_comes_out_is_visible_and_one_line(text: str) -> None:
    shown = clean(text)
    assert shown.isprintable()
    assert not {unicodedata.category(character) for character in shown} & {
        "Cc",
        "Cf",
        "Cs",
        "Co",
        "Cn",
        "Zl",
        "Zp",
    }
    shown.encode("utf-8")
    assert clean(shown) == shown


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("\x1b]52;c;cm0gLXJm\x07name", "?]52;c;cm0gLXJm?name"),  # OSC 52: sets the clipboard
        ("\x1b[2Jname", "?[2Jname"),
        ("\x9b31mred", "?31mred"),  # the C1 form of ESC [
        ("a\u202egnp.exe", "agnp.exe"),  # right-to-left override
        ("ad\u200bmin\ufeff", "admin"),  # zero width
        ("ad\u3164min\u2800", "admin"),  # letters that are drawn as nothing
        ("two\nlines\tand\rmore", "two lines and more"),
        ("lone \ud83d surrogate", "lone ? surrogate"),
        ("a" + "\u0301" * 30, "a\u0301\u0301"),
        ("\U000e0041tag", "tag"),
        ("日本語 ok é 🙂", "日本語 ok é 🙂"),
        (None, ""),
        (42, "42"),
    ],
)
def test_tricks_are_disarmed_and_honest_text_is_left(foreign: object, shown: str) -> None:
    assert clean(foreign) == shown


@given(st.text().map(clean), st.integers(1, 40))
def test_a_cut_never_takes_more_cells_than_allowed(text: str, cells: int) -> None:
    for dots in ("…", ".."):
        assert width(cut(text, cells, dots)) <= cells
        assert width(cut_middle(text, cells, dots)) <= cells
    if width(text) <= cells:
        assert cut(text, cells) == cut_middle(text, cells) == text
        assert width(pad(text, cells)) == cells


def test_names_are_cut_in_the_middle_and_wide_letters_count_twice() -> None:
    assert cut_middle("feature-auth-refactor", 11) == "featu…actor"
    assert cut_middle("feature-auth-refactor", 11, "..") == "featu..ctor"
    assert width("日本") == 4
    assert cut("日本語", 4) == "日…"
