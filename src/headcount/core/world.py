"""The world: every session that is remembered, and the draft on which a batch is decided.

Rules of this file
  1. The world holds what is stored and nothing else. A batch is decided on a draft above it; the
     draft becomes the world only after its events were committed.
  2. Indices are derived from rows, here and only here.
  3. Nothing is deleted from a session's history by deciding; `drop` is retention's word.

Not here: what should happen (decide.py), storage (store/).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field
from hashlib import blake2s
from typing import Any, Generic, TypeVar

from headcount.core.effects import Effect, Watch
from headcount.core.events import Event, EventType, apply
from headcount.core.identity import Match, Place, ProcessIdentity, same_process
from headcount.core.session import Liveness, Session, SessionId

K = TypeVar("K")
V = TypeVar("V")
Conversation = tuple[str, str]  # agent, the agent's own id

ADRIFT = frozenset({Liveness.UNBOUND})


class Layer(MutableMapping[K, V], Generic[K, V]):
    """Writes go to the top, reads fall through to the base; `None` on top hides the base's value."""

    def __init__(self, base: dict[K, V]) -> None:
        self._base = base
        self._top: dict[K, V | None] = {}

    def __getitem__(self, key: K) -> V:
        value = self._top[key] if key in self._top else self._base[key]
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key: K, default: Any = None) -> Any:
        value = self._top[key] if key in self._top else self._base.get(key)
        return default if value is None else value

    def __setitem__(self, key: K, value: V) -> None:
        self._top[key] = value

    def __delitem__(self, key: K) -> None:
        self._top[key] = None

    def __iter__(self) -> Iterator[K]:
        yield from (key for key in self._base if key not in self._top)
        yield from (key for key, value in self._top.items() if value is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def settle(self) -> None:
        for key, value in self._top.items():
            if value is None:
                self._base.pop(key, None)
            else:
                self._base[key] = value
        self._top = {}


class World:
    def __init__(self, place: Place, sessions: Iterable[Session] = (), seq: int = 0) -> None:
        self.place = place
        self.seq = seq
        self.sessions: dict[SessionId, Session] = {}
        self.by_conversation: dict[Conversation, tuple[SessionId, ...]] = {}
        self.by_pid: dict[int, tuple[SessionId, ...]] = {}
        self.adrift: dict[SessionId, float] = {}  # without a process: when last heard
        draft = self.draft()
        for session in sorted(sessions, key=lambda each: (each.started_at, each.id)):
            draft.put(session)
        draft.settle()

    def draft(self) -> "Draft":
        return Draft(self)

    def find_process(self, claimed: ProcessIdentity) -> ProcessIdentity | None:
        """That very incarnation among those that sessions were ever bound to."""
        for id in self.by_pid.get(claimed.pid, ()):
            process = self.sessions[id].process
            if process is not None and same_process(process, claimed) is Match.SAME:
                return process
        return None

    def open_sessions(self) -> Iterator[Session]:
        return (session for session in self.sessions.values() if session.is_open)


@dataclass(slots=True)
class Decision:
    """What a batch comes to. Nothing of it is true before `events` are committed."""

    events: list[Event] = field(default_factory=list)
    rows: dict[SessionId, Session] = field(default_factory=dict)
    dropped: list[SessionId] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class Draft:
    """The world as it will be if the batch is committed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.place = world.place
        self.seq = world.seq
        self.sessions = Layer(world.sessions)
        self._by_conversation = Layer(world.by_conversation)
        self._by_pid = Layer(world.by_pid)
        self._adrift = Layer(world.adrift)
        self.decision = Decision()

    # --- reading -----------------------------------------------------------------------------------

    def of_conversation(self, agent: str, conversation: str) -> list[Session]:
        """All its sessions that are remembered, oldest first."""
        return [self.sessions[id] for id in self._by_conversation.get((agent, conversation), ())]

    def of_process(self, process: ProcessIdentity) -> list[Session]:
        """All sessions of that very incarnation, oldest first."""
        mine = (self.sessions[id] for id in self._by_pid.get(process.pid, ()))
        return [each for each in mine if each.process and same_process(each.process, process) is Match.SAME]

    def current(self, process: ProcessIdentity) -> Session | None:
        """The session that the process hosts now."""
        return next((each for each in reversed(self.of_process(process)) if each.is_open), None)

    def adrift(self) -> list[tuple[SessionId, float]]:
        return list(self._adrift.items())

    # --- changing ----------------------------------------------------------------------------------

    def start(self, at: float, **fields: Any) -> Session:
        seq = self.seq + 1
        key = f"{fields['agent']}|{fields.get('conversation')}|{self.place.machine}|{seq}"
        id = SessionId(blake2s(key.encode("utf-8", "replace"), digest_size=6).hexdigest())
        return self.emit(EventType.SESSION_STARTED, at, id, **fields)

    def emit(self, type: EventType, at: float, id: SessionId, **delta: Any) -> Session:
        self.seq += 1
        event = Event(self.seq, at, type, id, delta)
        before = self.sessions.get(id)
        session = apply(before, event)
        self.decision.events.append(event)
        self.put(session)
        if session.is_open and session.process is not None and (before is None or before.process is None):
            self.decision.effects.append(Watch(session.process))
        return session

    def tell(self, type: EventType, at: float, **facts: Any) -> None:
        """An event of headcount itself."""
        self.seq += 1
        self.decision.events.append(Event(self.seq, at, type, None, {}, facts))

    def count(self, what: str) -> None:
        self.decision.counts[what] += 1

    def put(self, session: Session) -> None:
        before = self.sessions.get(session.id)
        self.sessions[session.id] = session
        self.decision.rows[session.id] = session
        if before is None or before.conversation != session.conversation:
            if before is not None and before.conversation:
                self._unindex(self._by_conversation, (before.agent, before.conversation), session.id)
            if session.conversation:
                self._index(self._by_conversation, (session.agent, session.conversation), session.id)
        if session.process and (before is None or before.process is None):
            self._index(self._by_pid, session.process.pid, session.id)
        if session.liveness in ADRIFT:
            self._adrift[session.id] = session.last_event_at
        elif session.id in self._adrift:
            del self._adrift[session.id]

    def drop(self, id: SessionId) -> None:
        session = self.sessions[id]
        del self.sessions[id]
        self.decision.rows.pop(id, None)
        self.decision.dropped.append(id)
        if session.conversation:
            self._unindex(self._by_conversation, (session.agent, session.conversation), id)
        if session.process:
            self._unindex(self._by_pid, session.process.pid, id)
        if id in self._adrift:
            del self._adrift[id]

    def settle(self) -> None:
        """The batch was committed: the draft is the world."""
        for layer in (self.sessions, self._by_conversation, self._by_pid, self._adrift):
            layer.settle()
        self._world.seq = self.seq
        self.decision = Decision()

    @staticmethod
    def _index(index: Layer[K, tuple[SessionId, ...]], key: K, id: SessionId) -> None:
        index[key] = (*index.get(key, ()), id)

    @staticmethod
    def _unindex(index: Layer[K, tuple[SessionId, ...]], key: K, id: SessionId) -> None:
        rest = tuple(each for each in index.get(key, ()) if each != id)
        if rest:
            index[key] = rest
        else:
            del index[key]
