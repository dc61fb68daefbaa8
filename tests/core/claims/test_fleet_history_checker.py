"""The checker of a fleet's answers: right histories pass, and each kind of wrong one is seen."""

import pytest

from tests.rig.claims.fleet_history_checker import Entry, outdated, unexplained
from tests.rig.claims.history_checker import Does, Operation, Says

JOURNAL = [
    Entry("t", True, 5, "a"),
    Entry("t", False, 5, "a"),
    Entry("t", True, 7, "b"),
]


def op(process, does, called, answered, says, fence=None, holder=None):
    return Operation(process, does, "t", called, answered, says, fence, holder)


RIGHT = [
    op("a", Does.ACQUIRE, 1, 2, Says.GRANTED, 5),
    op("b", Does.ACQUIRE, 1.5, 3, Says.HELD, holder="a"),
    op("a", Does.CHECK, 3, 4, Says.CURRENT, 5),
    op("b", Does.ACQUIRE, 5, 6, Says.GRANTED, 7),
    op("a", Does.CHECK, 5.5, 7, Says.STALE, 5),
]


def test_a_history_that_the_journal_explains_is_right():
    assert unexplained(JOURNAL, RIGHT) == []
    assert outdated(RIGHT) == []


@pytest.mark.parametrize(
    "wrong",
    [
        op("a", Does.CHECK, 6.5, 7, Says.CURRENT, 5),  # after another was granted
        op("a", Does.CHECK, 1.2, 1.4, Says.STALE, 5),  # while it held, as a later answer shows
        op("c", Does.ACQUIRE, 1, 2, Says.GRANTED, 6),  # a fence that was never given
        op("c", Does.CHECK, 1, 2, Says.CURRENT, 5),  # of somebody else
        op("c", Does.ACQUIRE, 8, 9, Says.HELD, holder="a"),  # it had ended long before
        op("a", Does.RELEASE, 0.1, 0.2, Says.RELEASED, 5),  # before it was granted
    ],
)
def test_an_answer_that_the_journal_cannot_explain_is_seen(wrong):
    assert unexplained(JOURNAL, [*RIGHT, wrong]) != []


def test_a_fence_that_does_not_grow_is_seen():
    assert unexplained([*JOURNAL, Entry("t", True, 6, "c")], []) != []


def test_two_who_are_both_told_that_they_hold_it_are_seen_without_a_journal():
    assert outdated([*RIGHT, op("a", Does.CHECK, 6.5, 7, Says.CURRENT, 5)]) != []
