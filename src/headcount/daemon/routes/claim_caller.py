"""On whose behalf a call about claims acts.

Rules
  1. The caller is the actor: the agent above the socket's peer, the peer itself when it asks to hold (`own`), or the
     living session that the operator names (`--as`).
  2. Whoever asked to hold an item itself also gives it back itself.

Not here: who the actor is (daemon/identity/caller.py), what it may do (core/claims/ledger.py).
"""

from headcount.clean_text import said
from headcount.core.values.claim import Caller, CallerKind
from headcount.core.values.item import Item
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import Session
from headcount.daemon.api.route import Call
from headcount.daemon.api.session_selector import ended_words
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.identity.actor import ActorKind
from headcount.daemon.routes import shared_claims as shared

KINDS = {
    ActorKind.OPERATOR: CallerKind.OPERATOR,
    ActorKind.PAGE: CallerKind.OPERATOR,
    ActorKind.AGENT: CallerKind.AGENT,
    ActorKind.DESCENDANT: CallerKind.AGENT,
    ActorKind.NOBODY: CallerKind.NOBODY,
}


def caller_of(call: Call, acting_as: str | None = None, *, own: bool = False) -> Caller:
    """On whose behalf this call acts: the agent above, itself (`own`), or the session that the operator names."""
    actor = call.actor
    if acting_as is not None:
        call.for_people("--as")
        session = _living(call.select(acting_as))
        return Caller(session.process, session.id, CallerKind.OPERATOR)
    process = actor.caller if own else actor.process
    return Caller(process, actor.session, KINDS[actor.kind], _lineage(call))


def _living(session: Session) -> Session:
    """One that can hold something. An ended one has no process to hold it with, and never will have."""
    who = f"{session.id[:4]} {said(session.name or session.agent)}"
    if session.ended is not None:
        hint = "Claims are held by living sessions. Those are: headcount ps"
        raise HttpRefusal(410, "session-ended", f"{who} {ended_words(session)}.", hint)
    if session.process is None:
        hint = "See why: headcount explain " + session.id[:4]
        raise HttpRefusal(
            409, "no-process", f"The process of {who} is not known, so it can hold nothing.", hint
        )
    return session


def _lineage(call: Call) -> tuple[ProcessIdentity, ...]:
    """Every process above the caller, agents or not: `hold` is none, and what it runs works under its claim."""
    return (*call.seen.identities, *call.actor.above)


async def holding_caller(call: Call, item: Item) -> Caller:
    """Whoever asked to hold it itself also gives it back itself."""
    member = call.parts.fleet.member_of(item)
    if member is None:
        claim = call.parts.loop.world.book.claims.get(item)
    else:
        claim = await shared.claim_on(member, item)
    own = claim is not None and claim.is_held_by(call.actor.caller)
    return caller_of(call, call.text("as"), own=own)
