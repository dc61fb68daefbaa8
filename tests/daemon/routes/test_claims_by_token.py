"""A token and claims: it speaks for its session where the kernel shows nothing, and for nobody where it shows a stranger."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.campaign.in_pid_namespace import is_possible
from tests.rig.agents.callers import Errand, Request, child, detached
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

Make = Callable[..., Agent]
ITEM = "/v1/claims/task:A"
ELSEWHERE = ("unshare", "--pid", "--fork")  # the daemon sees a caller without a way up


class Launched:
    def __init__(self, daemon: Daemon, directory: Path, agent: Agent) -> None:
        self.daemon, self.directory, self.agent = daemon, directory, agent
        wish = {"agent": "claude-code", "conversation": agent.conversation, "launch": True}
        (answer,) = child(agent, self.errand(Request("POST", "/v1/sessions/register", wish)))
        assert answer.status == 201, answer
        self.session = answer.data["session"]
        token = Path(answer.data["token_file"]).read_text()
        self.header = {"authorization": f"headcount-session {token}"}

    def errand(self, *requests: Request) -> Errand:
        return Errand(self.directory, self.daemon.socket, list(requests))

    def with_token(self, method: str, path: str, body: object = None) -> Errand:
        return self.errand(Request(method, path, body, self.header))

    def claim(self) -> Errand:
        return self.with_token("POST", "/v1/claims", {"item": "task:A"})

    def holder(self) -> int | None:
        rows = self.daemon.get("/v1/claims")["claims"]
        return rows[0]["holder"]["pid"] if rows else None


@pytest.fixture
def launched(daemon: Daemon, agent: Make, tmp_path: Path) -> Launched:
    return Launched(daemon, tmp_path / "errands", agent())


def test_a_descendant_claims_with_its_sessions_token(launched: Launched) -> None:
    (answer,) = child(launched.agent, launched.claim())
    assert answer.data["granted"] is True
    assert launched.holder() == launched.agent.pid


@pytest.mark.root
@pytest.mark.skipif(not is_possible(), reason="pid namespaces cannot be made here")
def test_from_another_pid_namespace_the_token_claims_for_its_living_session_and_for_nobody_once_it_is_dead(
    launched: Launched,
) -> None:
    (answer,) = detached(launched.claim(), *ELSEWHERE)
    assert answer.data["granted"] is True and answer.data["holder"]["session"] == launched.session
    assert launched.holder() == launched.agent.pid
    launched.agent.kill()
    eventually(lambda: launched.holder() is None)
    (late,) = detached(launched.claim(), *ELSEWHERE)
    assert late.status == 403
    assert launched.holder() is None


def test_a_visible_stranger_with_the_token_neither_claims_nor_releases(launched: Launched) -> None:
    (theft,) = detached(launched.claim())
    assert theft.status == 403 and launched.holder() is None
    child(launched.agent, launched.claim())
    (theft,) = detached(launched.with_token("DELETE", ITEM))
    assert theft.status == 403 and launched.holder() == launched.agent.pid


def test_another_session_with_the_token_neither_claims_nor_releases(launched: Launched, agent: Make) -> None:
    thief = agent()
    thief.hook(launched.daemon.mailbox, "SessionStart", source="startup")
    launched.daemon.session(conversation=thief.conversation)
    child(launched.agent, launched.claim())
    for errand in (launched.claim(), launched.with_token("DELETE", ITEM)):
        (theft,) = child(thief, errand)
        assert theft.status == 403, theft
    assert launched.holder() == launched.agent.pid
