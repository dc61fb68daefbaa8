"""Collisions without claims: values in, alarms out."""

from typing import Any

from headcount.core.decide import next_deadline
from headcount.core.state.recent_edits import TRACES_MOST
from headcount.core.values.events import EventType
from headcount.core.values.evidence import Awake, Tick
from headcount.core.values.report import Anchor, Report, Turn, Worktree
from headcount.core.values.session import Session
from headcount.times import COLLISION_WITHIN
from tests.rig.core_values import T0, Scene, bound, death, process, report, start

HERE = Worktree("/src/web", "i18n", "web")
A, B = process(100), process(200)


def edit(
    conversation: str, anchor: Anchor, path: str = "/src/web/fr.json", at: float = T0, **more: Any
) -> Report:
    return report(at=at, conversation=conversation, anchor=anchor, edits=path, **more)


def both(scene: Scene) -> tuple[Session, Session]:
    (a,), (b,) = scene.of("conv-a"), scene.of("conv-b")
    return a, b


def test_two_live_sessions_that_edit_one_file_are_told_of_each_other_and_the_file() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", bound(A)), now=T0)
    assert scene.only().alarms == ()
    scene.hear(edit("conv-b", bound(B), at=T0 + 5), now=T0 + 5)
    a, b = both(scene)
    assert a.alarms == (f"also edited by {b.id[:4]} claude-code: /src/web/fr.json",)
    assert b.alarms == (f"also edited by {a.id[:4]} claude-code: /src/web/fr.json",)
    raised = [event for event in scene.events if event.type is EventType.ALARM_RAISED]
    assert {event.session for event in raised} == {a.id, b.id}
    assert raised[0].facts["path"] == "/src/web/fr.json"
    assert set(raised[0].facts["sessions"]) == {a.id, b.id}


def test_different_files_raise_nothing_and_a_second_edit_raises_nothing_new() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", bound(A)), edit("conv-b", bound(B), "/src/web/de.json"), now=T0)
    assert [each.alarms for each in both(scene)] == [(), ()]
    scene.hear(edit("conv-b", bound(B), at=T0 + 1), now=T0 + 1)
    before = len(scene.events)
    scene.hear(edit("conv-b", bound(B), at=T0 + 1), edit("conv-a", bound(A), at=T0 + 1), now=T0 + 1)
    assert not [event for event in scene.events[before:] if event.type is EventType.ALARM_RAISED]


def test_an_edit_of_long_ago_is_no_collision() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", bound(A)), now=T0)
    late = T0 + COLLISION_WITHIN + 1
    scene.hear(edit("conv-b", bound(B), at=late), now=late)
    assert [each.alarms for each in both(scene)] == [(), ()]


def test_the_end_of_one_clears_the_alarm_of_both() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", bound(A)), edit("conv-b", bound(B)), now=T0)
    assert all(each.alarms for each in both(scene))
    scene.hear(death(A, T0 + 1), now=T0 + 1)
    assert [each.alarms for each in both(scene)] == [(), ()]
    assert sum(event.type is EventType.ALARM_CLEARED for event in scene.events) == 2


def test_time_clears_it_by_the_one_timer() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", bound(A)), edit("conv-b", bound(B), at=T0 + 60), now=T0 + 60)
    due = next_deadline(scene.world)
    assert due == T0 + COLLISION_WITHIN
    scene.hear(Tick(), now=due)
    assert [each.alarms for each in both(scene)] == [(), ()]
    scene.hear(Tick(), now=due)
    assert next_deadline(scene.world) is None


def test_a_session_and_what_it_started_do_not_alarm_each_other() -> None:
    scene = Scene()
    nested = Anchor(B, True, "stat line", parent=A)
    scene.hear(edit("conv-a", bound(A)), now=T0)
    scene.hear(start(T0 + 1, "conv-b", anchor=nested), edit("conv-b", nested, at=T0 + 1), now=T0 + 1)
    a, b = both(scene)
    assert b.parent == a.id and a.alarms == b.alarms == ()


def test_a_conversation_that_follows_in_the_same_process_is_no_other() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", bound(A)), now=T0)
    scene.hear(start(T0 + 1, "conv-b", anchor=bound(A)), edit("conv-b", bound(A), at=T0 + 2), now=T0 + 2)
    assert [each.alarms for each in both(scene)] == [(), ()]


def test_two_at_work_in_one_worktree_and_branch_are_told_and_a_turns_end_clears_it() -> None:
    scene = Scene()
    scene.hear(report(conversation="conv-a", anchor=bound(A), worktree=HERE), now=T0)
    scene.hear(report(conversation="conv-b", anchor=bound(B), worktree=HERE), now=T0)
    a, b = both(scene)
    assert a.alarms == (f"also at work in web@i18n (/src/web): {b.id[:4]} claude-code",)
    stop = report("Stop", T0 + 5, "conv-b", Turn.STOPPED, anchor=bound(B), worktree=HERE)
    scene.hear(stop, now=T0 + 5)
    assert [each.alarms for each in both(scene)] == [(), ()]


def test_who_edited_in_the_worktree_counts_also_between_turns() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", bound(A), worktree=HERE), now=T0)
    scene.hear(report("Stop", T0 + 1, "conv-a", Turn.STOPPED, anchor=bound(A), worktree=HERE), now=T0 + 1)
    scene.hear(report(at=T0 + 2, conversation="conv-b", anchor=bound(B), worktree=HERE), now=T0 + 2)
    assert all(each.alarms for each in both(scene))


def test_an_idle_neighbour_another_branch_and_another_worktree_raise_nothing() -> None:
    scene = Scene()
    scene.hear(start(T0, "conv-a", anchor=bound(A), worktree=HERE), now=T0)
    scene.hear(report(at=T0, conversation="conv-b", anchor=bound(B), worktree=HERE), now=T0)
    other = Worktree("/src/web", "main", "web")
    scene.hear(report(at=T0 + 1, conversation="conv-a", anchor=bound(A), worktree=other), now=T0 + 1)
    assert [each.alarms for each in both(scene)] == [(), ()]


def test_an_alarm_of_the_worktree_that_outlives_its_edits_does_not_wake_the_timer_for_ever() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", bound(A), "/src/web/a", worktree=HERE), now=T0)
    scene.hear(edit("conv-b", bound(B), "/src/web/b", worktree=HERE), now=T0)
    due = T0 + COLLISION_WITHIN
    scene.hear(Tick(), now=due)
    assert all(each.alarms for each in both(scene))  # both are still in the middle of a turn
    assert next_deadline(scene.world) is None


def test_a_restart_forgets_and_says_so() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", bound(A)), edit("conv-b", bound(B)), now=T0)
    again = Scene()
    again.world = type(scene.world)(scene.world.place, scene.world.sessions.values(), scene.world.seq)
    again.hear(Awake(T0 + 1), now=T0 + 1)
    assert [each.alarms for each in both(again)] == [(), ()]


def test_what_was_edited_is_in_no_event_but_the_alarm_and_memory_is_bounded() -> None:
    scene = Scene()
    scene.hear(*(edit("conv-a", bound(A), f"/src/{n}") for n in range(TRACES_MOST + 10)), now=T0)
    assert "/src/" not in repr(scene.events)
    assert len(scene.world.traces.places) == TRACES_MOST


def test_a_session_without_a_process_raises_nothing() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", Anchor()), edit("conv-b", bound(B)), now=T0)
    assert [each.alarms for each in both(scene)] == [(), ()]


def refused(scene: Scene) -> None:
    """A session that was about to edit, and whose turn ended without it."""
    for at, says, path in (
        (0, Turn.PROMPTED, None),
        (1, Turn.TOOL, "/src/web/fr.json"),
        (2, Turn.STOPPED, None),
    ):
        scene.hear(
            report(
                at=T0 + at, conversation="conv-a", anchor=bound(A), says=says, would_edit=path, worktree=HERE
            ),
            now=T0 + at,
        )


def test_what_was_not_edited_counts_neither_for_the_file_nor_for_its_worktree() -> None:
    scene = Scene()
    refused(scene)
    later = T0 + 60
    scene.hear(
        report(at=later, conversation="conv-b", anchor=bound(B), says=Turn.PROMPTED, worktree=HERE),
        edit("conv-b", bound(B), at=later),
        now=later,
    )
    assert [each.alarms for each in both(scene)] == [(), ()]


def test_an_edit_that_was_made_before_stands_when_the_next_is_refused() -> None:
    scene = Scene()
    scene.hear(edit("conv-a", bound(A), at=T0 - 1), now=T0 - 1)
    refused(scene)
    scene.hear(edit("conv-b", bound(B), at=T0 + 60), now=T0 + 60)
    assert all(each.alarms for each in both(scene))
