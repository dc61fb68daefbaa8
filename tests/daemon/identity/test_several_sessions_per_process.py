"""One process with several sessions, in a real daemon: who is calling, what is held, what a death and a restart do."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.callers import Answer, Errand, Request
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import command

Make = Callable[..., Agent]
ME = Request("GET", "/v1/sessions/me")
FIRST, SECOND = "ses_first000000", "ses_second00000"


def tell(daemon: Daemon, agent: Agent, conversation: str, event: str = "chat.message", **more: Any) -> None:
    payload = {"event": event, "session": conversation, "directory": str(agent.cwd), **more}
    mailbox = daemon.mailbox / "opencode"
    mailbox.mkdir(0o700, exist_ok=True)  # as the installer makes it
    agent.drop(mailbox, json.dumps(payload))


@pytest.fixture
def both(daemon: Daemon, agent: Make) -> tuple[Agent, dict[str, Any], dict[str, Any]]:
    made = agent(name="opencode")
    tell(daemon, made, FIRST)
    first = daemon.session(conversation=FIRST)
    tell(daemon, made, SECOND)
    return made, first, daemon.session(conversation=SECOND)


def ask(daemon: Daemon, agent: Agent, place: Path, *requests: Request, **env: str) -> list[Answer]:
    errand = Errand(place, daemon.socket, list(requests))
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in env.items())
    agent.run(f"env {words} {errand.line}")
    return errand.answers()


def test_both_are_listed_and_each_does_its_own(daemon: Daemon, both) -> None:
    agent, first, second = both
    tell(daemon, agent, SECOND, "permission.asked", tool="bash", args={"command": "touch a"})
    eventually(lambda: daemon.sessions(conversation=SECOND, activity="waiting", doing="bash: touch a"))
    rows = daemon.sessions(pid=agent.pid)
    assert {row["id"]: (row["liveness"], row["activity"]) for row in rows} == {
        first["id"]: ("alive", "working"),
        second["id"]: ("alive", "waiting"),
    }


def test_the_mark_says_in_which_session_a_command_runs(daemon: Daemon, both, tmp_path: Path) -> None:
    agent, first, second = both
    for conversation, row in ((FIRST, first), (SECOND, second)):
        marks = {"OPENCODE_PID": str(agent.pid), "OPENCODE_SESSION_ID": conversation}
        (me,) = ask(daemon, agent, tmp_path / "errands", ME, **marks)
        assert (me.status, me.data["session"], me.data["resolved_by"]) == (200, row["id"], "peer")


@pytest.mark.parametrize(
    "marks",
    [
        {},
        {"OPENCODE_PID": "1", "OPENCODE_SESSION_ID": SECOND},  # the mark is of another process
        {"OPENCODE_SESSION_ID": "ses_another00000"},
    ],
    ids=["none", "of another process", "of another conversation"],
)
def test_without_a_mark_that_holds_it_refuses_and_names_the_candidates(
    daemon: Daemon, both, tmp_path: Path, marks: dict[str, str]
) -> None:
    agent, first, second = both
    (me,) = ask(daemon, agent, tmp_path / "errands", ME, **marks)
    assert me.status >= 400
    told = json.dumps(me.data)
    assert first["id"][:4] in told and second["id"][:4] in told
    newest = second["id"]  # the naive answer, "the newest", would have been right by luck or wrong (I4)
    assert newest not in (me.data.get("session"),)


def test_an_only_session_needs_no_mark(daemon: Daemon, agent: Make, tmp_path: Path) -> None:
    made = agent(name="opencode")
    tell(daemon, made, FIRST)
    row = daemon.session(conversation=FIRST)
    (me,) = ask(daemon, made, tmp_path / "errands", ME)
    assert me.data["session"] == row["id"]


def test_a_re_parented_command_is_of_the_session_that_its_mark_names(
    daemon: Daemon, both, tmp_path: Path
) -> None:
    agent, first, _ = both
    errand = Errand(tmp_path / "errands", daemon.socket, [ME])
    agent.run(f"env OPENCODE_PID={agent.pid} OPENCODE_SESSION_ID={FIRST} setsid -f {errand.line}")
    (me,) = errand.answers()
    assert (me.data["session"], me.data["resolved_by"]) == (first["id"], "environment")


def test_the_death_of_the_process_ends_both_and_frees_what_it_held(
    daemon: Daemon, both, tmp_path: Path
) -> None:
    agent, first, second = both
    marks = {"OPENCODE_PID": str(agent.pid), "OPENCODE_SESSION_ID": FIRST}
    claim = Request("POST", "/v1/claims", {"item": "task:A", "request": "r-1"})
    (granted,) = ask(daemon, agent, tmp_path / "errands", claim, **marks)
    assert granted.data["granted"] and granted.data["holder"]["session"] == first["id"]
    agent.kill()
    for row in (first, second):
        (ended,) = eventually(lambda row=row: daemon.sessions(id=row["id"], liveness="ended"))
        assert ended["ended"]["because"] == "killed (SIGKILL)"
    assert daemon.get("/v1/claims")["claims"] == []


def test_a_restart_keeps_both(daemon: Daemon, both) -> None:
    agent, first, second = both
    daemon.restart()
    rows = eventually(lambda: daemon.sessions(pid=agent.pid, liveness="alive"))
    assert {row["id"] for row in rows} == {first["id"], second["id"]}
    agent.kill()
    eventually(lambda: len(daemon.sessions(pid=agent.pid, liveness="ended")) == 2)


def test_a_process_of_several_sessions_is_ended_only_with_all(daemon: Daemon, both) -> None:
    """Ending the process of one ends the others too: that must have been said."""
    agent, first, second = both
    for verb in ("stop", "close"):
        done = command(daemon, verb, first["id"])
        assert (done.returncode, second["id"][:4] in done.stderr, "--all" in done.stderr) == (3, True, True)
    assert agent.process.poll() is None and daemon.session(id=first["id"])["liveness"] == "alive"
    assert command(daemon, "stop", first["id"], "--all").returncode == 0
    assert daemon.session(id=second["id"])["liveness"] == "ended"
