"""Which conversation a process has, by example: swapped, branched, resumed, provisional."""

from headcount.core.state.world import World
from headcount.core.values.report import Opening, Turn
from headcount.core.values.session import EndKind, Liveness
from tests.rig.core_values import HERE, T0, Scene, bound, death, leaving, process, record, report, start

P, Q = process(100), process(200)


def test_clear_supersedes_in_the_same_process():
    scene = Scene()
    scene.hear(start(anchor=bound(P)), leaving(T0 + 1, reason="clear", anchor=bound(P)))
    scene.hear(start(T0 + 2, "conv-b", Opening.CLEAR, anchor=bound(P)))
    old, new = scene.sessions()
    assert (old.ended.kind, old.ended.successor) == (EndKind.SUPERSEDED, new.id)
    assert old.ended.because == f"continued as {new.id[:4]} (/clear)"
    assert (new.process, new.is_open) == (P, True)


def test_a_branch_is_told_as_one_also_when_the_registry_told_of_it_first():
    scene = Scene()
    scene.hear(start(anchor=bound(P)), record(P, T0 + 1, status="idle"))
    scene.hear(leaving(T0 + 2, reason="resume", anchor=bound(P)), record(P, T0 + 3, "conv-b"))
    old, new = scene.sessions()
    assert old.ended.because == f"continued as {new.id[:4]} (/resume)"
    scene.hear(start(T0 + 4, "conv-b", Opening.FORK, anchor=bound(P)))
    scene.hear(start(T0 + 4, "conv-b", Opening.FORK, anchor=bound(P)))
    old, new = scene.sessions()
    assert old.ended.because == f"continued as {new.id[:4]} (/branch)"
    assert scene.of("conv-b") == [new] and new.is_open


def test_a_name_that_was_given_up_before_anything_was_heard_was_no_session():
    """`claude --continue` registers under a new id first."""
    for named in (record(P, T0 + 2, "conv-a"), start(T0 + 2, "conv-a", Opening.RESUME, anchor=bound(P))):
        scene = Scene()
        scene.hear(start(T0 - 50, anchor=bound(Q)), death(Q, T0 - 40, code=0))
        scene.hear(record(P, T0 + 1, "made-up", status=None))
        assert scene.of("made-up")[0].is_open
        scene.hear(named)
        first, second = scene.of("conv-a")
        assert (second.process, second.predecessor, second.is_open) == (P, first.id, True)
        assert scene.of("made-up") == [] and len(scene.sessions()) == 2
        assert World(HERE, scene.sessions()).by_conversation == scene.world.by_conversation


def test_a_conversation_that_was_heard_or_lasted_is_superseded_not_renamed():
    for first, swapped_at in (
        (record(P, T0 + 1, "conv-b", "idle"), T0 + 2),
        (record(P, T0, "conv-b", None), T0 + 60),
    ):
        scene = Scene()
        scene.hear(first)
        scene.hear(record(P, swapped_at, "conv-a"))
        assert scene.of("conv-b")[0].ended.kind is EndKind.SUPERSEDED


def test_a_late_word_of_a_superseded_conversation_does_not_bring_it_back():
    scene = Scene()
    scene.hear(start(anchor=bound(P)), start(T0 + 2, "conv-b", Opening.CLEAR, anchor=bound(P)))
    scene.hear(report("Stop", T0 + 1, says=Turn.STOPPED, anchor=bound(P)))
    scene.hear(leaving(T0 + 3, anchor=bound(P)))
    assert [each.is_open for each in scene.sessions()] == [False, True]


def test_a_b_a_in_one_process_is_three_sessions():
    scene = Scene()
    scene.hear(start(anchor=bound(P)))
    scene.hear(start(T0 + 1, "conv-b", Opening.CLEAR, anchor=bound(P)))
    scene.hear(start(T0 + 2, "conv-a", Opening.RESUME, anchor=bound(P)))
    first, second, third = scene.sessions()
    assert [each.conversation for each in scene.sessions()] == ["conv-a", "conv-b", "conv-a"]
    assert third.predecessor == first.id
    assert [each.is_open for each in (first, second, third)] == [False, False, True]


def test_resume_in_another_process_names_its_predecessor():
    scene = Scene()
    scene.hear(start(anchor=bound(P)), death(P, T0 + 1, code=0))
    scene.hear(start(T0 + 2, opening=Opening.RESUME, anchor=bound(Q)))
    old, new = scene.sessions()
    assert new.predecessor == old.id
    assert (old.is_open, new.process) == (False, Q)


def test_one_conversation_in_two_living_processes_is_two_sessions():
    scene = Scene()
    scene.hear(start(anchor=bound(P)), start(T0 + 1, opening=Opening.RESUME, anchor=bound(Q)))
    assert {each.process for each in scene.sessions() if each.is_open} == {P, Q}
    before = scene.sessions()
    scene.hear(report(at=T0 + 2))  # names neither process
    assert scene.sessions() == before


def test_the_registry_swaps_without_any_hook():
    scene = Scene()
    scene.hear(record(P), record(P, T0 + 5, "conv-b"))
    old, new = scene.sessions()
    assert old.ended.kind is EndKind.SUPERSEDED
    assert new.conversation == "conv-b"


def test_an_old_registry_file_does_not_swap_back():
    scene = Scene()
    scene.hear(record(P), start(T0 + 5, "conv-b", Opening.CLEAR, anchor=bound(P)), record(P, T0 + 4))
    assert [each.is_open for each in scene.sessions()] == [False, True]


def test_where_the_registry_speaks_a_stray_word_does_not_swap():
    scene = Scene()
    scene.hear(record(P), report(conversation="conv-x", at=T0 + 1, anchor=bound(P)))
    assert scene.only().conversation == "conv-a"


def test_a_phantom_start_stays_provisional():
    """I7: two SessionStarts 0.3 s apart, one never heard of again."""
    scene = Scene()
    scene.hear(start(anchor=bound(P)), start(T0 + 0.3, "conv-phantom", anchor=bound(P)))
    scene.hear(report(at=T0 + 1, anchor=bound(P)))
    real, phantom = scene.of("conv-a")[0], scene.of("conv-phantom")[0]
    assert (real.is_open, real.process) == (True, P)
    assert (phantom.provisional, phantom.process) == (True, None)


def test_a_provisional_start_is_confirmed_by_a_second_signal():
    scene = Scene()
    scene.hear(start(anchor=bound(P)), start(T0 + 0.3, "conv-b", anchor=bound(P)))
    scene.hear(report(conversation="conv-b", at=T0 + 1, anchor=bound(P)))
    assert not scene.of("conv-a")[0].is_open
    new = scene.of("conv-b")[0]
    assert (new.provisional, new.process, new.liveness) == (False, P, Liveness.ALIVE)
