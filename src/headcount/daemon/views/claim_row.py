"""Claims on the wire: rows and answers, with the sentence that says why.

Rules
  1. A refusal tells who is in the way and what they are doing; it never suggests releasing.
  2. Names, labels and notes are the holder's own text: quoted, by clean_text.py.
  3. A fence is shown to whoever was granted it, and in the list; not to whoever was refused.

Not here: deciding (core/claims/ledger.py), sessions and events (session_row.py), words of the command line (cli/).
"""

from headcount.clean_text import ITEM_MOST, clean, in_quotes, said
from headcount.core.state.claims import ClaimsDraft
from headcount.core.state.world import World
from headcount.core.values.claim import Claim, ClaimRefused, Granted, Held
from headcount.core.values.item import Item
from headcount.core.values.session import Session
from headcount.daemon.views.session_row import LIVENESS_WORDS, holder_of, hosted_by, time_text
from headcount.daemon.views.timestamps import clock_text
from headcount.wire.claims import ClaimAnswer, ClaimRow, Holder


def holder_row(claim: Claim, world: World) -> Holder:
    row = holder_of(claim, hosted_by(claim, world))
    row.here = claim.host is None or claim.host == world.known_as
    return row


def claim_row(claim: Claim, world: World) -> ClaimRow:
    return ClaimRow(
        item=claim.item,
        fence=claim.fence,
        holder=holder_row(claim, world),
        since=time_text(claim.since),
        note=claim.note,
        waiting=len(ClaimsDraft(world.book).waiters_of(claim.item)),
    )


def granted(answer: Granted, item: Item, world: World) -> ClaimAnswer:
    claim = answer.claim
    code, because = _how(answer)
    return ClaimAnswer(
        item=item,
        granted=True,
        fence=claim.fence,
        holder=holder_row(claim, world),
        because=because,
        code=code,
        since=time_text(claim.since),
        under=_above(claim, world) if answer.under else None,
        still_running=list(answer.still_running),
        held_item=claim.item if claim.item != item else None,
        ahead=0,
    )


def handed(answer: Granted, item: Item, world: World) -> ClaimAnswer:
    """A handoff's answer goes to the giver, who holds it no longer."""
    told = granted(answer, item, world)
    told.because = (
        "It is theirs already." if answer.again else "It is theirs now; the number before is stale."
    )
    return told


def refused(answer: Held | ClaimRefused, item: Item, world: World) -> ClaimAnswer:
    claim = answer.claim if answer.claim is not None and answer.claim.is_held else None
    return ClaimAnswer(
        item=item,
        granted=False,
        fence=None,
        holder=holder_row(claim, world) if claim else None,
        because=answer.why if isinstance(answer, ClaimRefused) else _in_the_way(answer, claim, world),
        code="held" if isinstance(answer, Held) else answer.code,
        since=time_text(claim.since) if claim else None,
        under=None,
        still_running=[],
        held_item=claim.item if claim and claim.item != item else None,
        ahead=answer.ahead if isinstance(answer, Held) else 0,
        note=claim.note if claim else None,
    )


def _in_the_way(answer: Held, claim: Claim | None, world: World) -> str:
    if claim is not None or answer.first is None:
        return held_sentence(claim, world)
    first = answer.first
    session = world.sessions.get(first.session) if first.session else None
    who = _called(session) if session else f"process {first.process.pid}"
    return (
        f"Nobody holds it, but {who}{_doing(session)} came first and waits for {said(first.item, ITEM_MOST)}."
    )


def held_sentence(claim: Claim | None, world: World) -> str:
    if claim is None:
        return "Others wait for it already."
    session = hosted_by(claim, world)
    since = clock_text(claim.since)
    return f"Held by {_name(claim, session)}{_doing(session)} since {since}{what_for(claim)}."


def what_for(claim: Claim) -> str:
    """`, for "login form"`, where the holder said it."""
    return f", for {in_quotes(claim.note)}" if clean(claim.note).strip() else ""


def _how(answer: Granted) -> tuple[str, str]:
    if answer.under:
        return "under", "The agent above you holds it: work under its claim. Only it releases."
    if answer.again and not answer.retold:
        return "again", "You hold it already."
    return "granted", "It is yours until you release it or your process ends."


def _above(claim: Claim, world: World) -> str:
    holder = holder_row(claim, world)
    return holder.session or f"pid {holder.pid}"


def _name(claim: Claim, session: Session | None) -> str:
    if session is None and claim.session is not None and claim.host is not None:
        return f"{claim.session[:4]} on {claim.host}"
    if session is None:
        return f"process {claim.holder.pid}" if claim.holder else "nobody"
    return _called(session)


def _called(session: Session) -> str:
    return f"{session.id[:4]} {said(session.name or session.agent)}"


def _doing(session: Session | None) -> str:
    if session is None:
        return ""
    activity = session.activity
    label = f": {said(activity.label)}" if activity.label else ""
    return f" ({LIVENESS_WORDS[session.liveness]}, {activity.doing.value}{label})"
