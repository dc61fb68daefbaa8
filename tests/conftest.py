"""Fixtures: a daemon in a home of its own, and stand-in agents that end with the test."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import hypothesis
import pytest

from tests.rig.agents.commands_inside import settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.notification_setup import receiver  # noqa: F401
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.leftovers.checkouts_and_records import repo  # noqa: F401
from tests.rig.network.postgres import Postgres
from tests.rig.terminal.tmux_fixtures import base, resident, server, view  # noqa: F401

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""Whoever starts the tests in the background has these ignored, and every program that a test starts inherits it."""

hypothesis.settings.register_profile("gate", deadline=None)  # a busy machine is no counterexample
hypothesis.settings.load_profile("gate")


@pytest.fixture(scope="session", autouse=True)
def marks_of_homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Daemons that were killed leave a mark outside their home until the boot is over."""
    yield
    place = str(tmp_path_factory.getbasetemp())
    for mark in Path("/dev/shm").glob(f"headcount.{os.getuid()}.*"):
        with suppress(OSError):
            if place in mark.read_text():
                mark.unlink()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "headcount", TMUX_TMPDIR=str(tmp_path / "t")) as running:
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


@pytest.fixture
def two(daemon: Daemon, agent: Callable[..., Agent]) -> tuple[Agent, Agent]:
    """Two agents at rest, by the names of the documents."""
    first, second = agent(), agent()
    settled(first, daemon, session_title="auth-refactor")
    settled(second, daemon, session_title="flaky-ci")
    return first, second


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests that share claims; each begins with `fresh`."""
    with Postgres() as running:
        yield running
