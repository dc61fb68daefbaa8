"""Notices: one a transition, never twice, and none that is nobody's business."""

import random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from headcount.core.notifications import Memory, Notice, NotificationKind, begin, is_unattended_turn, judge
from headcount.core.state.world import World
from headcount.core.values.claim import Claim, Freed
from headcount.core.values.events import Event, EventType
from headcount.core.values.item import Item
from headcount.core.values.report import Turn, WaitingOn
from headcount.core.values.session import Session, SessionId
from tests.rig.core_values import T0, Scene, bound, death, process, record, report, start
from tests.rig.security.hostile_strings import hostile, traces

LONG = 120.0


def told(scene: Scene, memory: Memory | None = None) -> list[Notice]:
    memory = Memory() if memory is None else memory
    found = [judge(memory, each, _session(scene.world, each), LONG) for each in scene.events]
    return [each for each in found if each is not None]


def _session(world: World, event: Event) -> Session | None:
    return world.sessions.get(event.session) if event.session else None


def kinds(notices: list[Notice]) -> list[NotificationKind]:
    return [each.kind for each in notices]


def scene_of(*words: tuple[float, Turn, dict[str, Any]]) -> Scene:
    scene = Scene()
    scene.hear(start(T0, anchor=bound(process())))
    for after, turn, more in words:
        scene.hear(report(turn.value, T0 + after, says=turn, **more))
    return scene


PERMISSION: dict[str, Any] = {"waiting_on": WaitingOn.PERMISSION, "doing": "Bash: rm -r build"}


def test_waiting_for_its_user_is_told_once_however_often_it_is_said() -> None:
    scene = scene_of(
        (1, Turn.PROMPTED, {}),
        (2, Turn.ASKED, PERMISSION),
        (3, Turn.ASKED, {**PERMISSION, "doing": "Bash: rm -r dist"}),
    )
    scene.hear(record(process(), T0 + 4, status="waiting", waiting_on=WaitingOn.PERMISSION))
    assert sum("activity" in each.delta for each in scene.events) >= 3, "each of them was an event"
    (notice,) = told(scene)
    assert notice.kind is NotificationKind.NEEDS_YOU
    assert notice.text == "waits on permission: Bash: rm -r build"
    assert len(naive(scene)) > 1, "the naive way tells it again"


def naive(scene: Scene) -> list[int]:
    """Every event whose session waits."""
    return [
        each.seq
        for each in scene.events
        if "activity" in each.delta and each.delta["activity"].doing.value == "waiting"
    ]


def test_a_second_question_of_the_same_turn_is_a_new_transition() -> None:
    scene = scene_of(
        (1, Turn.PROMPTED, {}),
        (2, Turn.ASKED, PERMISSION),
        (5, Turn.TOOL_DONE, {}),
        (9, Turn.ASKED, PERMISSION),
    )
    assert kinds(told(scene)) == [NotificationKind.NEEDS_YOU, NotificationKind.NEEDS_YOU]


@pytest.mark.parametrize(("took", "expected"), [(LONG - 1, []), (LONG, [NotificationKind.FINISHED])])
def test_a_finished_turn_is_told_when_it_was_long(took: float, expected: list[NotificationKind]) -> None:
    scene = scene_of((1, Turn.PROMPTED, {}), (1 + took / 2, Turn.TOOL, {}), (1 + took, Turn.STOPPED, {}))
    assert kinds(told(scene)) == expected


def test_a_turn_goes_on_through_its_questions() -> None:
    scene = scene_of(
        (1, Turn.PROMPTED, {}),
        (50, Turn.ASKED, PERMISSION),
        (60, Turn.TOOL_DONE, {}),
        (200, Turn.STOPPED, {}),
    )
    needs, finished = told(scene)
    assert (needs.kind, finished.kind) == (NotificationKind.NEEDS_YOU, NotificationKind.FINISHED)
    assert finished.text.startswith("after 3m19s")


def test_a_turn_that_a_limit_stopped_says_so() -> None:
    scene = scene_of((1, Turn.PROMPTED, {}), (500, Turn.FAILED, {"failure": "limit"}))
    (notice,) = told(scene)
    assert notice.title.endswith("was stopped by a limit")


def test_what_a_restart_replays_is_told_by_nobody_a_second_time() -> None:
    """The memory goes to the store and back; the journal is read again from any point of the past."""
    scene = scene_of(
        (1, Turn.PROMPTED, {}),
        (2, Turn.ASKED, PERMISSION),
        (5, Turn.TOOL_DONE, {}),
        (300, Turn.STOPPED, {}),
        (301, Turn.PROMPTED, {}),
        (302, Turn.ASKED, PERMISSION),
    )
    once = told(scene)
    assert kinds(once) == [NotificationKind.NEEDS_YOU, NotificationKind.FINISHED, NotificationKind.NEEDS_YOU]
    chance = random.Random(7)
    for _ in range(50):
        memory, found = Memory(), []
        position = 0
        while position < len(scene.events):  # a crash after any event, a replay from any earlier one
            for each in scene.events[max(0, position - chance.randint(0, 4)) : position + 1]:
                notice = judge(memory, each, _session(scene.world, each), LONG)
                found += [notice] if notice is not None else []
            position += 1
            memory = msgspec.json.decode(msgspec.json.encode(memory), type=Memory)
        assert found == once


def test_what_is_so_already_when_it_is_switched_on_is_not_told() -> None:
    scene = scene_of((1, Turn.PROMPTED, {}), (2, Turn.ASKED, PERMISSION))
    memory = begin(scene.world.sessions.values(), scene.world.seq)
    assert told(scene, memory) == []
    scene.events.clear()
    scene.hear(report("x", T0 + 3, says=Turn.ASKED, **PERMISSION))
    assert told(scene, memory) == [], "the same question with another label"
    scene.events.clear()
    scene.hear(report("y", T0 + 4, says=Turn.TOOL_DONE), report("z", T0 + 300, says=Turn.STOPPED))
    assert kinds(told(scene, memory)) == [NotificationKind.FINISHED]


def test_a_subagents_words_are_no_transition_of_the_session() -> None:
    scene = scene_of((1, Turn.PROMPTED, {}))
    scene.hear(report("Stop", T0 + 400, says=Turn.STOPPED, subagent="agent-1"))
    scene.hear(report("PermissionRequest", T0 + 401, says=Turn.ASKED, subagent="agent-1", **PERMISSION))
    assert told(scene) == []


@pytest.mark.parametrize("change", [{"entrypoint": "sdk-cli"}, {"parent": SessionId("above")}])
def test_turns_of_runs_and_of_sessions_inside_others_are_not_sent_but_their_deaths_are(
    change: dict[str, Any],
) -> None:
    scene = scene_of((1, Turn.PROMPTED, {}), (2, Turn.ASKED, PERMISSION))
    (notice,) = told(scene)
    session = scene.only()
    assert not is_unattended_turn(notice, session)
    unattended = replace(session, **change)
    assert is_unattended_turn(notice, unattended)
    assert not is_unattended_turn(replace(notice, kind=NotificationKind.DIED_HOLDING), unattended)
    assert not is_unattended_turn(replace(notice, kind=NotificationKind.COLLISION), unattended)


def released(seq: int, item: str, session: SessionId, because: Freed = Freed.DIED) -> Event:
    claim = Claim(Item(item), 7, holder=process(), session=session, since=T0)
    return Event(seq, T0, EventType.CLAIM_RELEASED, session, {}, {"because": because.value}, claim)


def test_a_death_with_claims_is_told_once_and_a_release_is_not() -> None:
    scene = scene_of((1, Turn.PROMPTED, {}))
    scene.hear(death(process(), T0 + 5, signal=9))
    session, memory = scene.only(), Memory()
    first = judge(memory, released(90, "task:A", session.id), session, LONG)
    assert first is not None and first.kind is NotificationKind.DIED_HOLDING
    assert first.text == "killed (SIGKILL); task:A is free"
    assert judge(memory, released(91, "task:B", session.id), session, LONG) is None
    other = SessionId("other")
    assert judge(memory, released(92, "task:C", other, Freed.RELEASED), None, LONG) is None


def alarm(seq: int, type: EventType, kind: str = "same-file", who: tuple[str, str] = ("a", "b")) -> Event:
    facts = {
        "kind": kind,
        "path": "/x/a.py",
        "sessions": list(who),
        "alarm": f"also edited by {who[1]}: /x/a.py",
    }
    return Event(seq, T0, type, SessionId(who[0]), {}, facts)


def test_two_that_meet_are_told_once_for_both_and_again_when_they_meet_again() -> None:
    memory = Memory()
    both = [alarm(1, EventType.ALARM_RAISED), alarm(2, EventType.ALARM_RAISED, who=("b", "a"))]
    assert [each and each.kind for each in (judge(memory, one, None, LONG) for one in both)] == [
        NotificationKind.COLLISION,
        None,
    ]
    assert judge(memory, alarm(3, EventType.ALARM_CLEARED), None, LONG) is None
    again = judge(memory, alarm(4, EventType.ALARM_RAISED), None, LONG)
    assert again is not None
    second = judge(memory, alarm(5, EventType.ALARM_RAISED, "second-writer"), None, LONG)
    assert second is not None and second.kind is NotificationKind.SECOND_WRITER


def test_a_stall_is_told_once_until_something_stirs() -> None:
    scene = scene_of((1, Turn.PROMPTED, {}))
    session, memory, seq = scene.only(), Memory(), 100
    found = []
    for stall in ({"since": 1}, {"since": 1}, None, {"since": 2}):
        seq += 1
        event = Event(seq, T0, EventType.SESSION_ACTIVITY, session.id, {"stall": stall})
        found.append(judge(memory, event, session, LONG))
    assert [each is not None for each in found] == [True, False, False, True]


def test_no_hostile_string_reaches_a_notice_as_itself() -> None:
    scene = scene_of((1, Turn.PROMPTED, {}), (2, Turn.ASKED, PERMISSION))
    event = next(each for each in scene.events if each.delta.get("activity", None) is not None
                 and each.delta["activity"].doing.value == "waiting")  # fmt: skip
    for string in hostile():
        activity = replace(event.delta["activity"], label=string)
        loud = replace(event, delta={"activity": activity})
        notice = judge(Memory(), loud, replace(scene.only(), name=string), LONG)
        assert notice is not None
        assert traces(notice.title + notice.text, lines=False) == []
