"""Accidents I3 and I4: who is calling, by names that several share. Each with the naive way that did it."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.callers import Answer, Errand, Request, child, detached
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon

Make = Callable[..., Agent]

WINDOW = {
    "CLAUDE_CODE_SSE_PORT": "39623",
    "TERM_SESSION_ID": "w0t0p0:5E61",
    "TERM_PROGRAM": "vscode",
    "TTY": "pts/3",
}
TERMINAL_ID = "win-cc-39623"


class Office:
    """Two agents in one editor window, in one directory."""

    def __init__(self, daemon: Daemon, directory: Path, make: Make) -> None:
        self.daemon = daemon
        self.directory = directory
        self.first, self.second = make(), make()
        for each in (self.first, self.second):
            each.hook(daemon.mailbox, "SessionStart", source="startup")
        self.first_id, self.second_id = (
            daemon.session(conversation=each.conversation)["id"] for each in (self.first, self.second)
        )

    def ask(self, agent: Agent, *requests: Request) -> list[Answer]:
        """From the agent's shell, which has the window's variables in its environment."""
        errand = Errand(self.directory, self.daemon.socket, list(requests))
        words = " ".join(f"{name}={shlex.quote(value)}" for name, value in WINDOW.items())
        agent.run(f"env {words} {errand.line}")
        return errand.answers()


@pytest.fixture
def office(daemon: Daemon, agent: Make, tmp_path: Path) -> Office:
    return Office(daemon, tmp_path / "errands", agent)


ME = Request("GET", "/v1/sessions/me")


def claim(item: str, request: str) -> Request:
    return Request("POST", "/v1/claims", {"item": item, "request": request})


# --- I3 ----------------------------------------------------------------------------------------------


class LedgerByTerminal:
    """As it was: the holder is a terminal's id, made from the editor's port."""

    def __init__(self) -> None:
        self.holder: dict[str, str] = {}

    def claim(self, item: str, env: dict[str, str]) -> str:
        mine = f"win-cc-{env['CLAUDE_CODE_SSE_PORT']}"
        return "granted" if self.holder.setdefault(item, mine) == mine else "held"


def test_i3_the_second_conversation_of_a_window_does_not_get_the_firsts_claim(office: Office) -> None:
    (mine,) = office.ask(office.first, claim("task:AUTH-12", "r1"))
    assert mine.data["granted"] is True
    (theirs,) = office.ask(office.second, claim("task:AUTH-12", "r2"))
    assert (theirs.status, theirs.data["granted"]) == (409, False)
    assert theirs.data["holder"]["session"] == office.first_id


def test_i3_nor_does_it_inherit_it_when_the_first_is_dead(office: Office) -> None:
    (before,) = office.ask(office.first, claim("task:AUTH-12", "r1"))
    office.first.kill()
    office.daemon.session(id=office.first_id, liveness="ended")
    (same_request,) = office.ask(office.second, claim("task:AUTH-12", "r1"))
    assert same_request.data["granted"] is False  # the dead one's request is not an answer for another
    (after,) = office.ask(office.second, claim("task:AUTH-12", "r2"))
    assert after.data["granted"] is True
    assert after.data["fence"] > before.data["fence"]
    (check,) = office.ask(
        office.second, Request("POST", "/v1/claims/task%3AAUTH-12/check", {"fence": before.data["fence"]})
    )
    assert check.data["current"] is False


def test_i3_the_naive_ledger_by_terminal_gives_it_to_both() -> None:
    ledger = LedgerByTerminal()
    assert [ledger.claim("task:AUTH-12", WINDOW), ledger.claim("task:AUTH-12", WINDOW)] == [
        "granted",
        "granted",
    ]


WEAK: list[Request] = [
    Request("POST", "/v1/sessions/register", {"agent": "claude-code", "conversation": TERMINAL_ID}),
    Request("POST", "/v1/sessions/register", {"agent": "claude-code", "conversation": "39623"}),
    Request("POST", "/v1/sessions/register", {"agent": "claude-code", "conversation": "/home/dev/project"}),
    Request("POST", "/v1/sessions/register", {"agent": "claude-code"}, {"X-Terminal-Id": TERMINAL_ID}),
    Request("GET", "/v1/sessions/me", None, {"X-Terminal-Id": TERMINAL_ID}),
    Request("GET", "/v1/sessions/me?terminal=pts/3"),
    Request("GET", "/v1/sessions/me?port=39623"),
    Request("GET", "/v1/sessions/me?cwd=/home/dev/project"),
    Request("GET", f"/v1/sessions/{TERMINAL_ID}"),
    Request("GET", "/v1/sessions/newest"),
    Request("GET", "/v1/sessions/latest/explain"),
    Request("DELETE", "/v1/sessions/%253"),
    Request("POST", "/v1/claims", {"item": "task:X", "request": "r", "as": TERMINAL_ID}),
]


def test_i3_ids_of_terminals_ports_and_directories_are_refused_by_name_and_counted(office: Office) -> None:
    answers = detached(Errand(office.directory, office.daemon.socket, WEAK))
    assert [(answer.status, answer.code) for answer in answers] == [(400, "weak-identity")] * len(WEAK)
    assert f'"{TERMINAL_ID}" is of a port' in answers[0].data["error"]["message"]
    metrics = office.daemon.get("/metrics")
    assert f"headcount_weak_identity_refused_total {float(len(WEAK))}" in metrics


@pytest.mark.parametrize(
    "id", ["a81bc81b-dead-4e5d-abff-90865d1e13b1", "ses_5e61", "019a2b", "my-bot-12", "auth-refactor", "7123"]
)
def test_ids_of_sessions_are_not_taken_for_weak_ones(id: str) -> None:
    from headcount.daemon.identity.weak_identities import weak

    assert weak(id) is None


# --- I4 ----------------------------------------------------------------------------------------------


def newest_marker(directory: Path) -> str:
    """As it was: the marker file that was written last is mine."""
    return max(directory.iterdir(), key=lambda path: path.stat().st_mtime_ns).name


@pytest.mark.parametrize("last", ["first", "second"])
def test_i4_who_i_am_does_not_depend_on_who_wrote_last(office: Office, tmp_path: Path, last: str) -> None:
    markers = tmp_path / "markers"
    markers.mkdir()
    order = [office.first, office.second] if last == "second" else [office.second, office.first]
    for nth, each in enumerate(order):
        each.hook(office.daemon.mailbox, "UserPromptSubmit", prompt="x")
        (markers / each.conversation).write_text("me")
        os.utime(markers / each.conversation, (nth, nth))
        office.daemon.session(conversation=each.conversation, activity="working")
    found = {}
    naive = {}
    for each in (office.first, office.second):
        (answer,) = office.ask(each, ME)
        found[each.conversation] = answer.data["conversation"]
        naive[each.conversation] = newest_marker(markers)
    assert all(asked == told for asked, told in found.items())
    wrong = [asked for asked, told in naive.items() if asked != told]
    assert wrong == [order[0].conversation]  # the naive way smears the last one's data on the other


def test_i4_the_answer_says_how_it_was_established(office: Office) -> None:
    (answer,) = child(
        office.first,
        Errand(office.directory, office.daemon.socket, [Request("GET", "/v1/sessions/me?explain=1")]),
    )
    me: dict[str, Any] = answer.data
    assert (me["session"], me["resolved_by"]) == (office.first_id, "peer")
    assert [rung["rung"] for rung in me["rungs"]] == ["peer", "token", "environment", "operator"]
    assert [rung["taken"] for rung in me["rungs"]] == [True, False, False, False]
    assert all(rung["why"] for rung in me["rungs"])
