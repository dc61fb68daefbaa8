"""What is remembered of walks up: for how long, and until whose end."""

import pytest

from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import Anchor
from headcount.daemon.identity import reporting_process_cache
from headcount.daemon.identity.reporting_process_cache import AgentAboveCache, AnchorCache, Key
from headcount.times import UNANCHORED_FRESH

AGENT = ProcessIdentity("boot", 1, 500, 7, 77)
KEY: Key = ("claude-code", "peer", 501, 88)


class StandingClock:
    def __init__(self) -> None:
        self.at = 100.0

    def now(self) -> float:
        return self.at

    def boottime(self) -> float:
        return self.at


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


def test_an_agent_that_was_found_holds_until_it_ends(clock: StandingClock) -> None:
    known = AnchorCache(clock)
    known.keep(KEY, Anchor(AGENT, True, "peer"))
    clock.at += 1_000
    assert known.find(KEY) == Anchor(AGENT, True, "peer")
    known.forget(AGENT.pid)
    assert known.find(KEY) is None


def test_it_does_not_outlive_the_process_that_was_asked(clock: StandingClock) -> None:
    known = AnchorCache(clock)
    known.keep(KEY, Anchor(AGENT, True, "peer"))
    known.forget(501)
    assert known.find(KEY) is None


def test_that_there_is_no_agent_holds_for_a_moment_only(clock: StandingClock) -> None:
    known = AnchorCache(clock)
    known.keep(KEY, Anchor(by="peer", why="nobody above"))
    assert known.find(KEY) is not None
    clock.at += UNANCHORED_FRESH
    assert known.find(KEY) is None


def test_another_incarnation_with_the_same_pid_is_not_known(clock: StandingClock) -> None:
    known = AnchorCache(clock)
    known.keep(KEY, Anchor(AGENT, True, "peer"))
    assert known.find(("claude-code", "peer", 501, 89)) is None


def test_the_oldest_goes_when_there_are_too_many(
    clock: StandingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting_process_cache, "MOST", 3)
    known = AnchorCache(clock)
    keys: list[Key] = [("claude-code", "peer", pid, 1) for pid in range(4)]
    for key in keys:
        known.keep(key, Anchor(AGENT, True, "peer"))
    assert [known.find(key) is not None for key in keys] == [False, True, True, True]


def test_a_walk_that_comes_by_the_same_process_ends_alike_for_a_moment(clock: StandingClock) -> None:
    overhead = AgentAboveCache(clock)
    shell = ProcessIdentity("boot", 1, 400, 5, 66)
    assert overhead.find(shell) is None
    overhead.keep([shell], AGENT)
    ending = overhead.find(shell)
    assert ending is not None and ending.agent == AGENT
    clock.at += UNANCHORED_FRESH
    assert overhead.find(shell) is None
