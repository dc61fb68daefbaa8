"""Who is the operator: one row a situation of a caller. The rule is DESIGN's, in the words of docs/threat-model.md:

A recognised agent above the caller, a living session's marks, marks or a token that do not hold, or a pid namespace
that cannot be seen: refused. Any other process of this user is the operator.
"""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agents.callers import Answer, Errand, Request, child, detached, left_behind, marks
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import Make, seated

OPERATOR, AGENT, NOBODY = "operator", "agent", "nobody"
ELSEWHERE = ("unshare", "--pid", "--fork")
ITEM = "task:WHO"


class Stage:
    def __init__(self, daemon: Daemon, make: Make, directory: Path) -> None:
        self.daemon, self.directory = daemon, directory
        self.agent, self.unheard, self.dead = make(), make(), make()
        self.id = seated(daemon, self.agent)["id"]
        seated(daemon, self.dead)
        told = child(
            self.agent,
            Errand(directory, daemon.socket, [Request("POST", "/v1/sessions/register", REGISTER)]),
        )
        self.token_file = Path(told[0].data["token_file"])
        self.bearer = {"authorization": f"Headcount-Session {self.token_file.read_text()}"}
        self.dead.kill()
        eventually(lambda: daemon.sessions(conversation=self.dead.conversation, liveness="ended"))

    def errand(self, **headers: str) -> Errand:
        asked = [
            Request("GET", "/v1/sessions/me?explain=1", None, headers),
            Request("POST", "/v1/reboot/told", {}, headers),
            Request("POST", "/v1/claims", {"item": ITEM}, headers),
        ]
        return Errand(self.directory, self.daemon.socket, asked)


REGISTER = {"agent": "claude-code", "launch": True}
Situation = Callable[[Stage], list[Answer]]


def scrubbed(agent: Agent, errand: Errand) -> list[Answer]:
    """A child that took every variable off itself; its parent is the agent all the same."""
    agent.run(f"env -i {errand.line}")
    return errand.answers()


def below_a_carrier(stage: Stage) -> list[Answer]:
    """The caller scrubbed its own marks; the re-parented shell above it carries them."""
    errand = stage.errand()
    words = " ".join(f"{name}={value}" for name, value in marks(stage.agent).items())
    inner = shlex.quote(f"env -i {errand.line}; true")
    stage.agent.run(f"env {words} setsid -f /bin/sh -c {inner}")
    return errand.answers()


def nobodys(stage: Stage) -> list[Answer]:
    """Started by the agent, re-parented and without any mark: nothing tells it from a person's process."""
    errand = stage.errand()
    stage.agent.run(f"env -i setsid -f {errand.line}")
    return errand.answers()


SITUATIONS: dict[str, tuple[Situation, str]] = {
    "a process of this user": (lambda s: detached(s.errand()), OPERATOR),
    "variables that are no marks": (lambda s: detached(s.errand(), CLAUDECODE="1", TMUX="/x,1,0"), OPERATOR),
    "re-parented and without any mark": (nobodys, OPERATOR),
    "below an agent": (lambda s: child(s.agent, s.errand()), AGENT),
    "below an agent that nobody reported": (lambda s: child(s.unheard, s.errand()), AGENT),
    "below an agent, its own marks removed": (lambda s: scrubbed(s.agent, s.errand()), AGENT),
    "a living session's marks": (lambda s: left_behind(s.agent, s.errand()), AGENT),
    "a parent with a living session's marks": (below_a_carrier, AGENT),
    "marks of a dead session": (lambda s: detached(s.errand(), **marks(s.dead)), NOBODY),
    "marks of an unknown session": (lambda s: detached(s.errand(), CLAUDE_CODE_SESSION_ID="x"), NOBODY),
    "the file of another's token": (
        lambda s: detached(s.errand(), HEADCOUNT_TOKEN_FILE=str(s.token_file)),
        NOBODY,
    ),
    "another's token": (lambda s: detached(s.errand(**s.bearer)), NOBODY),
    "a token that nobody gave": (
        lambda s: detached(s.errand(authorization="Headcount-Session made-up")),
        NOBODY,
    ),
    "another pid namespace": (lambda s: detached(s.errand(), *ELSEWHERE), NOBODY),
    "another pid namespace, with the token": (lambda s: detached(s.errand(**s.bearer), *ELSEWHERE), AGENT),
    "another pid namespace, with marks alone": (
        lambda s: detached(s.errand(), *ELSEWHERE, **marks(s.agent)),
        NOBODY,
    ),
}


@pytest.fixture
def stage(daemon: Daemon, agent: Make, tmp_path: Path) -> Stage:
    return Stage(daemon, agent, tmp_path / "errands")


@pytest.mark.parametrize("situation", SITUATIONS)
def test_who_is_the_operator(stage: Stage, situation: str) -> None:
    call, expected = SITUATIONS[situation]
    me, for_people, claim = call(stage)
    assert me.data["kind"] == expected, me.data["rungs"]
    if expected == OPERATOR:
        assert for_people.status < 300
    else:
        assert (for_people.status, for_people.code) == (403, "operator-only")
        assert "outside" in for_people.data["error"]["message"]
    assert (claim.status == 200) is (expected == AGENT), claim
