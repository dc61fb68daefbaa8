"""A helper without a terminal, or with several sessions: the pane above it is not where its sessions are."""

import os
import pty
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from headcount.core.state.world import World
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.session import Liveness, Session, SessionId
from headcount.core.values.terminal import Pane, TerminalPlace, pane_of
from headcount.daemon.observers import terminals
from headcount.daemon.observers.terminals import Terminals
from headcount.system.clock import SystemClock
from headcount.system.processes.procfs import has_terminal
from tests.rig.core_values import T0
from tests.rig.daemon.real_daemon import eventually
from tests.rig.kernel.fake_kernel import FakeKernel

SOCKET = "/tmp/tmux-0/default"


class Stored:
    """A loop that stores nothing and remembers what it was told."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.told: list[Any] = []

    async def submit(self, what: Any) -> None:
        self.told.append(what)


class Desk:
    """A shell in a pane, and a Codex process below it."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *, seated: bool, sessions: int, words: tuple[str, ...]
    ):
        kernel = FakeKernel()
        shell = kernel.spawn(comm="zsh", argv=("zsh",), exe="/bin/zsh", uid=os.getuid())
        self.process: ProcessIdentity = kernel.spawn(
            comm="codex", argv=("codex", *words), exe="/opt/codex", uid=os.getuid(), parent=shell.pid
        )
        self.pane = Pane(SOCKET, 50, 7, "%1", "@1", shell.pid, False, True, "work", 3, 0)
        processes = kernel.processes(None)
        self.sessions = [
            Session(SessionId(f"{nth:012x}"), "codex", str(nth), Liveness.ALIVE, T0, T0, "b", self.process)
            for nth in range(sessions)
        ]
        self.loop = Stored(World(processes.place(), self.sessions))
        self.terminals = Terminals(self.loop, processes, SystemClock(), {})  # type: ignore[arg-type]
        monkeypatch.setattr(terminals, "has_terminal", lambda pid: seated)
        monkeypatch.setattr(
            terminals, "tmux", SimpleNamespace(**{**vars(terminals.tmux), "find_sockets": lambda env: [SOCKET],
                                                  "list_panes": lambda socket: [self.pane]})
        )  # fmt: skip

    async def where(self) -> TerminalPlace | None:
        place = await self.terminals.locate(self.sessions[0])
        assert place is None or isinstance(place, TerminalPlace)
        return place

    def naive(self) -> Pane | None:
        facts = self.terminals._chain(self.process)
        assert isinstance(facts[0], ProcessFacts)
        return pane_of([each.pid for each in facts], [self.pane])


@pytest.mark.parametrize(
    ("seated", "sessions", "words", "shown"),
    [
        (False, 1, ("app-server",), None),  # detached: it was only started from there
        (True, 2, ("app-server",), None),  # one pane cannot show two
        (True, 1, (), "work:3.0"),  # a terminal that has its conversation in itself
        (False, 1, ("exec", "x"), "work:3.0"),  # one conversation from start to end
    ],
)
async def test_a_pane_is_shown_only_for_a_process_that_somebody_may_sit_at(
    monkeypatch: pytest.MonkeyPatch, seated: bool, sessions: int, words: tuple[str, ...], shown: str | None
) -> None:
    desk = Desk(monkeypatch, seated=seated, sessions=sessions, words=words)
    where = await desk.where()
    assert (where.text if where else None) == shown
    assert [each.where for each in desk.loop.told] == [where]  # stored, also that there is none
    assert desk.naive() == desk.pane  # the nearest pane above says the same of all four


def test_a_terminal_is_the_controlling_one_and_not_one_that_is_merely_above() -> None:
    detached = subprocess.Popen(["sleep", "60"], start_new_session=True)
    inside, fd = pty.fork()
    if inside == 0:
        os.execvp("sleep", ["sleep", "60"])
    try:
        assert has_terminal(detached.pid) is False
        eventually(lambda: has_terminal(inside))
    finally:
        detached.kill()
        detached.wait()
        os.close(fd)
        os.kill(inside, 9)
        os.waitpid(inside, 0)
    assert has_terminal(inside) is None
