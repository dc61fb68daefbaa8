"""A conversation that its living process closed: it ends, its process does not, and it may be opened again."""

from msgspec.structs import replace

from headcount.core.leftovers.attribution import is_dead, lives
from headcount.core.values.evidence import ConversationClosed
from headcount.core.values.report import Report
from headcount.core.values.session import EndKind, Liveness
from tests.rig.core_values import T0, Scene, bound, death, leaving, process, report

P = process(100)


def word(conversation: str, at: float, **more: object) -> Report:
    return replace(report(at=at, conversation=conversation, anchor=bound(P)), beside=True, **more)


def closed(conversation: str, at: float) -> ConversationClosed:
    return ConversationClosed(word(conversation, at).agent, conversation, P, at)


def test_only_the_closed_one_ends_and_its_process_is_not_dead_for_it() -> None:
    scene = Scene()
    scene.hear(word("a", T0), word("b", T0 + 1), now=T0 + 1)
    scene.hear(closed("a", T0 + 2), now=T0 + 2)
    [a], [b] = scene.of("a"), scene.of("b")
    assert a.ended is not None and (a.ended.kind, a.ended.because) == (EndKind.CLOSED, "closed")
    assert b.liveness is Liveness.ALIVE
    scene.hear(closed("b", T0 + 3), now=T0 + 3)
    draft = scene.world.draft()
    assert "end" not in draft.verdict(P).because  # all are closed, and nothing is concluded of the process


def test_what_a_living_process_started_for_a_closed_conversation_is_no_leftover() -> None:
    scene = Scene()
    scene.hear(word("a", T0), now=T0)
    scene.hear(closed("a", T0 + 5), now=T0 + 5)
    assert not is_dead(scene.only())
    assert lives(scene.sessions(), P.boot, {}) == []
    scene.hear(word("b", T0 + 6), now=T0 + 6)
    scene.hear(death(P, T0 + 7), now=T0 + 7)
    assert [is_dead(each) for each in scene.sessions()] == [False, True]


def test_a_word_from_before_the_closing_opens_nothing_and_a_later_one_opens_anew() -> None:
    scene = Scene()
    scene.hear(word("a", T0), now=T0)
    scene.hear(closed("a", T0 + 5), now=T0 + 5)
    scene.hear(word("a", T0 + 4), now=T0 + 6)
    assert len(scene.of("a")) == 1
    scene.hear(word("a", T0 + 7), now=T0 + 7)
    first, again = scene.of("a")
    assert again.liveness is Liveness.ALIVE and again.predecessor == first.id and again.process == P


def test_a_late_farewell_opens_nothing() -> None:
    scene = Scene()
    scene.hear(word("a", T0), now=T0)
    scene.hear(closed("a", T0 + 5), now=T0 + 5)
    scene.hear(replace(leaving(T0 + 6, "a"), beside=True, anchor=bound(P)), now=T0 + 6)
    assert len(scene.of("a")) == 1


def test_closing_twice_and_closing_what_is_not_there_change_nothing() -> None:
    scene = Scene()
    scene.hear(word("a", T0), now=T0)
    scene.hear(closed("a", T0 + 1), now=T0 + 1)
    before = scene.sessions()
    scene.hear(closed("a", T0 + 2), closed("zz", T0 + 2), now=T0 + 2)
    assert scene.sessions() == before


def test_a_death_after_the_closing_leaves_the_closing_as_it_was() -> None:
    scene = Scene()
    scene.hear(word("a", T0), word("b", T0), now=T0)
    scene.hear(closed("a", T0 + 1), now=T0 + 1)
    scene.hear(death(P, T0 + 2, signal=9), now=T0 + 2)
    kinds = [each.ended.kind for each in scene.of("a") + scene.of("b") if each.ended]
    assert kinds == [EndKind.CLOSED, EndKind.KILLED]
