"""The words about claims: each says what can be done, by a command that exists; real daemon, real agents."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agent import Agent
from tests.rig.daemon import Daemon
from tests.rig.inside import inside, outside, settled

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

MakeAgent = Callable[..., Agent]


@pytest.fixture
def two(daemon: Daemon, agent: MakeAgent) -> tuple[Agent, Agent]:
    first, second = agent(), agent()
    settled(first, daemon, session_title="auth-refactor")
    settled(second, daemon, session_title="flaky-ci")
    return first, second


# --- handing over ------------------------------------------------------------------------------------


def test_the_hint_of_a_refused_handoff_is_a_command_that_works(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    inside(two[0], daemon, "claim", "task:A")
    refused = outside(daemon, "handoff", "task:A", "flaky-ci")
    assert refused.code == 3 and "--force" not in refused.err
    session = refused.err.split("--as ")[1][:4]
    handed = outside(daemon, "handoff", "task:A", "flaky-ci", "--as", session)
    assert handed.code == 0, handed.err
    assert daemon.get("/v1/claims")["claims"][0]["holder"]["pid"] == two[1].pid


def test_the_hint_of_a_refused_release_names_force(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    inside(two[0], daemon, "claim", "task:A")
    assert "Against it, on record: --force" in outside(daemon, "release", "task:A").err


def test_handing_over_for_another_session_is_for_people(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    inside(two[0], daemon, "claim", "task:A")
    refused = inside(two[1], daemon, "handoff", "task:A", "flaky-ci", "--as", "auth-refactor")
    assert refused.code == 3 and "handoff --as is for people" in refused.err
    assert daemon.get("/v1/claims")["claims"][0]["holder"]["pid"] == two[0].pid


def test_whoever_handed_a_claim_over_is_not_told_that_it_is_theirs(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    inside(two[0], daemon, "claim", "task:A")
    handed = json.loads(inside(two[0], daemon, "handoff", "task:A", "flaky-ci", "--json").out)
    assert handed["because"].startswith("It is theirs now") and handed["code"] == "granted"
    again = json.loads(inside(two[1], daemon, "handoff", "task:A", "flaky-ci", "--json").out)
    assert again["because"] == "It is theirs already."
