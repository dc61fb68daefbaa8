"""Following: transcripts that tell of the turn are looked at when they grow.

Rules of this file
  1. Only of agents whose transcript says more than when a turn ended, and only of open sessions.
  2. One watch a directory, however many sessions write there; a change of another file is nothing.
  3. A transcript that nobody writes costs nothing: there is no timer here.

Not here: reading (daemon/observers/transcripts.py), what a tail says (agents/).
"""

import logging
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from headcount.agents.interface import Agent
from headcount.core.state.world import World
from headcount.core.values.events import Event
from headcount.core.values.session import Session, SessionId
from headcount.daemon.engine.loop import Loop
from headcount.daemon.engine.notify_observers import OF_SESSIONS
from headcount.daemon.observers.transcripts import Transcripts
from headcount.system.files import (
    IN_CLOSE_WRITE,
    IN_IGNORED,
    IN_MODIFY,
    IN_MOVED_TO,
    EndWatch,
    FileEvent,
    FileEvents,
)
from headcount.times import FOLLOW_AFTER

log = logging.getLogger("headcount.follow")


class Follow:
    wants = OF_SESSIONS

    def __init__(
        self, agents: Mapping[str, Agent], loop: Loop, files: FileEvents, transcripts: Transcripts
    ) -> None:
        self._agents = agents
        self._loop = loop
        self._files = files
        self._transcripts = transcripts
        self._followed: dict[SessionId, str] = {}
        self._in: dict[Path, dict[str, set[SessionId]]] = {}  # directory: whose file each name is
        self._watches: dict[Path, EndWatch] = {}  # of the same directories

    def noticed(self, events: Sequence[Event], world: World) -> None:
        for event in events:
            session = world.sessions.get(event.session) if event.session else None
            if session is not None:
                self.see(session)

    def close(self) -> None:
        for id in list(self._followed):
            self._leave(id)

    def see(self, session: Session) -> None:
        path = session.transcript if session.is_open and session.transcript else None
        if self._followed.get(session.id) == path:
            return
        self._leave(session.id)
        agent = self._agents.get(session.agent)
        if path is not None and agent is not None and agent.follows:
            self._join(session, Path(path))

    def _join(self, session: Session, path: Path) -> None:
        directory = path.parent
        if directory not in self._in:
            try:
                self._watches[directory] = self._files.watch(
                    directory,
                    IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO,
                    lambda events: self._changed(directory, events),
                )
            except OSError as error:  # its hooks still tell, and each turn's end is looked at
                log.warning("a directory of transcripts cannot be watched: %s", error.strerror)
                return
            self._in[directory] = {}
        self._followed[session.id] = str(session.transcript)
        self._in[directory].setdefault(path.name, set()).add(session.id)
        self._transcripts.want(session, FOLLOW_AFTER)

    def _leave(self, id: SessionId) -> None:
        followed = self._followed.pop(id, None)
        if followed is None:
            return
        path = Path(followed)
        names = self._in.get(path.parent, {})
        whose = names.get(path.name, set())
        whose.discard(id)
        if not whose:
            names.pop(path.name, None)
        if not names and path.parent in self._in:
            del self._in[path.parent]
            self._watches.pop(path.parent)()

    def _changed(self, directory: Path, events: list[FileEvent]) -> None:
        names = self._in.get(directory, {})
        if any(event.mask & IN_IGNORED for event in events):  # removed: there is nothing to follow any more
            for id in chain.from_iterable(names.values()):
                self._followed.pop(id, None)
            self._in.pop(directory, None)
            self._watches.pop(directory, None)
            return
        everything = any(event.name is None for event in events)
        changed = set(names) if everything else {event.name for event in events if event.name in names}
        for id in chain.from_iterable(names[name] for name in changed if name is not None):
            session = self._loop.world.sessions.get(id)
            if session is not None:
                self._transcripts.want(session, FOLLOW_AFTER)
