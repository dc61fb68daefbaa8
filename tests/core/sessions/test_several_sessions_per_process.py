"""One process with several sessions at once: they open beside each other, and the process ends them all."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from headcount.core.decide import decide
from headcount.core.values.claim import Acquire, Caller
from headcount.core.values.events import EventType, apply
from headcount.core.values.evidence import Judged
from headcount.core.values.item import Item
from headcount.core.values.report import Found, Turn
from headcount.core.values.session import EndKind, Liveness
from headcount.core.values.verdict import alive, unknown
from tests.core.test_properties import CONVERSATIONS, NOW, PROCESSES, reports
from tests.rig.core_values import T0, Scene, bound, death, leaving, process, record, report

HOST = process(100)
OTHER = process(200)


def word(conversation: str, at: float = T0, turn: Turn = Turn.TOOL, **more: object):
    more.setdefault("anchor", bound(HOST))
    return report("tool.execute.before", at, conversation, turn, beside=True, **more)


def two() -> Scene:
    scene = Scene()
    scene.hear(word("conv-a", T0))
    scene.hear(word("conv-b", T0 + 1, Turn.STOPPED))
    return scene


def test_a_second_conversation_opens_beside_the_first():
    first, second = two().sessions()
    assert (first.conversation, second.conversation) == ("conv-a", "conv-b")
    assert first.is_open and second.is_open
    assert first.process == second.process == HOST


def test_without_the_word_beside_it_supersedes():
    """The negative control: the rule for agents that have one conversation at a time ends the first."""
    scene = Scene()
    scene.hear(replace(word("conv-a", T0), beside=False))
    scene.hear(replace(word("conv-b", T0 + 1), beside=False))
    first, second = scene.sessions()
    assert first.ended is not None and first.ended.kind is EndKind.SUPERSEDED
    assert second.is_open


def test_each_keeps_its_own_activity():
    scene = two()
    scene.hear(word("conv-a", T0 + 2, Turn.ASKED))
    assert [each.activity.doing.value for each in scene.sessions()] == ["waiting", "done"]


def test_the_death_of_the_process_ends_all_of_them_each_with_its_event():
    scene = two()
    decision = scene.hear(death(HOST, T0 + 5, signal=9))
    ends = [event for event in decision.events if event.type is EventType.SESSION_ENDED]
    assert len(ends) == 2
    assert {each.ended.kind for each in scene.sessions() if each.ended} == {EndKind.KILLED}
    assert all(each.liveness is Liveness.ENDED for each in scene.sessions())


def test_doubt_and_its_end_concern_all_of_them():
    scene = two()
    scene.hear(Judged(HOST, unknown("EMFILE"), T0 + 5))
    assert {each.liveness for each in scene.sessions()} == {Liveness.DOUBTED}
    scene.hear(Judged(HOST, alive("pidfd open"), T0 + 6))
    assert {each.liveness for each in scene.sessions()} == {Liveness.ALIVE}


def test_the_death_of_another_process_ends_none_of_them():
    scene = two()
    scene.hear(word("conv-c", T0 + 2, anchor=bound(OTHER)))
    scene.hear(death(OTHER, T0 + 5))
    assert [each.is_open for each in scene.sessions()] == [True, True, False]


def test_a_late_word_of_the_first_finds_the_first():
    scene = two()
    before = scene.sessions()
    scene.hear(word("conv-a", T0))
    assert scene.sessions() == before


def test_a_word_after_the_death_opens_nothing():
    scene = two()
    scene.hear(death(HOST, T0 + 5))
    scene.hear(word("conv-c", T0 + 6))
    assert [each.conversation for each in scene.sessions()] == ["conv-a", "conv-b"]
    assert not any(each.is_open for each in scene.sessions())


def test_a_process_found_without_a_conversation_takes_the_first_that_is_told():
    scene = Scene()
    scene.hear(Found("claude-code", HOST, T0))
    scene.hear(word("conv-a", T0 + 1))
    scene.hear(word("conv-b", T0 + 2))
    assert [each.conversation for each in scene.sessions()] == ["conv-a", "conv-b"]


def test_a_session_heard_of_without_a_process_is_bound_beside_the_others():
    scene = Scene()
    scene.hear(word("conv-a", T0))
    scene.hear(report("session.idle", T0 + 1, "conv-b", Turn.STOPPED, beside=True))
    scene.hear(word("conv-b", T0 + 2))
    first, second = scene.sessions()
    assert first.is_open and second.process == HOST
    assert second.liveness is Liveness.ALIVE


def test_a_farewell_of_one_leaves_the_others_and_starts_nothing():
    scene = two()
    scene.hear(replace(leaving(T0 + 3, "conv-b", "deleted", anchor=bound(HOST)), beside=True))
    scene.hear(replace(leaving(T0 + 4, "conv-z", "deleted", anchor=bound(HOST)), beside=True))
    first, second = scene.sessions()
    assert first.leaving is None and second.leaving is not None
    assert first.is_open and second.is_open  # a process decides


def test_what_a_process_has_open_is_opened_beside_what_it_hosts():
    scene = two()
    scene.hear(record(HOST, T0 + 3, "conv-c", None, beside=True))
    assert [each.conversation for each in scene.sessions() if each.is_open] == ["conv-a", "conv-b", "conv-c"]


def test_resumed_in_another_process_it_names_its_predecessor():
    scene = two()
    scene.hear(death(HOST, T0 + 5))
    scene.hear(word("conv-a", T0 + 6, anchor=bound(OTHER)))
    first, _, resumed = scene.sessions()
    assert resumed.is_open and resumed.predecessor == first.id


def test_what_is_started_inside_has_the_first_session_as_its_parent():
    scene = two()
    inner = bound(OTHER)
    scene.hear(report("SessionStart", T0 + 3, "conv-c", anchor=replace(inner, parent=HOST)))
    first, _, nested = scene.sessions()
    assert nested.parent == first.id


def test_claims_are_the_processs_and_name_the_session_that_asked():
    scene = two()
    first, second = scene.sessions()
    verdicts = {HOST: alive("pidfd open")}
    for session in (first, second):
        item = Item(f"task:{session.conversation}")
        caller = Caller(HOST, session.id)
        draft, _ = decide(scene.world, [Acquire(item, caller, f"r-{session.id}")], T0 + 5, verdicts)
        draft.settle()
    held = {claim.session: claim.holder for claim in scene.world.book.claims.values()}
    assert held == {first.id: HOST, second.id: HOST}
    scene.hear(death(HOST, T0 + 9))
    assert not list(scene.world.book.holding())


# --- the invariants, over any order -------------------------------------------------------------------

beside = reports().map(lambda each: replace(each, beside=True))
deaths = st.builds(death, st.sampled_from(PROCESSES), st.integers(0, 50).map(lambda tick: T0 + tick))
stories = st.lists(st.one_of(beside, beside, beside, deaths), max_size=20)


@given(stories)
@settings(max_examples=200)
def test_no_process_has_a_conversation_twice_and_none_lives_after_its_process(story):
    scene, over = Scene(), set()
    for piece in story:
        scene.hear(piece, now=NOW)
        if isinstance(piece, Judged) and any(each.process == piece.process for each in scene.sessions()):
            over.add(piece.process)
        open_now = [
            (each.process, each.conversation) for each in scene.sessions() if each.is_open and each.process
        ]
        assert len(open_now) == len(set(open_now))
        assert not {host for host, _ in open_now} & over
        assert all(
            each.ended is None or each.ended.kind is not EndKind.SUPERSEDED for each in scene.sessions()
        )


@given(stories)
@settings(max_examples=200)
def test_the_same_word_twice_changes_nothing_here_either(story):
    scene = Scene()
    for piece in story:
        scene.hear(piece, now=NOW)
        assert scene.hear(piece, now=NOW).events == []


@given(stories)
@settings(max_examples=200)
def test_the_journal_gives_the_same_rows_here_too(story):
    scene = Scene.after([[piece] for piece in story])
    replayed = {}
    for event in scene.events:
        replayed[event.session] = apply(replayed.get(event.session), event)
    assert replayed == dict(scene.world.sessions)
    assert len(CONVERSATIONS) == 2
