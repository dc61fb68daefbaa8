"""The world: every session, claim and leftover that is remembered, and the draft on which a batch is decided.

Rules
  1. The world holds what is stored and nothing else. A batch is decided on a draft above it; the
     draft becomes the world only after its events were committed.
  2. Indices are derived from rows, here and only here.
  3. Nothing is deleted from a session's history by deciding; `drop` is retention's word.

Not here: what should happen (core/decide.py), storage (store/).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2s
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from headcount.core.state.claims import ClaimsDraft, ClaimsState, Entries
from headcount.core.state.leftovers import LeftoversDraft, LeftoversState
from headcount.core.state.overlay_map import OverlayMap, add_to, take_from
from headcount.core.state.recent_edits import RecentEdits, RecentEditsDraft
from headcount.core.values.claim import Claim, Freed
from headcount.core.values.events import Effect, Event, EventType, Watch, apply, apply_claim
from headcount.core.values.leftover import Leftover, LeftoverId
from headcount.core.values.process import BootAndNamespace, Match, ProcessIdentity, same_process
from headcount.core.values.session import ID_DIGITS, IN_A_LIVING_PROCESS, Liveness, Session, SessionId
from headcount.core.values.verdict import Proof, Verdict, dead, unknown

Verdicts = Mapping[ProcessIdentity, Verdict]
NOT_ASKED: Verdicts = MappingProxyType({})
NO_BOOTS: Mapping[str, str] = MappingProxyType({})
Conversation = tuple[str, str]  # agent, the agent's own id

UNPROVEN = (Liveness.UNBOUND, Liveness.LOST, Liveness.ENDED)
"""What a session without a process can be."""


class World:
    def __init__(
        self,
        place: BootAndNamespace,
        sessions: Iterable[Session] = (),
        seq: int = 0,
        book: ClaimsState | None = None,
        boots: Mapping[str, str] = NO_BOOTS,
        leftovers: Iterable[Leftover] = (),
    ) -> None:
        self.place = place
        self.known_as: str | None = None  # what this host is called in the fleet that it joined
        self._boots = boots  # of remembered sessions: on which machine each boot was
        self.book = book or ClaimsState()
        self.remains = LeftoversState(leftovers)
        self.seq = seq
        self.sessions: dict[SessionId, Session] = {}
        self.by_conversation: dict[Conversation, tuple[SessionId, ...]] = {}
        self.by_pid: dict[int, tuple[SessionId, ...]] = {}
        self.unproven: dict[Liveness, dict[SessionId, float]] = {each: {} for each in UNPROVEN}
        """Sessions without a process: when last heard. Whoever was lost or ended first stands first."""
        self.traces = RecentEdits()  # memory only
        draft = self.draft()
        for session in sorted(sessions, key=lambda each: (each.started_at, each.id)):
            draft.put(session)
        draft.settle()

    def draft(self, verdicts: Verdicts = NOT_ASKED, book: ClaimsState | None = None) -> "Draft":
        """`book`: another ledger than our own, on which claims are decided."""
        return Draft(self, verdicts, book)

    def machine_of(self, boot: str) -> str:
        """Where that boot was. One that nobody remembers was here."""
        return self._boots.get(boot, self.place.machine)

    def find_process(self, claimed: ProcessIdentity) -> ProcessIdentity | None:
        """That very incarnation among those that sessions were ever bound to."""
        for id in self.by_pid.get(claimed.pid, ()):
            process = self.sessions[id].process
            if process is not None and same_process(process, claimed) is Match.SAME:
                return process
        return None

    def open_sessions(self) -> Iterator[Session]:
        return (session for session in self.sessions.values() if session.is_open)


class Decision(Struct):
    """What a batch comes to. Nothing of it is true before `events` are committed."""

    events: list[Event] = field(default_factory=list)
    rows: dict[SessionId, Session] = field(default_factory=dict)
    dropped: list[SessionId] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    ledger: Entries = field(default_factory=Entries)
    leftovers: dict[LeftoverId, Leftover] = field(default_factory=dict)
    cleared: list[LeftoverId] = field(default_factory=list)  # leftovers that retention forgets

    @property
    def is_blank(self) -> bool:
        """Nothing of it needs to be stored."""
        return not (self.events or self.dropped or self.cleared) and self.ledger.is_blank


class Draft:
    """The world as it will be if the batch is committed."""

    def __init__(self, world: World, verdicts: Verdicts = NOT_ASKED, book: ClaimsState | None = None) -> None:
        self._world = world
        self._verdicts = verdicts
        self.unasked: set[ProcessIdentity] = set()  # on whom it turned, and nobody had asked
        self._over: list[ProcessIdentity] = []  # proved dead in this batch
        self.page = ClaimsDraft(world.book if book is None else book)
        self.remains = LeftoversDraft(world.remains)
        self.place = world.place
        self.traces = RecentEditsDraft(world.traces)
        self.seq = world.seq
        self.sessions = OverlayMap(world.sessions)
        self._by_conversation = OverlayMap(world.by_conversation)
        self._by_pid = OverlayMap(world.by_pid)
        self._own_book = book is None
        self.unproven = {liveness: OverlayMap(each) for liveness, each in world.unproven.items()}
        self.decision = self._blank()

    # --- reading -----------------------------------------------------------------------------------

    def of_conversation(self, agent: str, conversation: str) -> list[Session]:
        """All its sessions that are remembered, oldest first."""
        return [self.sessions[id] for id in self._by_conversation.get((agent, conversation), ())]

    def of_process(self, process: ProcessIdentity) -> list[Session]:
        """All sessions of that very incarnation, oldest first."""
        found = []
        for id in self._by_pid.get(process.pid, ()):
            session = self.sessions[id]
            if session.process is not None and same_process(session.process, process) is Match.SAME:
                found.append(session)
        return found

    def hosted(self, process: ProcessIdentity) -> list[Session]:
        """All sessions that the process hosts now, oldest first: one, unless they are beside each other."""
        return [each for each in self.of_process(process) if each.is_open]

    def current(self, process: ProcessIdentity) -> Session | None:
        """The session that the process hosts now; of several the one that opened last."""
        for session in reversed(self.of_process(process)):
            if session.is_open:
                return session
        return None

    def verdict(self, process: ProcessIdentity) -> Verdict:
        """Of one on whom the decision turns. Not asked is not known, and is asked for."""
        known = self.known(process)
        if known is None:
            self.unasked.add(process)
            return unknown("it was not asked")
        return known

    def known(self, process: ProcessIdentity) -> Verdict | None:
        """What was proved of it before the batch, or is known by now."""
        if any(same_process(each, process) is Match.SAME for each in self._over):
            return dead(Proof.EXITED, "its end was just told")
        past = self.of_process(process)
        if past and past[-1].ended is not None and past[-1].ended.kind not in IN_A_LIVING_PROCESS:
            return dead(Proof.EXITED, past[-1].ended.because)
        return self._verdicts.get(process)

    def left_by(self, claim: Claim) -> ProcessIdentity | None:
        """The dead process that had that claim last, as far as its session is remembered. None also when that session's
        process lives: then it was a program inside it, and what that one left nobody can tell."""
        found = self.sessions.get(claim.session) if claim.freed is Freed.DIED and claim.session else None
        session: Session | None = found
        if session is None or session.process is None or self.hosted(session.process):
            return None
        return session.process

    def is_over(self, boot: str) -> bool:
        """Whether this machine was restarted since. Of another machine's boots nothing can be said."""
        return boot != self.place.boot and self._world.machine_of(boot) == self.place.machine

    def holds(self, process: ProcessIdentity) -> int:
        """How many claims it holds here, also when another ledger decides."""
        book = self._world.book
        return len(self.page.held_by(process) if self._own_book else book.items_of(process))

    # --- changing ----------------------------------------------------------------------------------

    def start(self, at: float, **fields: Any) -> Session:
        seq = self.seq + 1
        key = f"{fields['agent']}|{fields.get('conversation')}|{self.place.machine}|{seq}|{at!r}"
        id = SessionId(blake2s(key.encode("utf-8", "replace"), digest_size=ID_DIGITS // 2).hexdigest())
        return self.emit(EventType.SESSION_STARTED, at, id, **fields)

    def emit(
        self,
        type: EventType,
        at: float,
        id: SessionId,
        *,
        facts: dict[str, object] | None = None,
        **delta: Any,
    ) -> Session:
        self.seq += 1
        event = Event(self.seq, at, type, id, delta, facts or {})
        before = self.sessions.get(id)
        session = apply(before, event)
        self.decision.events.append(event)
        self.put(session)
        if session.is_open and session.process is not None and (before is None or before.process is None):
            self.decision.effects.append(Watch(session.process))
        return session

    def emit_claim(self, type: EventType, at: float, claim: Claim, **facts: object) -> None:
        self.seq += 1
        event = Event(self.seq, at, type, claim.session, {}, facts, claim)
        self.decision.events.append(event)
        self.page.put(apply_claim(event))

    def emit_leftover(self, type: EventType, at: float, leftover: Leftover) -> None:
        self.seq += 1
        self.decision.events.append(Event(self.seq, at, type, leftover.session, leftover=leftover))
        self.remains.put(leftover)
        if leftover.is_there and leftover.process is not None:
            self.decision.effects.append(Watch(leftover.process))

    def reopen(self, process: ProcessIdentity) -> None:
        """What stayed closed because of what that dead process left may be open now: who waits is looked at."""
        for item in self.page.closed:
            claim = self.page.claims[item]
            left_by = self.left_by(claim)
            if left_by is not None and same_process(left_by, process) is Match.SAME:
                self.page.freed.append(item)
        self.page.freed += [each.asks.item for each in self.page.all_waiters() if each.asks.until_empty]

    def bury(self, process: ProcessIdentity) -> None:
        """From here on in this batch nothing is granted to it."""
        self._over.append(process)

    def tell(self, type: EventType, at: float, **facts: object) -> None:
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
                take_from(self._by_conversation, (before.agent, before.conversation), session.id)
            if session.conversation:
                add_to(self._by_conversation, (session.agent, session.conversation), session.id)
        if session.process and (before is None or before.process is None):
            add_to(self._by_pid, session.process.pid, session.id)
        if before is None or before.process is None:
            self._list_unproven(session)

    def _list_unproven(self, session: Session) -> None:
        for liveness, index in self.unproven.items():
            if session.process is None and session.liveness is liveness:
                index[session.id] = session.last_event_at
            elif session.id in index:
                del index[session.id]

    def drop(self, id: SessionId) -> None:
        session = self.sessions[id]
        for leftover in self.remains.of_session(id):
            self.remains.drop(leftover)
        del self.sessions[id]
        self.decision.rows.pop(id, None)
        self.decision.dropped.append(id)
        if session.conversation:
            take_from(self._by_conversation, (session.agent, session.conversation), id)
        if session.process:
            take_from(self._by_pid, session.process.pid, id)
        for index in self.unproven.values():
            index.pop(id, None)

    def settle(self) -> None:
        """The batch was committed: the draft is the world."""
        layers: tuple[OverlayMap[Any, Any], ...] = (self.sessions, self._by_conversation, self._by_pid)
        for layer in (*layers, *self.unproven.values()):
            layer.settle()
        self.page.settle()
        self.remains.settle()
        self.traces.settle()
        self._world.seq = self.seq
        self.decision = self._blank()

    def _blank(self) -> Decision:
        kept = self.remains
        return Decision(ledger=self.page.entries, leftovers=kept.written, cleared=kept.dropped)
