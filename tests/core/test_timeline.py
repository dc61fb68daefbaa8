"""Lanes: what is drawn of a journal, and how long agents waited in it."""

from typing import Any

import pytest

from headcount.core.timeline import Lane, Lanes, Span, activity_before, covered, times, waits
from headcount.core.values.activity import Activity, Doing
from headcount.core.values.claim import Claim
from headcount.core.values.events import Event, EventType
from headcount.core.values.item import Item
from headcount.core.values.session import Ended, EndKind, Liveness, Session, SessionId
from tests.rig.core_values import process

T = 1_000.0
ONE = SessionId("one")


def does(doing: Doing, since: float) -> Activity:
    return Activity(doing, since=since)


def event(seq: int, at: float, type: EventType, session: SessionId | None = ONE, **more: Any) -> Event:
    return Event(seq, at, type, session, **more)


def turned(at: float, doing: Doing) -> Event:
    return event(int(at), at, EventType.SESSION_ACTIVITY, delta={"activity": does(doing, at)})


def died(at: float) -> Event:
    ended = Ended(at, EndKind.KILLED, "killed (SIGKILL)", signal=9)
    return event(int(at), at, EventType.SESSION_ENDED, delta={"ended": ended, "liveness": Liveness.ENDED})


def awake(at: float, blind_since: float | None) -> Event:
    return event(int(at), at, EventType.HEADCOUNT_STARTED, None, facts={"blind_since": blind_since})


def claimed(at: float, type: EventType, fence: int = 7, **facts: Any) -> Event:
    claim = Claim(Item("task:X"), fence, process(), ONE, "conv-a", at)
    return event(int(at), at, type, claim=claim, facts=facts)


def session(started_at: float = T - 500) -> Session:
    return Session(ONE, "claude-code", "conv-a", Liveness.ALIVE, started_at, started_at, "boot-1")


def drawn(*events: Event, before: Activity | None = None, started_at: float = T - 500) -> Lanes:
    lanes = Lanes(T, T + 100)
    if before is not None:
        lanes.begin(session(started_at), before)
    for each in events:
        lanes.take(each)
    lanes.finish()
    return lanes


def shape(lane: Lane) -> list[tuple[float, float, str]]:
    return [(span.since - T, span.to - T, span.activity.doing.value) for span in lane.spans]


def test_a_lane_is_coloured_by_what_was_believed_then() -> None:
    lanes = drawn(
        turned(T + 10, Doing.WORKING),
        turned(T + 40, Doing.WAITING),
        turned(T + 60, Doing.WORKING),
        died(T + 80),
    )
    lane = lanes.lanes[ONE]
    assert shape(lane) == [(10, 40, "working"), (40, 60, "waiting"), (60, 80, "working")]
    assert lane.ended is not None and lane.ended.signal == 9


def test_what_went_on_before_the_picture_is_drawn_from_its_edge_and_to_its_end() -> None:
    assert shape(drawn(before=does(Doing.IDLE, T - 400)).lanes[ONE]) == [(0, 100, "idle")]
    late = drawn(before=does(Doing.IDLE, T + 30), started_at=T + 30)
    assert shape(late.lanes[ONE]) == [(30, 100, "idle")]


def test_nothing_is_drawn_through_a_time_in_which_nobody_looked() -> None:
    lanes = drawn(turned(T + 10, Doing.WAITING), awake(T + 50, T + 20))
    assert lanes.blind == [(T + 20, T + 50)]
    assert shape(lanes.lanes[ONE]) == [(10, 20, "waiting"), (50, 100, "waiting")]
    assert sum(span.length for span in waits(lanes.lanes[ONE])) == 60
    assert times(waits(lanes.lanes[ONE])) == 1  # one question, seen in two parts


def test_what_lies_before_the_very_first_start_is_blind() -> None:
    lanes = drawn(awake(T + 40, None), before=Activity())
    assert lanes.blind == [(T, T + 40)]
    assert shape(lanes.lanes[ONE]) == [(40, 100, "unknown")]


def test_a_session_of_which_nothing_was_ever_heard_has_a_lane_and_a_life_before_its_death() -> None:
    lanes = drawn(event(1, T + 10, EventType.SESSION_STARTED), died(T + 60))
    assert shape(lanes.lanes[ONE]) == [(10, 60, "unknown")]


def test_a_claim_from_before_the_stretch_is_held_through_it_until_it_is_released() -> None:
    lanes = Lanes(T, T + 100)
    lanes.held_before(ONE, "task:X", 7)
    lanes.take(claimed(T + 30, EventType.CLAIM_RELEASED, because="died"))
    (held,) = lanes.lanes[ONE].claims
    assert (held.since, held.to, held.because) == (T, T + 30, "died")


def test_a_naive_timeline_fills_the_blind_time() -> None:
    """The negative control: without the start's word the wait is thirty seconds longer than anybody saw."""
    naive = drawn(turned(T + 10, Doing.WAITING))
    assert sum(span.length for span in waits(naive.lanes[ONE])) == 90


def test_a_death_while_headcount_was_away_is_drawn_no_later_than_it_was_seen() -> None:
    ended = Ended(T + 45, EndKind.UNSEEN, "gone", away=True)
    found = event(46, T + 50, EventType.SESSION_ENDED, delta={"ended": ended})
    lanes = drawn(turned(T + 10, Doing.WORKING), awake(T + 50, T + 20), found)
    assert shape(lanes.lanes[ONE]) == [(10, 20, "working")]


def test_an_end_that_was_wrong_is_taken_back() -> None:
    back = event(
        70, T + 70, EventType.SESSION_REOPENED, delta={"ended": None, "activity": does(Doing.WORKING, T + 70)}
    )
    lane = drawn(turned(T + 10, Doing.WORKING), died(T + 20), back).lanes[ONE]
    assert lane.ended is None
    assert shape(lane) == [(10, 20, "working"), (70, 100, "working")]


def test_claims_are_marked_from_grant_to_release_also_when_one_end_is_outside() -> None:
    lane = drawn(
        claimed(T + 10, EventType.CLAIM_GRANTED), claimed(T + 30, EventType.CLAIM_RELEASED, because="died"),
        claimed(T + 40, EventType.CLAIM_GRANTED, 8),
    ).lanes[ONE]  # fmt: skip
    assert [(held.since - T, held.to and held.to - T, held.because) for held in lane.claims] == [
        (10, 30, "died"),
        (40, None, None),
    ]
    cut = drawn(claimed(T + 30, EventType.CLAIM_RELEASED, because="released")).lanes[ONE]
    assert [(held.fence, held.to) for held in cut.claims] == [(7, T + 30)]


def test_the_last_word_of_each_session_before_the_picture_counts() -> None:
    found = activity_before([turned(T - 9, Doing.IDLE), turned(T - 5, Doing.WORKING), awake(T - 2, None)])
    assert found[ONE].doing is Doing.WORKING


@pytest.mark.parametrize(
    ("spans", "length"),
    [([], 0), ([(0, 10)], 10), ([(0, 10), (5, 8)], 10), ([(0, 10), (5, 20)], 20), ([(10, 20), (0, 5)], 15)],
)
def test_time_in_which_at_least_one_waited_is_counted_once(
    spans: list[tuple[float, float]], length: float
) -> None:
    assert covered(Span(a, b, Activity()) for a, b in spans) == length


def test_a_clock_that_was_set_back_draws_nothing_backwards() -> None:
    lane = drawn(
        turned(T + 50, Doing.WORKING), turned(T + 20, Doing.WAITING), turned(T + 60, Doing.IDLE)
    ).lanes[ONE]
    assert all(span.length > 0 for span in lane.spans)
    assert [a.to <= b.since for a, b in zip(lane.spans, lane.spans[1:], strict=False)].count(False) == 0
