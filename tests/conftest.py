"""Fixtures: a daemon in a home of its own, and stand-in agents that end with the test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.rig.agent import Agent
from tests.rig.daemon import Daemon
from tests.rig.postgres import Postgres


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "headcount") as running:
        yield running


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    made: list[Agent] = []

    def make(**how: object) -> Agent:
        made.append(Agent(tmp_path / "agents", **how))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests that share claims; each begins with `fresh`."""
    with Postgres() as server:
        yield server
