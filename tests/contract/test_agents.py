"""The contract of an adapter, on each that headcount brings and on the one that docs/adapters.md shows."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.agents.catalog import OWN
from headcount.agents.interface import Agent, Unread
from headcount.agents.kit.labels import LABEL
from headcount.agents.kit.programs import MARKS
from headcount.agents.plugin_guard import Guarded, why_unfit
from headcount.core.values.process import OpenFile, ProcessFacts, ProcessIdentity
from headcount.core.values.report import Report
from tests.rig.agents import toy

SAMPLES = Path(__file__).parent.parent / "rig" / "samples"
AGENTS: dict[str, Agent] = {
    **{agent.name: agent for agent in (*OWN, toy.adapter())},
    "toy, guarded": Guarded(toy.adapter()),
}
NO_PAYLOADS = {"hook-process", "registry-file"}
PAYLOADS = [
    pytest.param(agent.name, path, id=f"{agent.name}-{path.stem}")
    for agent in OWN
    for path in sorted((SAMPLES / agent.name).rglob("*.json"))
    if path.stem not in NO_PAYLOADS
]
HOSTILE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"a":' * 5_000,
    b"\xff\xfe",
    b'{"session_id": 1}',
    b'{"session_id": "../x"}',
]
STRANGERS = [
    ProcessFacts(ProcessIdentity("boot", 1, 5, 5, 5), 1, 1000, comm, argv, exe)
    for comm in ("bash", "node", "")
    for argv in ((), ("",), ("bash", "-c", "claude codex opencode gemini toy"), ("node", "/x/gemini.md"))
    for exe in (None, "/bin/bash", "/usr/bin/node (deleted)")
]
EVIL_IDS = ["", "-", "--help", "../../x", "a b", "x\n", "$(id)", "a" * 500, "\u202e"]


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest) -> Agent:
    return AGENTS[request.param]


def test_it_has_every_word_of_the_port(agent: Agent) -> None:
    assert why_unfit(agent) is None


def test_nothing_that_comes_in_raises(agent: Agent) -> None:
    for payload in HOSTILE:
        assert isinstance(agent.translate(payload, 1.0, "hook"), Unread | Report), payload
        assert isinstance(agent.unknown_fields(payload), tuple)


@settings(max_examples=40, deadline=None)
@given(payload=st.binary(max_size=80))
@pytest.mark.parametrize("name", AGENTS)
def test_no_bytes_raise(name: str, payload: bytes) -> None:
    assert isinstance(AGENTS[name].translate(payload, 1.0, "hook"), Unread | Report)


def test_strangers_are_not_recognised(agent: Agent) -> None:
    for facts in STRANGERS:
        assert not agent.recognise(facts), facts
        assert not agent.is_helper(facts), facts


def test_ids_that_are_not_of_its_form_reach_no_command_line(agent: Agent) -> None:
    for id in EVIL_IDS:
        assert agent.resume(id) is None, id


def test_a_transcript_that_is_not_there_not_its_own_or_not_a_file_says_nothing(
    agent: Agent, tmp_path: Path
) -> None:
    (tmp_path / "a-directory").mkdir()
    (tmp_path / "a-link").symlink_to("/etc/passwd")
    (tmp_path / "half").write_bytes(b'{"type": "user", "mess')
    for name in ("missing", "a-directory", "a-link", "half", "/dev/zero", "/proc/self/mem"):
        assert agent.glimpse(tmp_path / name, "conv") is None, name


def test_open_files_of_others_name_no_conversation(agent: Agent, tmp_path: Path) -> None:
    files = tuple(
        OpenFile(path, True)
        for path in ("/etc/passwd", "/x (deleted)", "", "/sessions/rollout-.jsonl", str(tmp_path))
    )
    assert not agent.hosted(STRANGERS[0], files)


def test_its_places_and_roots_follow_the_home_and_need_not_exist(agent: Agent, tmp_path: Path) -> None:
    for place in agent.places({}, tmp_path):
        assert place.directory.is_relative_to(tmp_path)
    for root in agent.hooks.roots({}, tmp_path) if agent.hooks else ():
        assert root.is_relative_to(tmp_path)
    assert not any(tmp_path.iterdir())  # asking makes nothing


def test_its_marks_are_in_the_table(agent: Agent) -> None:
    named = {
        name for mark in MARKS if mark.agent == agent.name for name in (mark.conversation, mark.pid) if name
    }
    assert agent.marks <= named | {"OPENCODE"}


@pytest.mark.parametrize(("name", "path"), PAYLOADS)
def test_a_recorded_payload_is_a_report_without_its_texts(name: str, path: Path) -> None:
    report = AGENTS[name].translate(path.read_bytes(), 7.0, "hook")
    assert isinstance(report, Report)
    assert (report.agent, report.at, report.source, report.anchor.process) == (name, 7.0, "hook", None)
    assert report.doing is None or (len(report.doing) <= LABEL and report.doing.isprintable())
    found = json.loads(path.read_bytes())
    for secret in ("prompt", "last_assistant_message", "tool_response", "prompt_response"):
        text = found.get(secret)
        if isinstance(text, str) and len(text) > 12:
            assert text not in repr(report), secret


def test_every_agent_of_ours_has_recorded_payloads() -> None:
    assert {param.values[0] for param in PAYLOADS} == {agent.name for agent in OWN}
