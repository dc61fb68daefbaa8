"""Accident I8: ids that became paths, and pids that were read too willingly."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount.daemon.identity.reporting_process import parse_pid
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.naive_ways import naive
from tests.rig.network.raw_requests import Orphan, files_waiting, hook

WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")

SPELLINGS: dict[str, Callable[[str], str]] = {
    "wide digits": lambda pid: pid.translate(WIDE),
    "arabic digits": lambda pid: pid.translate(ARABIC),
    "spaces and an underscore": lambda pid: f" {pid[:1]}_{pid[1:]} ",
    "a plus": lambda pid: f"+{pid}",
    "a new line": lambda pid: f"{pid}\n",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_I8_a_pid_in_another_spelling_is_no_pid(
    daemon: Daemon, agent: Callable[..., Agent], spelling: Callable[[str], str]
) -> None:
    """The pid is that of a living agent, so that only the spelling can be the reason."""
    claude = agent()
    text = spelling(str(claude.pid))
    assert naive.loose_pid(text) == claude.pid, "the naive way reads it"
    assert parse_pid(text) is None
    if "\n" in text:
        return  # no header can hold it
    body = json.dumps({"session_id": "strict", "hook_event_name": "Stop"}).encode()
    with Orphan() as nobody:
        assert nobody.send(daemon.socket, hook(body, f"X-Claude-PID: {text}")).status == 202
    row = daemon.session(conversation="strict")
    assert (row["pid"], row["liveness"]) == (None, "unknown")
    assert "plain digits" in daemon.explain(row["id"])["binding"]["because"]


@pytest.mark.parametrize("text", ["true", "-1", "0", "1"])
def test_I8_numbers_that_name_no_agent_are_no_pid(text: str) -> None:
    assert naive.loose_pid(text) in (-1, 0, 1), "the naive way would look at a group, at itself, or at init"
    assert parse_pid(text) in (None, 0, 1)


@pytest.mark.parametrize(
    "id", ["../../escaped", "/tmp/escaped", "..", "a/b", "a\0b", "-rf", "~root", "$(id)"]
)
def test_I8_a_session_id_is_never_a_path(daemon: Daemon, tmp_path: Path, id: str) -> None:
    def tree() -> list[str]:
        places = [os.path.join(at, name) for at, _, names in os.walk(tmp_path) for name in names]
        return [each for each in places if "headcount.db" not in each and "/log/" not in each]

    before = tree()
    (tmp_path / "letter").write_text("\n" + json.dumps({"session_id": id, "hook_event_name": "Stop"}))
    (tmp_path / "letter").rename(daemon.mailbox / "1.1")
    eventually(lambda: files_waiting(daemon) == [])
    assert tree() == before
    assert daemon.sessions(conversation=id) == []


@pytest.mark.parametrize("id", ["../../escaped", "/tmp/escaped", "a/b"])
def test_I8_the_naive_file_name_leaves_its_directory(tmp_path: Path, id: str) -> None:
    assert naive.session_file(tmp_path / "sessions", id).resolve().parent != tmp_path / "sessions"
