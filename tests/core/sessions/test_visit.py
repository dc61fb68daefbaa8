"""A visit: what is done becomes seen, and nothing else changes by a look."""

import pytest

from headcount.core.values.activity import Doing
from headcount.core.values.evidence import Visited
from headcount.core.values.report import Turn
from tests.rig.core_values import T0, Scene, bound, death, process, report, start


def scene_of(turn: Turn) -> Scene:
    scene = Scene()
    scene.hear(start(anchor=bound(process())))
    scene.hear(report(at=T0 + 10, says=turn, anchor=bound(process())))
    return scene


def test_what_is_done_is_idle_after_a_visit_and_done_again_after_the_next_turn() -> None:
    scene = scene_of(Turn.STOPPED)
    assert scene.only().activity.doing is Doing.DONE
    scene.hear(Visited(scene.only().id, T0 + 20), now=T0 + 20)
    seen = scene.only().activity
    assert (seen.doing, seen.because, seen.source, seen.since) == (Doing.IDLE, "visited", "person", T0 + 20)
    scene.hear(report(at=T0 + 10, says=Turn.STOPPED, anchor=bound(process())), now=T0 + 30)  # late, once more
    assert scene.only().activity.doing is Doing.IDLE
    scene.hear(report(at=T0 + 40, says=Turn.STOPPED, anchor=bound(process())), now=T0 + 40)
    assert scene.only().activity.doing is Doing.DONE


@pytest.mark.parametrize("turn", [each for each in Turn if each is not Turn.STOPPED])
def test_a_look_changes_nothing_that_is_not_done(turn: Turn) -> None:
    scene = scene_of(turn)
    before = scene.only()
    assert scene.hear(Visited(before.id, T0 + 20), now=T0 + 20).events == []
    assert scene.only() == before


def test_who_has_ended_is_not_visited() -> None:
    scene = scene_of(Turn.STOPPED)
    scene.hear(death(process(), T0 + 15))
    assert scene.hear(Visited(scene.only().id, T0 + 20), now=T0 + 20).events == []
