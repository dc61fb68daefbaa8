"""Words of the core: the same as any Enum's to whoever uses them, and found in tables without a call of Python."""

import enum

import pytest

from headcount.core.values.activity import Doing
from headcount.core.values.events import EventType
from headcount.core.values.fast_enum import FastEnum
from headcount.core.values.report import Turn
from headcount.core.values.session import Liveness


@pytest.mark.parametrize("words", [EventType, Turn, Liveness, Doing])
def test_a_word_is_found_by_its_value_and_in_tables(words: type[FastEnum]) -> None:
    table = {word: word.value for word in words}
    assert len(table) == len(words)
    for word in words:
        assert words(word.value) is word and table[word] == word.value == word._value_


def test_a_word_is_not_hashed_by_python() -> None:
    class Plain(enum.Enum):
        WORD = "word"

    assert type(Turn.TOOL).__hash__ is object.__hash__
    assert type(Plain.WORD).__hash__ is not object.__hash__, "else this class is not needed any more"
