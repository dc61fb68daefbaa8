"""Server-sent events, in every cut."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from headcount.client.transport.response import EventParser, ServerSentEvent

STREAM = b': hello\n\nid: 7\nevent: session.ended\ndata: {"a":\ndata: 1}\n\nevent: empty\n\ndata: x\r\n\r\n'
EVENTS = [ServerSentEvent("session.ended", '{"a":\n1}', "7"), ServerSentEvent("message", "x", "7")]


def test_an_event_has_type_data_and_the_last_id() -> None:
    assert list(EventParser().feed(STREAM)) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_where_a_stream_is_cut_changes_nothing(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    parser = EventParser()
    got = [event for a, b in itertools.pairwise(edges) for event in parser.feed(STREAM[a:b])]
    assert got == EVENTS


def test_half_an_event_is_no_event() -> None:
    assert list(EventParser().feed(b"data: 1\n")) == []


def test_a_line_end_cut_in_two_is_one_line_end() -> None:
    parser = EventParser()
    assert list(parser.feed(b"event: a\r")) == []
    assert list(parser.feed(b"\ndata: 1\r\n\r\n")) == [ServerSentEvent("a", "1", None)]
