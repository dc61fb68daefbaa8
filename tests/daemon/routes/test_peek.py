"""Peeking: for a person and for the session itself, never for another agent; nothing of it stays."""

import json
import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.callers import Errand, Request, child, detached, nested
from tests.rig.agents.person import person
from tests.rig.agents.stand_in import Agent, in_environment, program
from tests.rig.daemon.real_daemon import Daemon, eventually

SECRET = "the-words-of-a-user-7741"


def talking(daemon: Daemon, claude: Agent, tmp_path: Path, text: str = SECRET) -> str:
    """A session with a conversation on disk; its id."""
    path = tmp_path / f"{claude.conversation}.jsonl"
    at = "2026-11-15T10:00:00.000Z"
    path.write_text(json.dumps({"type": "user", "timestamp": at, "message": {"content": text}}) + "\n")
    claude.hook(daemon.mailbox, "SessionStart", source="startup", transcript_path=str(path))
    return str(daemon.session(conversation=claude.conversation)["id"])


def errand(daemon: Daemon, tmp_path: Path, id: str, query: str = "") -> Errand:
    return Errand(tmp_path / "errands", daemon.socket, [Request("GET", f"/v1/sessions/{id}/peek{query}")])


def test_a_person_and_the_session_itself_may_peek_and_nobody_else(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    mine, other = agent(), agent()
    id = talking(daemon, mine, tmp_path)
    other.hook(daemon.mailbox, "SessionStart", source="startup")
    daemon.session(conversation=other.conversation)
    for answer in (
        detached(errand(daemon, tmp_path, id))[0],
        child(mine, errand(daemon, tmp_path, id))[0],
    ):
        assert (answer.status, answer.data["source"]) == (200, "transcript")
        assert [(each["who"], each["text"]) for each in answer.data["lines"]] == [("user", SECRET)]
    for answer in (
        child(other, errand(daemon, tmp_path, id))[0],
        nested(mine, errand(daemon, tmp_path, id))[0],
    ):
        assert (answer.status, answer.code) == (403, "not-yours")
        assert "only at its own" in answer.data["error"]["message"]
        assert SECRET not in json.dumps(answer.data)


def test_nothing_of_it_is_stored_or_logged(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    claude = agent()
    id = talking(daemon, claude, tmp_path)
    assert SECRET in json.dumps(detached(errand(daemon, tmp_path, id))[0].data)
    daemon.stop()  # everything is on disk
    kept = [
        path for path in daemon.home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    assert kept == []


def test_the_ended_can_still_be_read(daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path) -> None:
    claude = agent()
    id = talking(daemon, claude, tmp_path)
    claude.kill()
    eventually(lambda: daemon.sessions(id=id, liveness="ended"))
    assert detached(errand(daemon, tmp_path, id))[0].status == 200


@pytest.mark.parametrize("query", ["?lines=0", "?lines=99999"])
def test_how_many_is_bounded(daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path, query: str) -> None:
    id = talking(daemon, agent(), tmp_path, "\n".join(map(str, range(1000))))
    lines = detached(errand(daemon, tmp_path, id, query))[0].data["lines"]
    assert 1 <= len(lines) <= 500 and lines[-1]["text"] == "999"


def test_nothing_to_see_says_why_and_where_else_to_look(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    claude = agent()
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    id = daemon.session(conversation=claude.conversation)["id"]
    for query, hint in (("", f"headcount peek {id[:4]} --pane"), ("?pane=1", f"headcount peek {id[:4]}")):
        answer = detached(errand(daemon, tmp_path, id, query))[0]
        assert (answer.status, answer.code) == (404, "nothing-to-peek")
        assert answer.data["error"]["hint"].endswith(hint)


def test_the_command_line_prints_no_escape_sequence(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    id = talking(daemon, agent(), tmp_path, "red \x1b[31m\x1b]52;c;cHduZWQ=\x07 text\nsecond")
    heard = person(daemon, "peek", id[:6])
    assert heard.code == 0, heard
    assert "\x1b" not in heard.out and "\x07" not in heard.out
    assert heard.out.splitlines()[1] == "user    second"
    told = json.loads(person(daemon, "peek", id, "--json", "-n", "1").out)
    assert [each["text"] for each in told["lines"]] == ["second"]


# --- its pane -----------------------------------------------------------------------------------------


class Terminal:
    """A stand-in agent in a tmux server of its own."""

    def __init__(self, directory: Path) -> None:
        self._name = f"headcount-test-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        claude = program(directory)
        self.tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", str(directory), f"exec {claude}")
        self.pid = int(self.tmux("list-panes", "-F", "#{pane_pid}"))

    def tmux(self, *words: str) -> str:
        env = {"PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
        command = ["tmux", "-L", self._name, "-f", "/dev/null", *words]
        return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout

    def close(self) -> None:
        socket = Path(self.tmux("display-message", "-p", "#{socket_path}").strip())
        self.tmux("kill-server")
        socket.unlink(missing_ok=True)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path / "agents")
    yield made
    made.close()


def test_a_pane_is_shown_as_it_is_now(daemon: Daemon, terminal: Terminal, tmp_path: Path) -> None:
    id = eventually(lambda: daemon.sessions(pid=terminal.pid))[0]["id"]
    terminal.tmux("send-keys", "echo pane-$((6*7))", "Enter")

    def seen() -> Any:
        answer = detached(errand(daemon, tmp_path, id, "?pane=1"))[0]
        assert answer.status == 200, answer
        return [each["text"] for each in answer.data["lines"] if each["text"] == "pane-42"]

    eventually(seen)
    heard = person(daemon, "peek", id, "--pane")
    assert heard.code == 0 and "pane-42" in heard.out.splitlines()


def test_a_pane_that_only_the_environment_names_is_not_shown(
    daemon: Daemon, terminal: Terminal, tmp_path: Path
) -> None:
    """Whatever a terminal that was started inside a pane runs inherits its name; the naive way shows that pane."""
    socket, server, pane = terminal.tmux("display-message", "-p", "#{socket_path} #{pid} #{pane_id}").split()
    naive = {"TMUX": f"{socket},{server},0", "TMUX_PANE": pane}
    claude = in_environment(tmp_path / "elsewhere", naive)
    try:
        claude.hook(daemon.mailbox, "SessionStart", source="startup")
        id = daemon.session(conversation=claude.conversation)["id"]
        answer = detached(errand(daemon, tmp_path, id, "?pane=1"))[0]
        assert (answer.status, answer.code) == (404, "nothing-to-peek"), answer
    finally:
        claude.close()


def test_a_pane_with_two_sessions_is_shown_for_neither(
    daemon: Daemon, terminal: Terminal, tmp_path: Path
) -> None:
    first = eventually(lambda: daemon.sessions(pid=terminal.pid))[0]["id"]
    terminal.tmux("send-keys", f"{program(tmp_path / 'agents')} -s", "Enter")
    pane = eventually(lambda: daemon.sessions(id=first)[0]["tmux"])
    second = eventually(
        lambda: [row for row in daemon.sessions() if row["tmux"] == pane and row["id"] != first], within=20
    )[0]["id"]
    for id in (first, second):
        answer = detached(errand(daemon, tmp_path, id, "?pane=1"))[0]
        assert (answer.status, answer.code) == (404, "nothing-to-peek"), answer
        assert "another session" in answer.data["error"]["message"]
    terminal.tmux("send-keys", "exit", "Enter")
    eventually(lambda: daemon.sessions(id=second, liveness="ended"))
    assert detached(errand(daemon, tmp_path, first, "?pane=1"))[0].status == 200
