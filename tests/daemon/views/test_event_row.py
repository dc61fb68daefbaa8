"""What the wire shows of events: as things were, not as they became."""

from headcount.core.values.claim import Claim
from headcount.core.values.events import Event, EventType
from headcount.core.values.evidence import Awake
from headcount.core.values.item import Item
from headcount.daemon.views.session_row import event_row
from tests.rig.core_values import T0, Scene, bound, death, process, start

P = process(100)


def test_an_event_before_the_end_does_not_show_the_end():
    scene = Scene()
    scene.hear(start(anchor=bound(P)), death(P, T0 + 5, signal=9))
    started, ended = (event_row(event, scene.world) for event in scene.events)
    assert (started.session.liveness, started.session.ended) == ("alive", None)
    assert (ended.session.liveness, ended.session.ended.signal) == ("ended", 9)


def test_what_a_death_brings_with_it_does_not_show_the_dead_alive():
    """A claim falls at the moment of the death, after it: whoever follows the stream must not see a dead agent rise."""
    scene = Scene()
    scene.hear(start(anchor=bound(P)), death(P, T0 + 5, signal=9))
    claim = Claim(Item("task:X"), 7, holder=P, session=scene.only().id, since=T0)
    fallen = Event(9, T0 + 5, EventType.CLAIM_RELEASED, claim.session, {}, {"because": "died"}, claim)
    assert event_row(fallen, scene.world).session.liveness == "ended"


def test_facts_hold_times_as_the_rest_of_the_wire_does():
    scene = Scene()
    scene.hear(Awake(T0, version="1", seen_until=T0 - 60.5))
    (awake,) = scene.events
    assert event_row(awake, scene.world).facts == {"version": "1", "blind_since": "1970-01-12T13:45:39.500Z"}
