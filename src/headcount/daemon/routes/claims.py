"""Claims on the wire: ask, give back, check, hand off, list.

Rules of this file
  1. A command goes through the loop and is answered from what was committed. A refusal is a 409 whose
     body says who and why; a grant is a 200 that is on the disk.
  2. The caller is the actor: the agent above the socket's peer, or the peer itself when it asks to hold.
  3. Links in a path are followed here, in a thread, before the core sees it.
  4. Whoever closes the connection while waiting gives the place up.

Not here: who gets what (core/ledger.py), words and rows (claim_view.py).
"""

import asyncio
import os
import uuid
from typing import Any

from headcount.core.claim import Answer, Granted, Held, Released
from headcount.core.claim import Refused as NotGiven
from headcount.core.commands import AcceptLoss, Acquire, Caller, CallerKind, HandOff, Release
from headcount.core.identity import ProcessIdentity
from headcount.core.item import TREE, BadItem, Item, is_path, overlaps, parse_item
from headcount.core.verdict import Standing
from headcount.daemon.actor import Kind
from headcount.daemon.claim_view import claim_row, granted, held_sentence, holder_row, refused
from headcount.daemon.gate import Refused
from headcount.daemon.routes.route import Call, json_response
from headcount.daemon.view import event_row
from headcount.times import WAIT_MOST
from headcount.wire.messages import (
    CheckAnswer,
    ClaimHistory,
    Claims,
    ClaimWish,
    FenceCheck,
    HandOffWish,
    LossAccepted,
    ReleaseAnswer,
)

HISTORY_MOST = 1000
NOTE_MOST = 500
REQUEST_MOST = 128
HINT = "To work under a claim yourself: headcount hold ITEM -- CMD. To act for a session: --as SESSION"

KINDS = {
    Kind.OPERATOR: CallerKind.OPERATOR,
    Kind.PAGE: CallerKind.OPERATOR,
    Kind.AGENT: CallerKind.AGENT,
    Kind.DESCENDANT: CallerKind.AGENT,
    Kind.NOBODY: CallerKind.NOBODY,
}


async def list_claims(call: Call) -> Claims | ClaimHistory:
    world = call.service.loop.world
    wanted = call.text("history")
    if wanted is None:
        held = sorted(world.book.holding(), key=lambda claim: (claim.since, claim.item))
        return Claims(claims=[claim_row(claim, world) for claim in held], loss=world.book.loss)
    item = await _item(wanted)
    events = await call.service.store.history(item=item, limit=HISTORY_MOST, newest=True)
    return ClaimHistory(item=item, history=[event_row(event, world) for event in events])


async def acquire(call: Call) -> Any:
    wish = await call.body(ClaimWish)
    item = await _item(wish.item)
    request = wish.request or uuid.uuid4().hex
    for what, text, most in (("note", wish.note or "", NOTE_MOST), ("request", request, REQUEST_MOST)):
        if len(text) > most:
            raise Refused(400, "too-long", f"A {what} has at most {most} characters.")
    caller = caller_of(call, wish.as_, own=wish.own)
    if caller.process is None:
        raise Refused(403, "not-an-agent", "You are inside no agent that headcount knows.", HINT)
    until = _wait_until(call, wish.wait)
    command = Acquire(item, caller, request, wish.note, until, wish.until_empty)
    answer = await _listened(call, command) if until is not None else await call.service.loop.command(command)
    return _told(call, answer, item)


async def release(call: Call) -> ReleaseAnswer:
    item = await _item_of_a_claim(call)
    fence = call.number("fence", -1)
    caller = _holding_caller(call, item)
    answer = await call.service.loop.command(
        Release(item, caller, None if fence < 0 else fence, call.flag("force"))
    )
    if isinstance(answer, Released):
        return ReleaseAnswer(
            item=item,
            released=True,
            fence=answer.claim.fence,
            because=answer.because.value,
            again=answer.again,
        )
    raise _fault(call, answer)


async def check(call: Call) -> CheckAnswer:
    """Current is what is held with that fence, by a process that is not proved dead at this moment."""
    given = await call.body(FenceCheck)
    item = await _item_of_a_claim(call)
    service, world = call.service, call.service.loop.world
    held = [claim for claim in world.book.holding() if overlaps(claim.item, item)]
    claim = next((each for each in held if each.fence == given.fence), held[0] if held else None)
    if claim is None or claim.holder is None:
        return CheckAnswer(item=item, current=False, fence=None, holder=None, because="Nobody holds it.")
    verdict = service.processes.prove(claim.holder, world.machine_of(claim.holder.boot))
    current = claim.fence == given.fence and verdict.standing is not Standing.DEAD
    because = "It is the current claim." if current else "It was granted again since, or its holder is dead."
    return CheckAnswer(
        item=item, current=current, fence=claim.fence, holder=holder_row(claim, world), because=because
    )


async def hand_off(call: Call) -> Any:
    wish = await call.body(HandOffWish)
    item = await _item_of_a_claim(call)
    to = call.select(wish.to)
    caller = _holding_caller(call, item)
    answer = await call.service.loop.command(HandOff(item, to.id, caller, wish.fence))
    if isinstance(answer, Granted):
        return granted(answer, item, call.service.loop.world)
    raise _fault(call, answer)


async def accept_loss(call: Call) -> LossAccepted:
    loss = call.service.loop.world.book.loss
    answer = await call.service.loop.command(AcceptLoss(Caller(None, kind=KINDS[call.actor.kind])))
    if isinstance(answer, NotGiven):
        raise _fault(call, answer)
    return LossAccepted(accepted=True, loss=loss)


# --- who asks --------------------------------------------------------------------------------------


def caller_of(call: Call, acting_as: str | None = None, *, own: bool = False) -> Caller:
    """On whose behalf this call acts: the agent above, itself (`own`), or the session that the operator names."""
    actor = call.actor
    if acting_as is not None:
        call.for_people("--as")
        session = call.select(acting_as)
        return Caller(session.process, session.id, CallerKind.OPERATOR)
    process = actor.caller if own else actor.process
    return Caller(process, actor.session, KINDS[actor.kind], _lineage(call))


def _lineage(call: Call) -> tuple[ProcessIdentity, ...]:
    """Every process above the caller, agents or not: `hold` is none, and what it runs works under its claim."""
    chain = tuple(facts.identity for facts in call.request.scope["state"]["seen"].chain)
    return (*chain, *call.actor.above)


def _holding_caller(call: Call, item: Item) -> Caller:
    """Whoever asked to hold it itself also gives it back itself."""
    claim = call.service.loop.world.book.claims.get(item)
    own = claim is not None and claim.is_held_by(call.actor.caller)
    return caller_of(call, call.text("as"), own=own)


# --- what is asked ---------------------------------------------------------------------------------


async def _item(text: str) -> Item:
    item = _parsed(text)
    return _parsed(await asyncio.to_thread(_followed, item)) if is_path(item) else item


async def _item_of_a_claim(call: Call) -> Item:
    """A link that was moved since must not hide the claim that was made through it."""
    lexical = _parsed(call.path("item"))
    claims = call.service.loop.world.book.claims
    return lexical if lexical in claims and claims[lexical].is_held else await _item(lexical)


def _parsed(text: str) -> Item:
    item = parse_item(text)
    if isinstance(item, BadItem):
        raise Refused(400, "bad-item", item.sentence)
    return item


def _followed(item: Item) -> str:
    place = item.removeprefix("path:")
    tail = TREE if place.endswith(TREE) else ""
    return f"path:{os.path.realpath(place.removesuffix(TREE) or '/')}{tail}"


def _wait_until(call: Call, wait: float | None) -> float | None:
    if wait is None or wait <= 0:
        return None
    return call.service.clock.now() + min(wait, WAIT_MOST)


# --- answering -------------------------------------------------------------------------------------


async def _listened(call: Call, command: Acquire) -> Answer:
    """The answer, if somebody still listens for it when it comes."""
    answer = asyncio.ensure_future(call.service.loop.command(command))
    gone = asyncio.ensure_future(_hung_up(call))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise Refused(408, "hung-up", "The caller closed the connection while it waited.")
        return answer.result()
    finally:
        gone.cancel()
        answer.cancel()


async def _hung_up(call: Call) -> None:
    while (await call.request.receive())["type"] != "http.disconnect":
        pass


def _told(call: Call, answer: Answer, item: Item) -> Any:
    world = call.service.loop.world
    if isinstance(answer, Granted):
        return granted(answer, item, world)
    assert isinstance(answer, Held | NotGiven)
    return json_response(refused(answer, item, world), 409)


def _fault(call: Call, answer: Answer) -> Refused:
    assert isinstance(answer, NotGiven)
    if answer.code == "not-yours" and answer.claim is not None:
        held = held_sentence(answer.claim, call.service.loop.world)
        return Refused(409, answer.code, f"{answer.why} {held}", "See: headcount claims")
    status = {"not-held": 404, "operator-only": 403}.get(answer.code, 409)
    return Refused(status, answer.code, answer.why)
