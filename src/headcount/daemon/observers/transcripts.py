"""Read the tail of a session's transcript when the session comes to rest, or when the file grows.

Rules
  1. A transcript is read only on change, only its tail, only in a thread: one of gigabytes costs nothing.
  2. It is read when a turn ends, when a session begins or ends, and at the daemon's start once for every open
     session, since hooks may have been missed.
  3. None of its text is kept.
  4. Growing files are followed only for agents whose transcript says more than when a turn ended, and only
     for open sessions.
  5. There is one watch per directory, however many sessions write there. Changes of other files are ignored.
  6. There is no timer: a transcript that nobody writes costs nothing.

Not here: what a tail says (agents/), what follows from it (core/sessions/apply_report.py).
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from headcount.agents.interface import Agent
from headcount.core.state.world import World
from headcount.core.values.activity import Doing
from headcount.core.values.events import Event, EventType
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import Session, SessionId
from headcount.daemon.engine.call_observers import OF_SESSIONS, Part
from headcount.daemon.engine.loop import Loop
from headcount.system.files import (
    IN_CLOSE_WRITE,
    IN_IGNORED,
    IN_MODIFY,
    IN_MOVED_TO,
    EndWatch,
    FileEvent,
    FileEvents,
)
from headcount.times import BEGAN_WITHIN, FOLLOW_AFTER, GLIMPSE_AFTER

log = logging.getLogger("headcount.transcripts")

LOOKED_FOR = frozenset({EventType.SESSION_STARTED, EventType.SESSION_ACTIVITY, EventType.SESSION_BOUND})
Stamp = tuple[int, ...]  # size and time
AT_REST = frozenset({Doing.DONE, Doing.FAILED, Doing.IDLE, Doing.UNKNOWN})


class Transcripts(Part):
    wants = LOOKED_FOR | {EventType.SESSION_ENDED}

    def __init__(
        self,
        agents: Mapping[str, Agent],
        loop: Loop,
        began_at: Callable[[ProcessIdentity], float | None] = lambda process: None,
    ) -> None:
        self._agents = agents
        self._loop = loop
        self._began_at = began_at
        self._due: dict[SessionId, asyncio.TimerHandle] = {}
        self._seen: dict[SessionId, Stamp] = {}  # what the file was when it was read
        self._reading: set[asyncio.Task[None]] = set()

    def start(self, world: World) -> None:
        for session in world.open_sessions():
            self.want(session)

    def noticed(self, events: Sequence[Event], world: World) -> None:
        for event in events:
            session = world.sessions.get(event.session) if event.session else None
            if session is None:
                continue
            if session.ended is not None:
                self._ended(session, event)
            elif event.type in LOOKED_FOR and session.activity.doing in AT_REST:
                self.want(session)

    def _ended(self, session: Session, event: Event) -> None:
        """One more look: what it cost is written when the conversation is left."""
        if event.type is EventType.SESSION_ENDED:
            self._forget(session.id)
            if session.ended and not session.ended.away:
                self.want(session)

    def want(self, session: Session, after: float = GLIMPSE_AFTER) -> None:
        """Soon, once: the CLI writes the last lines of a turn a moment after it tells of its end."""
        if session.transcript and session.conversation and session.id not in self._due:
            timer = asyncio.get_running_loop().call_later(after, self._start, session.id)
            self._due[session.id] = timer

    def close(self) -> None:
        for timer in self._due.values():
            timer.cancel()
        for task in self._reading:
            task.cancel()

    def _forget(self, id: SessionId) -> None:
        self._seen.pop(id, None)
        timer = self._due.pop(id, None)
        if timer is not None:
            timer.cancel()

    def _start(self, id: SessionId) -> None:
        self._due.pop(id, None)
        session = self._loop.world.sessions.get(id)
        if session is not None:
            task = asyncio.create_task(self._look(session))
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def _look(self, session: Session) -> None:
        try:
            glimpse = await asyncio.to_thread(self._read, session)
        except Exception:
            log.exception("a transcript could not be read")
            return
        if glimpse is not None:
            self._loop.put(glimpse)

    def _read(self, session: Session) -> Glimpse | None:
        assert session.transcript is not None and session.conversation is not None
        stamp = _stamp(Path(session.transcript))
        if stamp is None or self._seen.get(session.id) == stamp:
            return None
        if session.is_open:
            self._seen[session.id] = stamp
        glimpse = self._agents[session.agent].glimpse(Path(session.transcript), session.conversation)
        return (
            glimpse
            if glimpse is None or self._is_its_own(glimpse, session)
            else replace(glimpse, turned=None)
        )

    def _is_its_own(self, glimpse: Glimpse, session: Session) -> bool:
        """A turn from before its process is of the one that had the conversation then, and ended with it."""
        if glimpse.turned is None or session.process is None:
            return True
        began = self._began_at(session.process)
        return began is None or glimpse.turned.at >= began - BEGAN_WITHIN


def _stamp(path: Path) -> Stamp | None:
    """Size and time of the file, and of the log that a database writes first; None: it is not there."""
    try:
        facts = path.stat()
    except OSError:
        return None
    try:
        log = Path(f"{path}-wal").stat()
    except OSError:
        return facts.st_size, facts.st_mtime_ns
    return facts.st_size, facts.st_mtime_ns, log.st_size, log.st_mtime_ns


class TranscriptWatch(Part):
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

    def start(self, world: World) -> None:
        for session in world.open_sessions():
            self.see(session)

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
