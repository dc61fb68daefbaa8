"""Refusals that name the next step: an ended session, an item that nobody holds, a type that there is not."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount.core.values.events import EventType
from tests.rig.agents.commands_inside import outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")


@pytest.mark.parametrize("verb", ["claim", "release"])
def test_acting_for_an_ended_session_says_so_and_points_at_the_living(
    daemon: Daemon, agent: Callable[..., Agent], verb: str
) -> None:
    gone = agent()
    id = settled(gone, daemon, session_title="auth-refactor")
    gone.kill()
    eventually(lambda: daemon.sessions(id=id, liveness="ended"))
    said = outside(daemon, verb, "task:A", "--as", id)
    assert said.code == 5
    assert f"{id[:4]} auth-refactor ended " in said.err and "headcount ps" in said.err
    fault = json.loads(outside(daemon, verb, "task:A", "--as", id, "--json").out)["error"]
    assert fault["code"] == "session-ended"


def test_a_session_without_a_known_process_can_hold_nothing_and_explain_says_why(daemon: Daemon) -> None:
    body = {"session_id": "nobody-knows", "hook_event_name": "Stop"}
    assert daemon.call("POST", "/v1/hooks/claude-code", body).status == 202
    id = daemon.session(conversation="nobody-knows")["id"]
    said = outside(daemon, "claim", "task:A", "--as", id)
    assert said.code == 3 and f"headcount explain {id[:4]}" in said.err


def test_releasing_what_nobody_holds_points_at_the_list(daemon: Daemon) -> None:
    said = outside(daemon, "release", "task:A", "--force")
    assert said.code == 5
    assert said.err.splitlines() == ["Nobody holds task:A.", "Who holds what: headcount claims"]


@pytest.mark.parametrize("more", [(), ("--follow",), ("--json",)])
def test_a_type_of_event_that_there_is_not_is_a_wrong_call_with_the_list(
    daemon: Daemon, more: tuple[str, ...]
) -> None:
    said = outside(daemon, "log", "--type", "nope", *more)
    assert said.code == 2 and '"nope"' in said.err
    assert all(each.value in said.err for each in EventType)
    assert outside(daemon, "log", "--type", "session.ended").code == 0
