"""Decisions by example: what each piece of evidence makes of the world."""

from msgspec.structs import replace

from headcount.core.values.activity import Doing, Turned
from headcount.core.values.evidence import Glimpse, Rebooted, Retire, Tick
from headcount.core.values.report import Anchor, Background, Found, Opening, Turn, WaitingOn
from headcount.core.values.session import Ended, EndKind, Liveness
from headcount.core.values.verdict import Proof, alive, dead, unknown
from headcount.times import LOST_AFTER
from tests.rig.core_values import (
    HERE,
    T0,
    Scene,
    bound,
    death,
    judged,
    leaving,
    process,
    record,
    report,
    start,
)

P, Q = process(100), process(200)


def test_any_event_may_be_the_first():
    scene = Scene()
    scene.hear(report("PostToolUse", says=Turn.TOOL_DONE, anchor=bound(P)))
    session = scene.only()
    assert (session.liveness, session.process, session.activity.doing) == (Liveness.ALIVE, P, Doing.WORKING)


def test_a_binding_asks_for_a_watch_once():
    scene = Scene()
    first = scene.hear(start(anchor=bound(P)))
    second = scene.hear(report(at=T0 + 1, anchor=bound(P)))
    assert [effect.process for effect in first.effects] == [P]
    assert second.effects == []


def test_the_death_of_its_process_ends_a_session_with_its_exit():
    scene = Scene()
    scene.hear(start(anchor=bound(P)))
    scene.hear(death(P, T0 + 5, signal=9))
    ended = scene.only().ended
    assert (ended.kind, ended.because, ended.signal, ended.at) == (
        EndKind.KILLED,
        "killed (SIGKILL)",
        9,
        T0 + 5,
    )


def test_an_exit_code_that_stands_for_a_signal_names_it():
    for code, because in (
        (0, "exited"),
        (1, "exited with code 1"),
        (143, "exited with code 143 (SIGTERM)"),
        (129, "exited with code 129 (SIGHUP)"),
        (255, "exited with code 255"),
    ):
        scene = Scene()
        scene.hear(start(anchor=bound(P)), leaving(T0 + 1, anchor=bound(P)))
        scene.hear(death(P, T0 + 5, code=code))
        ended = scene.only().ended
        assert (ended.because, ended.exit_code, ended.signal) == (because, code, None)


def test_doubt_ends_nothing_and_is_taken_back():
    scene = Scene()
    scene.hear(start(anchor=bound(P)))
    scene.hear(judged(P, unknown("another pid namespace")))
    assert scene.only().liveness is Liveness.DOUBTED
    scene.hear(judged(P, alive("pidfd open")))
    assert scene.only().liveness is Liveness.ALIVE


def test_a_farewell_does_not_end_a_living_process():
    scene = Scene()
    scene.hear(start(anchor=bound(P)), leaving(T0 + 1, anchor=bound(P)))
    assert scene.only().is_open
    assert scene.only().leaving.reason == "other"


def test_the_farewell_may_come_before_or_after_the_death():
    rows = []
    for batch in (
        [leaving(T0 + 1, reason="prompt_input_exit", anchor=bound(P)), death(P, T0 + 2, code=0)],
        [
            death(P, T0 + 2, code=0),
            leaving(T0 + 1, reason="prompt_input_exit", anchor=Anchor(P, False, "stat line")),
        ],
    ):
        scene = Scene()
        scene.hear(start(anchor=bound(P)))
        scene.hear(*batch)
        rows.append((scene.only().leaving.reason, scene.only().ended))
    ended = Ended(T0 + 2, EndKind.EXITED, "exited (prompt_input_exit)", 0)
    assert rows[0] == rows[1] == ("prompt_input_exit", ended)


def test_a_session_without_a_process_ends_by_its_farewell_and_reopens():
    scene = Scene()
    scene.hear(start(), report(at=T0 + 1), leaving(T0 + 2))
    assert scene.only().ended.kind is EndKind.REPORTED
    scene.hear(report(at=T0 + 3))
    assert scene.only().liveness is Liveness.UNBOUND
    assert scene.events[-1].type.value == "session.reopened"


def test_silence_makes_lost_only_without_a_process():
    """D1, L6."""
    scene = Scene()
    scene.hear(start(anchor=bound(P)), start(conversation="conv-b"), now=T0)
    scene.hear(Tick(), now=T0 + LOST_AFTER + 1)
    (with_process,), (without,) = scene.of("conv-a"), scene.of("conv-b")
    assert with_process.liveness is Liveness.ALIVE
    assert without.liveness is Liveness.LOST
    scene.hear(report(conversation="conv-b", at=T0 + LOST_AFTER + 5), now=T0 + LOST_AFTER + 6)
    assert scene.of("conv-b")[0].liveness is Liveness.UNBOUND


def test_a_found_process_is_a_session_without_a_conversation_until_it_names_one():
    scene = Scene()
    scene.hear(Found("claude-code", P, T0, "/home/dev"))
    scene.hear(Found("claude-code", P, T0 + 60, "/home/dev"))
    assert scene.only().conversation is None
    scene.hear(report(at=T0 + 61, anchor=bound(P)))
    assert (scene.only().conversation, scene.only().process) == ("conv-a", P)


def test_a_nested_agent_is_a_child_session():
    scene = Scene()
    scene.hear(start(anchor=bound(P)))
    scene.hear(start(T0 + 1, "conv-child", anchor=replace(bound(Q), parent=P)))
    outer, inner = scene.sessions()
    assert inner.parent == outer.id


def test_a_reused_pid_is_another_process():
    scene = Scene()
    scene.hear(
        start(anchor=bound(P)), judged(P, dead(Proof.REPLACED, "the pid belongs to another process now"))
    )
    assert not scene.only().is_open
    reused = replace(P, inode=P.inode + 1)
    scene.hear(start(T0 + 2, "conv-b", anchor=bound(reused)))
    assert [each.is_open for each in scene.sessions()] == [False, True]


def test_a_word_from_a_process_that_is_over_starts_nothing_there():
    scene = Scene()
    scene.hear(start(anchor=bound(P)), death(P, T0 + 2, code=0))
    scene.hear(report(at=T0 + 1, anchor=bound(P)), report(at=T0 + 3, anchor=bound(P)))
    assert not scene.only().is_open


def test_subagents_never_set_the_main_activity():
    """S1: a late SubagentStop after Stop flipped the row to working."""
    scene = Scene()
    scene.hear(report("Stop", says=Turn.STOPPED, anchor=bound(P), background=(Background("b1", "subagent"),)))
    scene.hear(report("PreToolUse", T0 + 1, says=Turn.TOOL, subagent="b1", anchor=bound(P)))
    assert scene.only().activity.doing is Doing.DONE
    assert [each.id for each in scene.only().background] == ["b1"]
    scene.hear(
        report("SubagentStop", T0 + 2, says=None, subagent="b1", background_ended="b1", anchor=bound(P))
    )
    assert (scene.only().activity.doing, scene.only().background) == (Doing.DONE, ())


def test_waiting_says_on_what():
    scene = Scene()
    asked = report(
        "PermissionRequest",
        says=Turn.ASKED,
        waiting_on=WaitingOn.PERMISSION,
        doing="Bash: make",
        anchor=bound(P),
    )
    scene.hear(asked)
    activity = scene.only().activity
    assert (activity.doing, activity.waiting_on, activity.label) == (
        Doing.WAITING,
        WaitingOn.PERMISSION,
        "Bash: make",
    )


def test_why_nothing_was_bound_is_kept():
    scene = Scene()
    scene.hear(report(anchor=Anchor(by="header", why="pid 1 is never an agent")))
    assert scene.only().process is None
    assert [note.what for note in scene.only().notes] == ["pid 1 is never an agent"]


def test_a_reboot_ends_what_has_no_process():
    scene = Scene()
    scene.hear(start(), report(at=T0 + 1))
    scene.world.place = replace(HERE, boot="boot-2")
    scene.hear(Rebooted(T0 + 100))
    assert scene.only().ended.kind is EndKind.REBOOTED


def test_retention_forgets_only_the_ended():
    scene = Scene()
    scene.hear(
        start(anchor=bound(P)), start(conversation="conv-b", anchor=bound(Q)), death(P, T0 + 1, code=0)
    )
    decision = scene.hear(Retire(before=T0 + 100, keep_most=10))
    assert len(decision.dropped) == 1
    assert scene.only().conversation == "conv-b"


def test_a_draft_that_is_not_settled_changed_nothing():
    from headcount.core.decide import decide

    scene = Scene()
    scene.hear(start(anchor=bound(P)))
    before, seq = dict(scene.world.sessions), scene.world.seq
    decide(scene.world, [death(P), start(conversation="conv-b")], T0 + 9)
    assert (scene.world.sessions, scene.world.seq) == (before, seq)


def stopped(at: float) -> Turned:
    return Turned(at, Turn.STOPPED, "last turn", "transcript")


def test_a_transcript_adds_details_and_corrects_a_missed_turn():
    """L5: a lost Stop hook left "working" for ever."""
    scene = Scene()
    scene.hear(report("UserPromptSubmit", says=Turn.PROMPTED, anchor=bound(P)))
    scene.hear(Glimpse("claude-code", "conv-a", "Retry policy", "opus", 41_000, stopped(T0 + 3)))
    session = scene.only()
    assert (session.title, session.context_tokens) == ("Retry policy", 41_000)
    assert (session.activity.doing, session.activity.source) == (Doing.DONE, "transcript")


def test_what_a_transcript_tells_happened_when_it_was_written():
    """Not when the session was last heard of, which may be its discovery."""
    scene = Scene()
    scene.hear(report("UserPromptSubmit", says=Turn.PROMPTED, anchor=bound(P)))
    scene.hear(Glimpse("claude-code", "conv-a", turned=stopped(T0 + 3)), now=T0 + 5)
    assert scene.events[-1].at == T0 + 3 and scene.only().last_event_at == T0 + 3


def test_an_old_transcript_does_not_undo_a_newer_hook():
    scene = Scene()
    scene.hear(report("UserPromptSubmit", says=Turn.PROMPTED, anchor=bound(P)))
    scene.hear(Glimpse("claude-code", "conv-a", turned=stopped(T0 - 1)))
    assert scene.only().activity.doing is Doing.WORKING


def test_a_transcript_starts_nothing():
    scene = Scene()
    scene.hear(Glimpse("claude-code", "conv-a", turned=stopped(T0)))
    assert scene.sessions() == []


def test_a_clock_that_was_set_back_keeps_nobody_from_being_heard():
    """Each word is weighed a moment after it was told, so a time in the future must not be read as now."""
    scene, hour, moment = Scene(), 3_600.0, 0.02
    scene.hear(start(T0 + hour, "a", anchor=bound(P)), now=T0 + hour + moment)
    scene.hear(start(T0 + hour, "lone"), leaving(T0 + hour, "lone"), now=T0 + hour + moment)
    scene.hear(report(conversation="a", at=T0, says=Turn.STOPPED, anchor=bound(P)), now=T0 + moment)
    assert scene.of("a")[0].activity.doing is Doing.DONE
    scene.hear(start(T0 + 1, "b", opening=Opening.CLEAR, anchor=bound(P)), now=T0 + 1 + moment)
    assert scene.world.draft().current(P).conversation == "b"
    scene.hear(report(conversation="lone", at=T0 + 2, says=Turn.TOOL), now=T0 + 2 + moment)
    assert scene.of("lone")[-1].is_open


def test_retention_forgets_a_lost_session_too_and_nobody_that_may_live():
    scene = Scene()
    scene.hear(report(conversation="lost"), report(conversation="bound", anchor=bound(P)))
    scene.hear(Tick(), now=T0 + LOST_AFTER)
    assert scene.of("lost")[0].liveness is Liveness.LOST
    scene.hear(Retire(before=T0, keep_most=0))
    assert scene.of("lost")
    scene.hear(Retire(before=T0 + 1, keep_most=0))
    assert [each.conversation for each in scene.sessions()] == ["bound"]


def test_the_first_session_of_a_process_is_as_old_as_the_process():
    scene = Scene()
    scene.hear(start(T0, anchor=replace(bound(P), began_at=T0 - 3600)))
    scene.hear(start(T0 + 5, "conv-b", Opening.CLEAR, anchor=replace(bound(P), began_at=T0 - 3600)))
    scene.hear(Found("claude-code", Q, T0, began_at=T0 - 60))
    first, found, second = (scene.of(name)[0] for name in ("conv-a", None, "conv-b"))
    assert (first.started_at, found.started_at, second.started_at) == (T0 - 3600, T0 - 60, T0 + 5)


def test_a_list_of_background_work_counts_although_a_later_line_of_the_registry_was_read_before_it():
    scene = Scene()
    scene.hear(start(anchor=bound(P)))
    beside = (Background("b1", "shell", "serving"),)
    scene.hear(report(at=T0 + 1, says=Turn.STOPPED, background=beside, anchor=bound(P)))
    assert scene.only().background == beside
    scene.hear(record(P, T0 + 5), now=T0 + 6)
    scene.hear(report(at=T0 + 4, says=Turn.STOPPED, background=(), anchor=bound(P)), now=T0 + 6)
    assert scene.only().background == ()
