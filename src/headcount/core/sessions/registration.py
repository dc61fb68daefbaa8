"""Registration: a session that is announced, by itself or by whoever launched it, and the taking back of that.

Rules
  1. An earlier entry of a conversation is replaced only in the same process or when its process is proven
     over. Otherwise the living one is named, and nothing changes, unless it is wanted anyway.
  2. What stronger evidence says a process hosts is not registered away.
  3. Taking a registration back ends no session: only its process does that.
  4. Name, role and groups belong to the process: they stay through a swap of its conversation.

Not here: whether the process lives and who may register it (daemon/routes/registration.py), tokens (daemon/).
"""

from headcount.core.state.world import Draft
from headcount.core.values.events import EventType
from headcount.core.values.evidence import Register, TurnedAway, Unregister
from headcount.core.values.process import Match, same_process
from headcount.core.values.session import (
    IN_A_LIVING_PROCESS,
    Changes,
    Ended,
    EndKind,
    Liveness,
    Registration,
    Session,
    SessionId,
    Turnpoint,
    after,
    traced,
)

BECAUSE = "registered, and its process lives"
BY = "registration"


def register(draft: Draft, asked: Register, now: float) -> SessionId | TurnedAway:
    hosts = draft.hosted(asked.process)
    named = [each for each in hosts if each.conversation == asked.conversation]
    host = next(reversed(named or hosts), None)
    away = _turned_away(draft, asked, host)
    if away is not None:
        return away
    unbound = _unbound(draft, asked)
    if unbound is not None and (host is None or host.conversation != asked.conversation):
        return _bind(draft, asked, unbound, host)
    if host is not None and _fits(host, asked):
        return _amend(draft, asked, host)
    return _begin(draft, asked, host)


def unregister(draft: Draft, asked: Unregister, now: float) -> SessionId | None:
    """None: it had no registration."""
    session: Session | None = draft.sessions.get(asked.session)
    if session is None or session.registration is None:
        return None
    name = None if session.registration.name else session.name
    draft.emit(
        EventType.SESSION_CHANGED, asked.at, session.id, registration=None, name=name, role=None, groups=()
    )
    return session.id


def carried(old: Session | None) -> Changes:
    """What the next session of the same process keeps of a registration."""
    if old is None or old.registration is None:
        return {}
    return given(old.registration)


def given(registration: Registration) -> Changes:
    fields: Changes = {
        "registration": registration,
        "role": registration.role,
        "groups": registration.groups,
    }
    return fields | ({"name": registration.name} if registration.name else {})


def _turned_away(draft: Draft, asked: Register, host: Session | None) -> TurnedAway | None:
    past = draft.of_process(asked.process)
    if host is None and past and past[-1].ended and past[-1].ended.kind not in IN_A_LIVING_PROCESS:
        return TurnedAway("dead-process", past[-1].id)
    if host is not None and not _fits(host, asked) and not _only_registered(host):
        return TurnedAway("hosts-another", host.id)
    rival = _living_elsewhere(draft, asked)
    return TurnedAway("alive-elsewhere", rival.id) if rival and not asked.anyway else None


def _living_elsewhere(draft: Draft, asked: Register) -> Session | None:
    if asked.conversation is None:
        return None
    for each in reversed(draft.of_conversation(asked.agent, asked.conversation)):
        if each.is_open and each.process and same_process(each.process, asked.process) is not Match.SAME:
            return each
    return None


def _fits(host: Session, asked: Register) -> bool:
    if host.agent != asked.agent:
        return False
    return asked.conversation is None or host.conversation in (None, asked.conversation)


def _only_registered(host: Session) -> bool:
    """Neither a hook nor the agent's own registry ever spoke of it."""
    return host.registration is not None and host.turned is None and host.status is None


def _unbound(draft: Draft, asked: Register) -> Session | None:
    if asked.conversation is None:
        return None
    known = draft.of_conversation(asked.agent, asked.conversation)
    return next((each for each in reversed(known) if each.is_open and each.process is None), None)


def _amend(draft: Draft, asked: Register, host: Session) -> SessionId:
    delta = given(asked.given)
    if host.conversation is None and asked.conversation is not None:
        known = draft.of_conversation(asked.agent, asked.conversation)
        delta |= {"conversation": asked.conversation, "predecessor": known[-1].id if known else None}
    draft.emit(EventType.SESSION_CHANGED, asked.given.at, host.id, **delta)
    return host.id


def _bind(draft: Draft, asked: Register, session: Session, host: Session | None) -> SessionId:
    """It was heard of before, without a process."""
    _supersede(draft, host, session.id, asked.given.at)
    draft.emit(
        EventType.SESSION_BOUND,
        asked.given.at,
        session.id,
        process=asked.process,
        bound_by=BY,
        hosted_at=asked.given.at,
        liveness=after(session, Turnpoint.BOUND),
        liveness_because=BECAUSE,
        liveness_at=asked.given.at,
        provisional=False,
        **given(asked.given),
    )
    return session.id


def _begin(draft: Draft, asked: Register, host: Session | None) -> SessionId:
    at = asked.given.at
    known = draft.of_conversation(asked.agent, asked.conversation) if asked.conversation else []
    parent = draft.current(asked.parent) if asked.parent else None
    session = draft.start(
        at,
        agent=asked.agent,
        conversation=asked.conversation,
        liveness=Liveness.ALIVE,
        liveness_because=BECAUSE,
        liveness_at=at,
        started_at=at,
        last_event_at=at,
        boot=draft.place.boot,
        process=asked.process,
        bound_by=BY,
        hosted_at=at,
        cwd=asked.cwd,
        **traced((), {"cwd": asked.cwd} if asked.cwd else {}, BY, at),
        parent=parent.id if parent else None,
        predecessor=known[-1].id if known else None,
        **given(asked.given),
    )
    _supersede(draft, host, session.id, at)
    return session.id


def _supersede(draft: Draft, host: Session | None, new: SessionId, at: float) -> None:
    if host is None:
        return
    draft.emit(
        EventType.SESSION_ENDED,
        at,
        host.id,
        liveness=after(host, Turnpoint.SUPERSEDED),
        liveness_because="its process registered another conversation",
        liveness_at=at,
        ended=Ended(at, EndKind.SUPERSEDED, f"continued as {new[:4]}", successor=new),
    )
