"""Leftovers in the pure core: found once, attributed only where that is certain, gone when they are gone."""

import pytest
from msgspec.structs import replace

from headcount.core.decide import decide
from headcount.core.leftovers.attribution import LAUNCH, Carried, ProcessLifetime, by_mark, lives, whose
from headcount.core.state.world import World
from headcount.core.values.claim import Acquire, Caller, CallerKind
from headcount.core.values.events import EventType
from headcount.core.values.evidence import Judged, Retire
from headcount.core.values.item import Item
from headcount.core.values.leftover import Find, Left, LeftoverGone, LeftoverKind, process_key
from headcount.core.values.report import Opening
from headcount.core.values.session import SessionId
from headcount.core.values.verdict import Proof, dead, unknown
from tests.rig.claims.core_ledger import Desk
from tests.rig.core_values import HERE, T0, Scene, bound, death, process, report, start

A, B, CHILD, OTHER = process(100), process(200), process(300), process(400)
C, D = process(500), process(600)
TASK = "task:x"


def find(child=CHILD, *evidence: str, **facts) -> Find:
    return Find(
        LeftoverKind.PROCESS, process_key(child), "node vite", evidence or ("child seen 13:58",), child, facts
    )


def ended(scene: Scene, agent=A, conversation="conv-a") -> SessionId:
    scene.hear(start(conversation=conversation, anchor=bound(agent)))
    scene.hear(death(agent, T0 + 1, signal=9))
    return scene.of(conversation)[-1].id


def types(scene: Scene) -> list[EventType]:
    return [event.type for event in scene.events if event.leftover is not None]


def test_a_find_is_a_leftover_of_its_session_and_watched():
    scene = Scene()
    id = ended(scene)
    decision = scene.hear(Left(id, (find(),), T0 + 2))
    (leftover,) = scene.world.remains.there()
    assert (leftover.session, leftover.process, leftover.of) == (id, CHILD, A)
    assert CHILD in [effect.process for effect in decision.effects]


def test_found_twice_is_one_warning_and_more_evidence_is_a_change():
    scene = Scene()
    id = ended(scene)
    scene.hear(Left(id, (find(),), T0 + 2), Left(id, (find(),), T0 + 3))
    scene.hear(Left(id, (find(CHILD, "CLAUDE_PID in its environment"),), T0 + 4))
    assert types(scene) == [EventType.LEFTOVER_FOUND, EventType.LEFTOVER_CHANGED]
    (leftover,) = scene.world.remains.there()
    assert leftover.evidence == ("child seen 13:58", "CLAUDE_PID in its environment")


def test_its_end_is_told_and_it_does_not_come_back():
    scene = Scene()
    id = ended(scene)
    scene.hear(Left(id, (find(),), T0 + 2))
    scene.hear(death(CHILD, T0 + 3))
    scene.hear(Left(id, (find(),), T0 + 4))
    assert types(scene) == [EventType.LEFTOVER_FOUND, EventType.LEFTOVER_GONE]
    assert list(scene.world.remains.there()) == []


def test_doubt_about_a_leftover_changes_nothing():
    scene = Scene()
    id = ended(scene)
    scene.hear(Left(id, (find(),), T0 + 2))
    scene.hear(Judged(CHILD, unknown("no descriptor left"), T0 + 3))
    assert [each.process for each in scene.world.remains.there()] == [CHILD]


def test_what_was_seen_below_it_is_told_with_the_death():
    scene = Scene()
    scene.hear(start(anchor=bound(A)))
    scene.hear(Judged(A, dead(Proof.EXITED, "exited"), T0 + 1, left=(find(),)))
    told = [event.type for event in scene.events]
    assert told.index(EventType.SESSION_ENDED) < told.index(EventType.LEFTOVER_FOUND)


def test_the_tree_below_a_process_of_several_sessions_is_nobodys_by_descent():
    """The first that opened would have got it, and with it whoever closes that one."""
    scene = Scene()
    for conversation in ("conv-a", "conv-b"):
        scene.hear(report(conversation=conversation, anchor=bound(A), beside=True))
    scene.hear(Judged(A, dead(Proof.EXITED, "exited"), T0 + 1, left=(find(),)))
    assert [each.is_open for each in scene.sessions()] == [False, False]
    assert list(scene.world.remains.there()) == []


def test_an_agent_inside_an_agent_is_never_a_leftover():
    """A nested `claude -p` is a session of its own, also after both have ended, and also when it is known late."""
    scene = Scene()
    scene.hear(start(conversation="conv-b", anchor=bound(B)))
    id = ended(scene)
    scene.hear(Left(id, (find(B),), T0 + 2))
    assert list(scene.world.remains.there()) == []
    scene.hear(Left(id, (find(OTHER),), T0 + 3))
    scene.hear(start(T0 + 4, conversation="conv-c", anchor=bound(OTHER)))
    (leftover,) = scene.world.remains.rows.values()
    assert leftover.gone_because.startswith("it is the agent of")


def test_one_process_is_the_leftover_of_one_session():
    scene = Scene()
    first = ended(scene)
    second = ended(scene, B, "conv-b")
    scene.hear(Left(first, (find(),), T0 + 2), Left(second, (find(),), T0 + 3))
    assert [each.session for each in scene.world.remains.there()] == [first]


def test_replaying_the_journal_gives_the_same_leftovers():
    scene = Scene()
    id = ended(scene)
    other = find(OTHER)
    scene.hear(Left(id, (find(), other), T0 + 2), Left(None, (find(process(500)),), T0 + 2))
    scene.hear(Left(id, (find(CHILD, "more"),), T0 + 3), death(OTHER, T0 + 4))
    replayed = {event.leftover.id: event.leftover for event in scene.events if event.leftover}
    assert replayed == scene.world.remains.rows
    again = World(HERE, scene.world.sessions.values(), scene.world.seq, leftovers=replayed.values())
    assert again.remains.rows == scene.world.remains.rows
    assert again.remains.by_pid == scene.world.remains.by_pid


def test_a_leftover_is_forgotten_with_its_session():
    scene = Scene()
    id = ended(scene)
    scene.hear(Left(id, (find(),), T0 + 2), Left(None, (find(OTHER),), T0 + 2))
    scene.hear(death(OTHER, T0 + 3))
    scene.hear(Retire(T0 + 5_000, 10), now=T0 + 10_000)
    assert scene.world.remains.rows == {} and scene.world.remains.by_pid == {}


def test_a_pane_that_comes_back_is_found_again():
    scene = Scene()
    id = ended(scene)
    pane = Find(LeftoverKind.PANE, "%3", "its shell is left", ("the agent ended in it",))
    scene.hear(Left(id, (pane,), T0 + 2))
    (leftover,) = scene.world.remains.there()
    scene.hear(LeftoverGone((leftover.id,), T0 + 3, "the pane was closed"))
    scene.hear(Left(id, (pane,), T0 + 4))
    assert types(scene) == [EventType.LEFTOVER_FOUND, EventType.LEFTOVER_GONE, EventType.LEFTOVER_FOUND]


# --- whose it is -----------------------------------------------------------------------------------


def life(
    pid: int, since: int, until: int | None, conversation: str = "c", session: str = "s"
) -> ProcessLifetime:
    hosted = frozenset({("claude-code", conversation)})
    return ProcessLifetime(SessionId(session), process(pid), hosted, since, until)


def mark(pid: int | None = 100, conversation: str = "c", agent: str = "claude-code") -> Carried:
    return Carried(agent, conversation, pid, "CLAUDE_PID")


@pytest.mark.parametrize(
    ("carried", "started", "known", "whom"),
    [
        ([mark()], 15, [life(100, 10, 20)], "s"),
        ([mark()], 21, [life(100, 10, 20)], None),  # it started after the death: another had that number
        ([mark()], 9, [life(100, 10, 20)], None),  # and before the birth
        ([mark()], 15, [life(100, 10, None)], None),  # its agent lives
        ([mark(pid=101)], 15, [life(100, 10, 20)], None),
        ([mark(conversation="d")], 15, [life(100, 10, 20)], None),
        ([mark(agent="codex")], 15, [life(100, 10, 20)], None),
        ([mark(pid=None)], 15, [life(100, 10, 20)], "s"),  # a version that names no pid
        ([mark(pid=None)], 15, [life(100, 10, 20), life(101, 5, None)], None),  # two had it then: not certain
        ([mark(pid=None)], 15, [life(100, 10, 20), life(101, 25, None)], "s"),
        ([mark(), mark(101, "d")], 15, [life(100, 1, 20), life(101, 12, 20, "d", "inner")], "inner"),
        ([], 15, [life(100, 10, 20)], None),
        ([mark()], 15, [replace(life(100, 10, 20), away=True)], "s"),
        (
            [mark(pid=None)],
            15,
            [replace(life(100, 10, 20), away=True)],
            None,
        ),  # until when it lived nobody saw
    ],
)
def test_a_mark_counts_only_while_its_process_lived(carried, started, known, whom):
    found = whose(carried, started, by_mark(known))
    assert (found[0].session if found else None) == whom


def token(file: str = "/t/a") -> Carried:
    return Carried(LAUNCH, file, None, "HEADCOUNT_TOKEN_FILE", is_token=True)


@pytest.mark.parametrize(
    ("carried", "started", "known", "whom"),
    [
        ([token()], 15, [life(100, 10, 20)], "s"),
        ([token()], 15, [replace(life(100, 10, 20), away=True)], "s"),
        ([token()], 25, [life(100, 10, 20)], None),  # after its end: as with every mark
        ([token()], 9, [life(100, 10, 20)], None),  # before the process that was given it
        ([token()], 15, [life(100, 10, None)], None),  # its session lives
        ([token("/t/b")], 15, [life(100, 10, 20)], None),  # a path that was given to nobody
        ([token()], 15, [life(101, 10, 20)], None),  # whose process is no session's
        ([token(), mark(101, "d")], 15, [life(100, 1, 20), life(101, 12, 20, "d", "inner")], "inner"),
        ([token(), mark(101, "d")], 15, [life(100, 1, 20), life(101, 12, None, "d", "inner")], None),
        ([token(), mark(101, "d")], 15, [life(100, 12, 20), life(101, 1, None, "d", "outer")], "s"),
        (  # which of two that live is not known, but one does
            [token(), mark(None, "d")],
            15,
            [life(100, 1, 20), life(101, 12, None, "d", "x"), life(102, 13, None, "d", "y")],
            None,
        ),
    ],
)
def test_a_tokens_file_is_of_one_process_and_who_lives_inside_it_keeps_what_is_theirs(
    carried, started, known, whom
):
    found = whose(carried, started, by_mark(known, {"/t/a": process(100)}))
    assert (found[0].session if found else None) == whom


def test_the_next_owner_of_a_number_has_not_the_token_of_the_one_before():
    later = replace(process(100), started=30, inode=77)
    known = [replace(life(100, 10, 20)), ProcessLifetime(SessionId("later"), later, frozenset(), 30, 40)]
    found = whose([token()], 35, by_mark(known, {"/t/a": later}))
    assert found is not None and found[0].session == "later"
    assert whose([token()], 35, by_mark(known, {"/t/a": process(100)})) is None


def test_by_the_conversation_alone_the_children_of_a_resumed_one_are_taken_for_the_dead_ones():
    """The naive way: a session id in the environment names the dead session, whenever its carrier started."""
    dead_one, living = life(100, 10, 20), life(101, 30, None)
    naive = [each for each in (dead_one, living) if ("claude-code", "c") in each.hosted]
    assert dead_one in naive
    assert whose([mark(pid=101)], 40, by_mark([dead_one, living])) is None


class Counted(int):
    """A pid that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) == other

    __hash__ = int.__hash__


def test_lives_are_told_apart_without_comparing_each_with_each():
    """The naive way takes seconds on the event loop of a machine with five thousand sessions."""
    scene, many = Scene(), 300
    for nth in range(many):
        scene.hear(start(conversation=f"c{nth}", anchor=bound(process(1000 + nth))))
    sessions = [
        replace(each, process=replace(each.process, pid=Counted(each.process.pid)))
        for each in scene.sessions()
    ]
    Counted.compared = 0
    found = lives(sessions, HERE.boot, {})
    assert len(found) == many and Counted.compared < 20 * many
    naive = [[one for one in found if one.process.pid == other.process.pid] for other in found]
    assert len(naive) == many and Counted.compared >= many * many


def test_the_next_owner_of_a_number_started_after_the_last_ones_end():
    scene = Scene()
    first, second = process(100), replace(process(100), started=1500, inode=7)
    for agent, name in ((first, "conv-a"), (second, "conv-b")):
        ended(scene, agent, name)
    found = lives(scene.sessions(), HERE.boot, {first: 9000, second: 9000})
    cut, last = sorted(found, key=lambda each: each.since)
    assert ((cut.since, cut.until), (last.since, last.until)) == ((1000, 1499), (1500, 9000))


# --- claims ----------------------------------------------------------------------------------------


def death_leaving(desk: Desk, agent=A, *left: Find) -> None:
    desk.dead.add(agent)
    desk.tell(Judged(agent, dead(Proof.EXITED, "exited"), desk.now, left=left))


def test_whoever_gets_a_dead_holders_item_is_told_what_still_runs():
    desk = Desk()
    desk.host(A)
    desk.acquire(TASK, A)
    death_leaving(desk, A, find())
    assert desk.acquire(TASK, B).still_running == (CHILD.pid,)


def test_what_ended_or_is_somebody_elses_does_not_run_any_more():
    desk = Desk()
    desk.host(A)
    desk.acquire(TASK, A)
    death_leaving(desk, A, find())
    desk.die(CHILD)
    assert desk.acquire(TASK, B).still_running == ()
    assert desk.acquire("task:y", B).still_running == ()


def test_a_path_that_overlaps_a_dead_holders_tree_is_told_what_still_runs():
    desk = Desk()
    desk.host(A)
    desk.acquire("path:/src/**", A)
    death_leaving(desk, A, find())
    assert desk.acquire("path:/src/a.py", B).still_running == (CHILD.pid,)


def test_an_item_that_asked_for_it_stays_closed_until_the_tree_is_empty():
    desk = Desk()
    id = desk.host(A)
    desk.acquire(TASK, A, until_empty=True)
    death_leaving(desk, A, find())
    assert desk.acquire(TASK, B).code == "still-running"
    assert desk.acquire(TASK, B, wait=60, request="r").request == "r"
    desk.tell(Left(id, (find(OTHER),), desk.now, searched=A))
    desk.die(CHILD)
    assert desk.holder(TASK) is None
    desk.die(OTHER)
    assert desk.holder(TASK) == B
    assert desk.answers["r"].claim.fence > 0


def test_what_a_program_inside_a_living_agent_held_for_itself_is_not_closed_until_that_agent_is_dead():
    """The route refuses such a wish; one that was stored before must not keep everybody off for as long as the agent lives."""
    desk = Desk()
    inside = Caller(B, desk.host(A), CallerKind.AGENT, (A,))
    asks = Acquire(Item(TASK), inside, "r1", until_empty=True)
    assert desk.tell(asks)[0].claim.holder == B
    desk.die(B)
    assert desk.acquire(TASK, A).claim.holder == A
    desk.release(TASK, A)
    desk.tell(
        start(desk.now + 1, "conv-b", anchor=bound(A), opening=Opening.CLEAR)
    )  # another session in it since
    desk.tell(replace(asks, request="r2", caller=Caller(D, inside.session, CallerKind.AGENT, (A,))))
    assert desk.claim(TASK).holder == D
    desk.die(D)
    assert desk.acquire(TASK, C).claim.holder == C


def test_a_search_that_could_not_be_stored_opens_nothing():
    desk = Desk()
    id = desk.host(A)
    desk.acquire(TASK, A, until_empty=True)
    desk.die(A)
    searched = Left(id, (find(),), desk.now, searched=A)
    draft, _ = decide(desk.world, [searched], desk.now)
    assert draft.remains.is_searched(A)  # and the commit failed: it is thrown away
    assert desk.acquire(TASK, B).code == "still-running"
    assert not desk.world.draft().remains.is_searched(A)
    desk.tell(searched)
    assert desk.acquire(TASK, B).code == "still-running"
    desk.die(CHILD)
    assert desk.acquire(TASK, B).claim.holder == B


def test_as_long_as_nobody_searched_it_stays_closed():
    desk = Desk()
    id = desk.host(A)
    desk.acquire(TASK, A, until_empty=True)
    desk.die(A)
    assert desk.acquire(TASK, B).code == "still-running"
    desk.tell(Left(id, (), desk.now, searched=A))
    assert desk.acquire(TASK, B).claim.holder == B


def test_an_asker_may_wait_for_an_empty_tree_that_nobody_asked_for():
    desk = Desk()
    id = desk.host(A)
    desk.acquire(TASK, A)
    death_leaving(desk, A, find())
    desk.tell(Left(id, (), desk.now, searched=A))
    assert desk.acquire(TASK, B, until_empty=True).code == "still-running"
    assert desk.acquire(TASK, B, until_empty=True, wait=30, request="r").request == "r"
    desk.die(CHILD)
    assert desk.holder(TASK) == B


def test_released_is_open_whatever_still_runs():
    desk = Desk()
    desk.host(A)
    desk.acquire(TASK, A, until_empty=True)
    desk.release(TASK, A)
    death_leaving(desk, A, find())
    assert desk.acquire(TASK, B).claim.holder == B


def test_a_waiter_for_a_closed_item_is_told_why_at_its_deadline():
    desk = Desk()
    desk.host(A)
    desk.acquire(TASK, A, until_empty=True)
    death_leaving(desk, A, find())
    desk.acquire(TASK, B, wait=5, request="r")
    desk.pass_time(6)
    assert desk.answers["r"].code == "still-running"


# --- second writers --------------------------------------------------------------------------------


def two_writers(scene: Scene) -> tuple:
    scene.hear(start(T0, anchor=bound(A)))
    scene.hear(start(T0 + 1, anchor=bound(B)))
    return tuple(scene.of("conv-a"))


def test_one_conversation_alive_in_two_processes_is_an_alarm_on_both_and_a_leftover():
    scene = Scene()
    first, second = two_writers(scene)
    assert first.alarms == (f"conversation also open in {B.pid} ({second.id[:4]})",)
    assert second.alarms == (f"conversation also open in {A.pid} ({first.id[:4]})",)
    (leftover,) = scene.world.remains.there()
    assert (leftover.kind, leftover.session) == (LeftoverKind.SECOND_WRITER, second.id)
    assert leftover.facts["older"] == first.id and leftover.facts["heard_last"] == second.id


@pytest.mark.parametrize("gone", [A, B])
def test_the_end_of_either_clears_it(gone):
    scene = Scene()
    two_writers(scene)
    scene.hear(death(gone, T0 + 2))
    assert [each.alarms for each in scene.sessions()] == [(), ()]
    assert list(scene.world.remains.there()) == []


def test_a_conversation_that_moves_on_to_another_process_is_no_second_writer():
    scene = Scene()
    scene.hear(start(T0, anchor=bound(A)))
    scene.hear(death(A, T0 + 1), start(T0 + 2, anchor=bound(B)))
    assert all(each.alarms == () for each in scene.sessions()) and not scene.world.remains.rows


def test_clear_in_one_of_two_writers_clears_it():
    from headcount.core.values.report import Opening

    scene = Scene()
    two_writers(scene)
    scene.hear(start(T0 + 2, conversation="conv-b", opening=Opening.CLEAR, anchor=bound(B)))
    assert all(each.alarms == () for each in scene.sessions())
    assert list(scene.world.remains.there()) == []


def test_three_writers_are_three_pairs():
    scene = Scene()
    two_writers(scene)
    scene.hear(start(T0 + 2, anchor=bound(OTHER)))
    assert [len(each.alarms) for each in scene.of("conv-a")] == [2, 2, 2]
    assert len(list(scene.world.remains.there())) == 3


def test_a_working_second_writer_is_told_once():
    scene = Scene()
    two_writers(scene)
    before = len(scene.events)
    scene.hear(report(at=T0 + 3, anchor=bound(B)), report(at=T0 + 4, anchor=bound(A)))
    assert [e.type for e in scene.events[before:] if e.type is EventType.ALARM_RAISED] == []
