"""Declared silence: an agent for itself, a person for any, capped, and shown."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount.present import time_text
from tests.rig.agents.callers import Errand, Request, child, detached
from tests.rig.agents.person import person
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon


def known(daemon: Daemon, claude: Agent) -> str:
    claude.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    return str(daemon.session(conversation=claude.conversation)["id"])


def quiet(daemon: Daemon, tmp_path: Path, id: str, **wish: object) -> Errand:
    return Errand(tmp_path / "errands", daemon.socket, [Request("POST", f"/v1/sessions/{id}/quiet", wish)])


def test_an_agent_declares_its_own_silence_and_no_others(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    mine, other = agent(), agent()
    id, _ = known(daemon, mine), known(daemon, other)
    answer = child(mine, quiet(daemon, tmp_path, id, seconds=60, why="benchmark"))[0]
    assert (answer.status, answer.data["capped"]) == (200, False)
    row = daemon.sessions(id=id)[0]
    assert (row["quiet_until"], row["quiet_why"]) == (answer.data["until"], "benchmark")
    refused = child(other, quiet(daemon, tmp_path, id, off=True))[0]
    assert (refused.status, refused.code) == (403, "not-yours")
    assert daemon.sessions(id=id)[0]["quiet_until"] is not None
    assert child(mine, quiet(daemon, tmp_path, id, off=True))[0].data["until"] is None
    assert daemon.sessions(id=id)[0]["quiet_until"] is None


def test_half_an_hour_is_the_most(daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path) -> None:
    id = known(daemon, agent())
    answer = detached(quiet(daemon, tmp_path, id, seconds=86_400))[0]
    until, heard = (
        time_text.parse(answer.data["until"]),
        time_text.parse(answer.data["session"]["last_event_at"]),
    )
    assert until is not None and heard is not None
    assert answer.data["capped"] is True and until - heard < 1_860


@pytest.mark.parametrize("wish", [{}, {"seconds": 0}, {"seconds": -5}, {"seconds": "long"}])
def test_no_time_is_refused(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path, wish: dict[str, object]
) -> None:
    id = known(daemon, agent())
    assert detached(quiet(daemon, tmp_path, id, **wish))[0].status == 400
    assert daemon.sessions(id=id)[0]["quiet_until"] is None


def test_the_ended_cannot_be_quiet(daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path) -> None:
    claude = agent()
    id = known(daemon, claude)
    claude.kill()
    from tests.rig.daemon.real_daemon import eventually

    eventually(lambda: daemon.sessions(id=id, liveness="ended"))
    answer = detached(quiet(daemon, tmp_path, id, seconds=60))[0]
    assert (answer.status, answer.code) == (409, "ended")


def test_silence_survives_a_restart(daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path) -> None:
    id = known(daemon, agent())
    until = detached(quiet(daemon, tmp_path, id, seconds=60))[0].data["until"]
    daemon.restart()
    assert daemon.sessions(id=id)[0]["quiet_until"] == until


def test_a_person_names_the_session_and_is_told_how_when_they_do_not(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    id = known(daemon, agent())
    lost = person(daemon, "quiet", "20m")
    assert lost.code == 3 and "--as S" in lost.err
    heard = person(daemon, "quiet", "20m", "--as", id[:8], "--why", "long \x1b[31mbenchmark")
    assert heard.code == 0 and "is quiet until" in heard.out
    listed = person(daemon, "ps")
    assert "(quiet: long ?[31mbenchmark)" in listed.out, listed
    shown = json.loads(person(daemon, "quiet", "--off", "--as", id, "--json").out)
    assert shown["session"]["quiet_until"] is None
    assert "no longer quiet" in person(daemon, "quiet", "--off", "--as", id).out
    for words in (("quiet",), ("quiet", "soon"), ("quiet", "5m", "--off"), ("quiet", "0")):
        assert person(daemon, *words).code == 2
