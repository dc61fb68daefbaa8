"""Terminals: where each session is, looked up when it is heard of and when somebody wants to go there.

Rules
  1. In a thread, with deadlines, one look at a time; nobody's report waits for it.
  2. Who could not be asked changes nothing: a session keeps the place it had.
  3. Nothing is polled. Sessions that begin together are looked for in one go.
  4. At a helper without a terminal, or with several sessions, nobody sits: the pane above it is where it was
     started from, and not where its sessions are shown.

Not here: whose pane it is (core/values/terminal.py), tmux itself (system/tmux), going there (cli/actions/jump_to_terminal.py).
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from headcount.agents.catalog import AGENTS
from headcount.core.state.world import World
from headcount.core.values.events import Event, EventType
from headcount.core.values.evidence import Located
from headcount.core.values.process import ProcessFacts, ProcessIdentity
from headcount.core.values.session import Session, SessionId
from headcount.core.values.terminal import (
    NAMES,
    TMUX,
    Pane,
    TerminalPlace,
    by_environment,
    in_tmux,
    pane_of,
    server_socket,
)
from headcount.daemon.engine.call_observers import Part
from headcount.daemon.engine.loop import Loop
from headcount.system import tmux
from headcount.system.clock import Clock
from headcount.system.processes.ancestry import ancestors
from headcount.system.processes.interface import Processes
from headcount.system.processes.procfs import has_terminal
from headcount.times import TERMINAL_AFTER

log = logging.getLogger("headcount.terminals")

LOOKED_FOR = frozenset({EventType.SESSION_STARTED, EventType.SESSION_BOUND, EventType.SESSION_REOPENED})


class NotKnown(Struct, frozen=True):
    """It could not be found out. Nothing follows."""

    why: str


Place = TerminalPlace | NotKnown | None
"""None: in no terminal that we know, and all that could say so were asked."""


class Terminals(Part):
    wants = LOOKED_FOR

    def __init__(self, loop: Loop, processes: Processes, clock: Clock, env: Mapping[str, str]) -> None:
        self._loop = loop
        self._processes = processes
        self._clock = clock
        self._env = env
        self._wanted: dict[SessionId, ProcessIdentity] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[dict[SessionId, Place]] | None = None
        self._waits = False  # for the end of the look that is under way
        self._sockets: dict[str, None] = {}  # servers that agents named, beside those in tmux's own place

    def start(self, world: World) -> None:
        for session in world.open_sessions():
            self.want(session)

    def noticed(self, events: Sequence[Event], world: World) -> None:
        for event in events:
            session = world.sessions.get(event.session) if event.session else None
            if session is not None and session.is_open and event.type in LOOKED_FOR:
                for each in _beside(session, world):  # one more may tell that nobody sits there
                    self.want(each)

    def want(self, session: Session) -> None:
        """Soon, together with others."""
        if session.process is None:
            return
        self._wanted[session.id] = session.process
        if self._timer is None and not self._waits:
            self._timer = asyncio.get_running_loop().call_later(TERMINAL_AFTER, self._start)

    async def locate(self, session: Session) -> Place:
        """Where it is now; asked because somebody wants to go there. Stored before it is answered."""
        if session.process is None:
            return NotKnown("its process is not known")
        while self._looking is not None and not self._looking.done():
            await asyncio.wait([self._looking])
        self._looking = asyncio.create_task(self._look({session.id: session.process}))
        found = await asyncio.shield(self._looking)
        return found.get(session.id, NotKnown("it could not be looked for"))

    def servers(self, more: Iterable[str] = ()) -> dict[str, tmux.Panes]:
        """What every server that is known says, and those more. Blocks: for a thread."""
        sockets = dict.fromkeys([*tmux.find_sockets(self._env), *self._sockets, *more])
        said = {socket: tmux.list_panes(socket) for socket in sockets}
        for socket, answer in said.items():
            if isinstance(answer, tmux.NoServer):
                self._sockets.pop(socket, None)
        return said

    def close(self) -> None:
        self._wanted.clear()
        if self._timer is not None:
            self._timer.cancel()
        if self._looking is not None:
            self._looking.cancel()

    # --- looking -------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._timer = None
        if self._looking is not None and not self._looking.done():
            self._waits = True
            self._looking.add_done_callback(self._go_on)  # one that hangs wakes nobody
            return
        wanted, self._wanted = self._wanted, {}
        self._looking = asyncio.create_task(self._look(wanted))

    def _go_on(self, _: object) -> None:
        self._waits = False
        if self._timer is None and self._wanted:
            self._start()

    async def _look(self, wanted: dict[SessionId, ProcessIdentity]) -> dict[SessionId, Place]:
        known = ((id, self._loop.world.sessions.get(id)) for id in wanted)
        shared = {id for id, each in known if each and len(_beside(each, self._loop.world)) > 1}
        try:
            found = await asyncio.to_thread(self._find_all, wanted, shared)
        except Exception:
            log.exception("terminals could not be looked for")
            return {}
        now = self._clock.now()
        answers = [
            self._loop.submit(Located(id, place, now))
            for id, place in found.items()
            if not isinstance(place, NotKnown)
        ]
        await asyncio.gather(*answers, return_exceptions=True)  # not stored now: looked for when asked
        return found

    def _find_all(
        self, wanted: dict[SessionId, ProcessIdentity], shared: set[SessionId]
    ) -> dict[SessionId, Place]:
        environs = {id: self._processes.environ(process, NAMES) for id, process in wanted.items()}
        named = (server_socket(environ) for environ in environs.values())
        self._sockets |= dict.fromkeys(each for each in named if each is not None)
        servers = self.servers()
        panes = [pane for each in servers.values() if isinstance(each, list) for pane in each]
        return {
            id: self._find(process, environs[id], panes, servers, shared=id in shared)
            for id, process in wanted.items()
        }

    def _find(
        self,
        process: ProcessIdentity,
        environ: Mapping[str, str],
        panes: Iterable[Pane],
        servers: Mapping[str, tmux.Panes],
        *,
        shared: bool,
    ) -> Place:
        chain = self._chain(process)
        if not chain:
            return NotKnown("its process could not be looked at")
        if AGENTS.is_helper(chain[0]) and (shared or has_terminal(process.pid) is False):
            return None
        pane = pane_of([each.pid for each in chain], panes)
        if pane is not None:
            return in_tmux(pane)
        silent = [socket for socket, said in servers.items() if isinstance(said, tmux.Unreachable)]
        named = server_socket(environ)
        if named in silent:
            return NotKnown(f"tmux at {named} cannot be asked")
        place = None if environ.get("TERM_PROGRAM") == TMUX else by_environment(environ)
        if place is None and silent:
            return NotKnown(f"tmux at {silent[0]} cannot be asked")
        return place

    def _chain(self, process: ProcessIdentity) -> list[ProcessFacts]:
        facts = self._processes.look(process.pid)
        if not isinstance(facts, ProcessFacts) or self._processes.parent(process) != facts.parent:
            return []  # it is over, or another has its pid
        return list(ancestors(self._processes, facts))


def _beside(session: Session, world: World) -> list[Session]:
    """All open sessions of its process, itself among them."""
    if session.process is None:
        return [session]
    mine = (world.sessions[id] for id in world.by_pid.get(session.process.pid, ()))
    return [each for each in mine if each.is_open and each.process == session.process]
