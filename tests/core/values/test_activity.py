"""The activity table: every cell by example, and the accidents that made its exceptions."""

import pytest

from headcount.core.values.activity import (
    BY_TURN,
    HOOK_STANDS,
    Activity,
    Doing,
    RegistryStatus,
    Turned,
    heard_status,
    judge,
    newer,
    weigh,
)
from headcount.core.values.report import Turn, WaitingOn


def hook(turn: Turn, at: float = 10.0, **more) -> Turned:
    return Turned(at, turn, turn.value, **more)


def judged(turn: Turn | None, status: str | None, hook_newer: bool = True, **more) -> Activity:
    word = hook(turn, 10.0, **more) if turn else None
    level = RegistryStatus(9.0 if hook_newer else 11.0, status) if status else None
    return judge(word, level, Activity())


@pytest.mark.parametrize("turn", Turn)
def test_every_hook_word_has_an_activity(turn):
    assert judged(turn, None).doing is BY_TURN[turn]


@pytest.mark.parametrize(
    ("status", "doing"),
    [("busy", Doing.WORKING), ("waiting", Doing.WAITING), ("idle", Doing.IDLE), ("shell", Doing.IDLE)],
)
def test_without_hooks_the_registry_speaks_alone(status, doing):
    assert judged(None, status).doing is doing


@pytest.mark.parametrize(("status", "hook_newer"), HOOK_STANDS)
@pytest.mark.parametrize("turn", Turn)
def test_every_cell_of_the_contest(turn, status, hook_newer):
    activity = judged(turn, status, hook_newer)
    if turn in HOOK_STANDS[status, hook_newer]:
        assert activity.source == "hook"
        assert activity.doing is BY_TURN[turn]
    else:
        assert activity.source == "registry"


@pytest.mark.parametrize("turn", [Turn.PROMPTED, Turn.TOOL, Turn.ASKED, Turn.TOOL_DONE])
def test_esc_is_seen_by_the_registry_alone(turn):
    assert judged(turn, "idle", hook_newer=False).doing is Doing.IDLE


def test_a_finished_turn_stays_done_when_the_registry_says_idle():
    assert judged(Turn.STOPPED, "idle", hook_newer=False).doing is Doing.DONE
    assert judged(Turn.FAILED, "idle", hook_newer=False).doing is Doing.FAILED


def test_stop_comes_before_the_registry_leaves_busy():
    """A background subagent keeps the registry busy for seconds after the main turn's Stop (S5)."""
    assert judged(Turn.STOPPED, "busy", hook_newer=True).doing is Doing.DONE


@pytest.mark.parametrize("turn", Turn)
@pytest.mark.parametrize("hook_newer", [True, False])
def test_waiting_is_never_hidden(turn, hook_newer):
    """S3: 19 of 23 "idle" panes were waiting for a permission."""
    assert judged(turn, "waiting", hook_newer).doing is Doing.WAITING


def test_an_answered_dialog_is_work_again():
    assert (
        judged(Turn.ASKED, "busy", hook_newer=False, waiting_on=WaitingOn.PERMISSION).doing is Doing.WORKING
    )


def test_the_hook_says_what_is_waited_for_and_the_registry_that_it_is():
    activity = judge(
        hook(Turn.ASKED, waiting_on=WaitingOn.PLAN, label="Plan"),
        RegistryStatus(11.0, "waiting", WaitingOn.PERMISSION),
        Activity(),
    )
    assert (activity.waiting_on, activity.label) == (WaitingOn.PLAN, "Plan")


def test_what_a_hook_said_before_a_rest_is_not_said_of_the_next_turn():
    """Esc at one dialog fires no hook; the next dialog is another one, also before its own hook is read."""
    asked = hook(Turn.ASKED, 10.0, waiting_on=WaitingOn.PLAN, label="Plan")
    word = heard_status(RegistryStatus(11.0, "idle"), None, now=20.0)
    word = heard_status(RegistryStatus(12.0, "waiting", WaitingOn.PERMISSION), word, now=20.0)
    activity = judge(asked, word, Activity())
    assert (activity.doing, activity.waiting_on, activity.label) == (
        Doing.WAITING,
        WaitingOn.PERMISSION,
        None,
    )
    again = judge(hook(Turn.ASKED, 12.1, label="Bash: touch b"), word, activity)
    assert again.label == "Bash: touch b"


def test_a_rest_that_is_read_late_still_counts():
    waiting, idle = RegistryStatus(12.0, "waiting"), RegistryStatus(11.0, "idle")
    in_order = heard_status(waiting, heard_status(idle, None, 20.0), 20.0)
    assert heard_status(idle, heard_status(waiting, None, 20.0), 20.0) == in_order


def test_a_registry_word_heard_twice_changes_nothing():
    word = heard_status(RegistryStatus(11.0, "idle"), None, 20.0)
    assert heard_status(RegistryStatus(11.0, "idle"), word, 20.0) is None
    assert heard_status(RegistryStatus(10.0, "idle"), word, 20.0) is None


def test_a_clock_set_back_does_not_take_the_labels():
    rested = heard_status(RegistryStatus(100_000.0, "idle"), None, now=100_000.0)
    word = heard_status(RegistryStatus(13_600.0, "waiting"), rested, now=13_600.0)
    assert judge(hook(Turn.ASKED, 13_600.1, label="Bash: ls"), word, Activity()).label == "Bash: ls"


def test_an_unknown_status_leaves_the_hook_standing():
    assert judged(Turn.TOOL, "dreaming").doing is Doing.WORKING
    assert judged(None, "dreaming").doing is Doing.UNKNOWN


def test_a_late_tool_does_not_hide_a_compaction():
    """S2: PostToolUse hid a running compaction for 81 s."""
    compacting = hook(Turn.COMPACTING, 10.0)
    assert not newer(hook(Turn.TOOL_DONE, 11.0), compacting, now=20.0)
    assert newer(hook(Turn.COMPACTED, 11.0), compacting, now=20.0)


def test_of_two_words_in_one_moment_the_order_of_arrival_does_not_matter():
    done, stopped = hook(Turn.TOOL_DONE, 10.0), hook(Turn.STOPPED, 10.0)
    assert newer(stopped, done, now=20.0)
    assert not newer(done, stopped, now=20.0)


def test_a_clock_set_back_does_not_silence_a_session():
    stored = hook(Turn.TOOL, at=100_000.0)
    assert newer(hook(Turn.STOPPED, at=13_600.0), stored, now=13_600.0)
    assert newer(hook(Turn.STOPPED, at=13_600.0), stored, now=13_600.02)  # weighed a moment after it was told


def test_since_is_kept_while_the_state_is_the_same():
    first = judge(hook(Turn.TOOL, 10.0), None, Activity())
    second = judge(hook(Turn.TOOL_DONE, 12.0), None, first)
    third = judge(hook(Turn.STOPPED, 13.0), None, second)
    assert (first.since, second.since, third.since) == (10.0, 10.0, 13.0)


def test_the_loser_is_named():
    contest = weigh(hook(Turn.TOOL, 10.0), RegistryStatus(11.0, "idle"))
    assert not contest.hook_stands
    assert contest.why == "the registry is newer"
