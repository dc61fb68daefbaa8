"""Stalls: a working session in which nothing stirs is marked, and whatever stirs takes the mark away."""

import pytest

from headcount.core.values.activity import Doing
from headcount.core.values.events import EventType
from headcount.core.values.evidence import Glimpse, Looked
from headcount.core.values.report import Turn
from headcount.core.values.session import Liveness, SessionId
from headcount.core.values.verdict import unknown
from tests.rig.core_values import T0, Scene, bound, death, judged, process, record, report

PATIENCE = 600.0
LATER = T0 + 1000


def working() -> Scene:
    scene = Scene()
    scene.hear(report(anchor=bound(process()), says=Turn.TOOL))
    return scene


def look(
    scene: Scene, at: float = LATER, cpu_at: float | None = T0, transcript_at: float | None = T0
) -> None:
    scene.hear(Looked(scene.only().id, at, cpu_at, transcript_at, PATIENCE), now=at)


def naive(scene: Scene, at: float = LATER) -> bool:
    """The earlier tools' way: silence alone."""
    return at - scene.only().last_event_at >= PATIENCE


def test_a_working_session_in_which_nothing_stirs_is_marked_and_stays_working() -> None:
    scene = working()
    look(scene)
    session = scene.only()
    assert session.stall is not None
    assert (session.stall.heard_at, session.stall.cpu_at, session.stall.transcript_at) == (T0, T0, T0)
    assert (session.activity.doing, session.liveness, session.ended) == (Doing.WORKING, Liveness.ALIVE, None)
    assert scene.events[-1].type is EventType.SESSION_ACTIVITY


def test_a_second_look_that_shows_the_same_is_no_news() -> None:
    scene = working()
    look(scene)
    events = len(scene.events)
    look(scene, LATER + 60)
    assert len(scene.events) == events


@pytest.mark.parametrize(
    ("cpu_at", "transcript_at"),
    [(LATER - 599, T0), (T0, LATER - 599), (LATER, LATER), (None, T0), (None, None)],
    ids=["it computes", "it writes", "both", "nobody knows what it computes", "nothing is known"],
)
def test_any_source_that_stirs_or_is_not_known_marks_nothing(
    cpu_at: float | None, transcript_at: float | None
) -> None:
    scene = working()
    assert naive(scene)  # the control: silence alone would have called it
    look(scene, LATER, cpu_at, transcript_at)
    assert scene.only().stall is None


def test_a_session_without_a_transcript_is_judged_by_the_others() -> None:
    scene = working()
    look(scene, transcript_at=None)
    assert scene.only().stall is not None


def test_one_moment_before_its_time_nothing_is_marked() -> None:
    scene = working()
    look(scene, T0 + PATIENCE - 0.001)
    assert scene.only().stall is None
    look(scene, T0 + PATIENCE)
    assert scene.only().stall is not None


@pytest.mark.parametrize("turn", [Turn.ASKED, Turn.STOPPED, Turn.FAILED, Turn.STARTED, Turn.SETTLED])
def test_only_the_working_stand_still(turn: Turn) -> None:
    scene = Scene()
    scene.hear(report(anchor=bound(process()), says=turn))
    assert naive(scene)
    look(scene)
    assert scene.only().stall is None


def test_a_session_without_a_process_or_in_doubt_is_not_marked() -> None:
    scene = Scene()
    scene.hear(report(says=Turn.TOOL))
    look(scene)
    assert scene.only().stall is None
    scene = working()
    scene.hear(judged(process(), unknown("no descriptor left")))
    look(scene)
    assert scene.only().stall is None


@pytest.mark.parametrize("stirs", ["event", "registry", "subagent", "cpu", "transcript"])
def test_whatever_stirs_ends_it(stirs: str) -> None:
    scene = working()
    look(scene)
    then = LATER + 1
    if stirs == "event":
        scene.hear(report("PostToolUse", then, says=Turn.TOOL_DONE, anchor=bound(process())))
    elif stirs == "registry":
        scene.hear(record(process(), then, status="busy"))
    elif stirs == "subagent":
        scene.hear(report(at=then, subagent="s", anchor=bound(process())))
    elif stirs == "cpu":
        look(scene, then, cpu_at=then)
    else:
        look(scene, then, transcript_at=then)
    assert scene.only().stall is None
    assert scene.only().activity.doing is Doing.WORKING
    assert scene.events[-1].type is EventType.SESSION_ACTIVITY


def test_a_late_double_of_an_old_report_does_not_end_it() -> None:
    scene = working()
    look(scene)
    scene.hear(report(anchor=bound(process()), says=Turn.TOOL))
    assert scene.only().stall is not None


def test_a_glimpse_of_details_does_not_end_it() -> None:
    scene = working()
    look(scene)
    scene.hear(Glimpse("claude-code", "conv-a", model="m"))
    assert scene.only().stall is not None and scene.only().model == "m"


def test_a_look_at_a_session_that_ended_or_never_was_changes_nothing() -> None:
    scene = working()
    id = scene.only().id
    scene.hear(death(process(), T0 + 1))
    assert scene.hear(Looked(id, LATER, T0, T0, PATIENCE)).is_blank
    assert scene.hear(Looked(SessionId("zz"), LATER, T0, T0, PATIENCE)).is_blank
