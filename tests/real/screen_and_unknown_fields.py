"""What a person sees of a real conversation, and whether its files hold anything that nobody knows."""

from pathlib import Path

from headcount.agents.interface import Agent
from tests.rig.daemon.real_daemon import Daemon


def check_peek(daemon: Daemon, id: str, *wanted: tuple[str, str]) -> None:
    lines = [(each["who"], each["text"]) for each in daemon.get(f"/v1/sessions/{id}/peek")["lines"]]
    assert set(wanted) <= set(lines), lines
    assert any(who == "user" for who, _ in lines), lines


def check_nothing_strange(agent: Agent, home: Path) -> None:
    found = agent.drift({}, home, lambda read, of: None)
    assert found.files > 0 and found.strange == (), found.strange
