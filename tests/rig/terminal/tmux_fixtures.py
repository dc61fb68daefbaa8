"""What scenes in tmux begin with: servers, agents in their panes, and a daemon that looks there."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rig.terminal.tmux_servers import PaneAgent, Server, Viewer, has_ended

Make = Callable[..., Server]
Resident = Callable[..., PaneAgent]
View = Callable[..., Viewer]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Where tmux puts its sockets in this test; daemons look there."""
    return tmp_path / "t"


@pytest.fixture
def server(base: Path) -> Iterator[Make]:
    made: list[Server] = []

    def make(name: str = "default", below: Path | None = None) -> Server:
        made.append(Server(below or base, name))
        return made[-1]

    yield make
    for each in made:
        os.kill(each.pid, signal.SIGCONT) if not has_ended(each.pid) else None
        each.close()


@pytest.fixture
def resident(tmp_path: Path) -> Iterator[Callable[..., PaneAgent]]:
    made: list[PaneAgent] = []

    def make(server: Server, **how: Any) -> PaneAgent:
        directory = tmp_path / "agents"
        directory.mkdir(exist_ok=True)
        made.append(PaneAgent(server, directory, **how))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def view() -> Iterator[View]:
    made: list[Viewer] = []

    def make(server: Server, session: str = "work") -> Viewer:
        made.append(Viewer(server, session))
        return made[-1]

    yield make
    for each in made:
        each.close()
