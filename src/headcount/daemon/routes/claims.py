"""Routes about claims: ask for an item, give it back, check it, hand it off, list.

Rules
  1. A command goes through the loop and is answered from what was committed. A refusal is a 409 whose body
     says who and why. A grant is a 200 that is on the disk.
  2. The caller is the agent above the socket's peer, or the peer itself when it asks to hold.
  3. Links in a path are followed here, with a time limit, before the core sees the path. A path is refused if
     its file system hangs, because a claim by another name would keep nobody off, or if it leads the caller to
     another file than the daemon (system/mount_namespaces.py).
  4. A held item is given back and checked by its stored name.
  5. A caller that disconnects while waiting gives up its place. One that disconnects before it read the answer
     gives up what was granted. Of several requests sent ahead that is the last one answered: the kernel says
     that something was not read, but not how much.

Not here: who gets what (core/claims/ledger.py), words and rows (daemon/views/claim_row.py), shared claims
  (daemon/routes/shared_claims.py).
"""

import os
from collections.abc import Coroutine
from functools import partial
from itertools import count
from typing import Protocol

from headcount.bounded_thread import Late
from headcount.clean_text import ITEM_MOST, said
from headcount.core.values.claim import (
    Accepted,
    AcceptLoss,
    Acquire,
    Answer,
    Caller,
    Claim,
    ClaimRefused,
    Granted,
    HandOff,
    Held,
    Release,
    Released,
    Withdraw,
)
from headcount.core.values.item import TREE, BadItem, Item, covers, is_path, overlaps, parse_item
from headcount.core.values.verdict import Standing
from headcount.daemon.api.route import Call
from headcount.daemon.http.answer import json_answer
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.identity.caller_ancestry import host_of
from headcount.daemon.routes import shared_claims as shared
from headcount.daemon.routes.claim_caller import KINDS, caller_of, holding_caller
from headcount.daemon.views.claim_row import claim_row, granted, handed, held_sentence, holder_row, refused
from headcount.daemon.views.session_row import event_row
from headcount.system.mount_namespaces import is_ours, ourselves
from headcount.times import LOOK_WITHIN, WAIT_MOST
from headcount.wire.claims import (
    CheckAnswer,
    Claims,
    ClaimWish,
    FenceCheck,
    HandOffWish,
    Holder,
    LossAccepted,
    ReleaseAnswer,
)
from headcount.wire.events import ClaimHistory

_UNNAMED, _NUMBERS = os.urandom(8).hex(), count()
"""Requests that nobody named, so that nobody can repeat them, must only differ from all others."""

HISTORY_MOST = 1000
NOTE_MOST = 500
REQUEST_MOST = 128
HINT = "To work under a claim yourself: headcount hold ITEM -- CMD. To act for a session: --as SESSION"
OWN_UNTIL_EMPTY = (
    "until_empty goes with a session's claim. With own this process holds, and it is no session: what it leaves carries no"
    " mark of it, so nobody could tell when nothing of it runs."
)
OF_EACH_PROCESS = ("path:/proc/", "path:/dev/fd/")
NOT_THIS_HOSTS = "is not the same file for you as on the host, or could not be compared"
BY_THE_HOSTS_NAME = (
    "A path is claimed by a name that means the same file inside your sandbox or container and on the host. Mount it"
    " there under the same name, claim it from outside, or claim a task: instead."
)
OWN_HINT = "Inside an agent ask without own: its session holds. Or make the program a session: headcount launch -- CMD"


class Ledger(Protocol):
    """The loop and the fleet's claims alike."""

    def command(
        self, command: Acquire | Release | HandOff | Withdraw
    ) -> Coroutine[object, object, Answer]: ...
    def put(self, evidence: Withdraw, /) -> None: ...


async def list_claims(call: Call) -> Claims | ClaimHistory:
    world = call.parts.loop.world
    wanted = call.text("history")
    if wanted is None:
        held = sorted(world.book.holding(), key=lambda claim: (claim.since, claim.item))
        local = Claims(claims=[claim_row(claim, world) for claim in held], loss=world.book.loss)
        return await shared.with_shared(call, local)
    item = await _item(call, wanted, stored=True)
    if (member := call.parts.fleet.member_of(item)) is not None:
        return await shared.history(call, member, item, HISTORY_MOST)
    events = await call.parts.store.history(item=item, limit=HISTORY_MOST, newest=True)
    return ClaimHistory(item=item, history=[event_row(event, world) for event in events])


async def acquire(call: Call) -> object:
    wish = call.body(ClaimWish)
    caller = caller_of(call, wish.as_, own=wish.own)
    before = _claim_on(call, parse_item(wish.item, stored=True))  # which its holder may ask for once more
    item = await _item(call, wish.item, stored=before is not None and before.is_held_by(caller.process))
    request = wish.request or f"{_UNNAMED}-{next(_NUMBERS):x}"
    _check_size("note", wish.note or "", NOTE_MOST)
    _check_size("request", request, REQUEST_MOST)
    if caller.process is None:
        raise HttpRefusal(403, "not-an-agent", "You are inside no agent that headcount knows.", HINT)
    if wish.own and wish.until_empty and host_of(call.parts.loop.world, caller.process) is None:
        raise HttpRefusal(400, "not-searched-for", OWN_UNTIL_EMPTY, OWN_HINT)
    until = _wait_until(call, wish.wait)
    command = Acquire(item, caller, request, wish.note, until, wish.until_empty)
    ledger = _ledger(call, item)
    if until is not None:
        answer = await call.listened(ledger.command(command))
    else:
        answer = await ledger.command(command)
    if isinstance(answer, Granted) and not answer.retold:
        call.request.line.unread = partial(ledger.put, Withdraw(request, item))
    return await _told(call, answer, item)


async def release(call: Call) -> ReleaseAnswer:
    item, command = await _given_back(call)
    answer = await _ledger(call, item).command(command)
    if isinstance(answer, Released):
        return ReleaseAnswer(
            item=item,
            released=True,
            fence=answer.claim.fence,
            because=answer.because.value,
            again=answer.again,
            host=None if answer.claim.host == call.parts.loop.world.known_as else answer.claim.host,
            next=_next(call, answer.claim),
            holder=holder_row(answer.claim, call.parts.loop.world) if _is_for_another(call) else None,
        )
    if isinstance(answer, Accepted):
        return ReleaseAnswer(item=item, released=False, fence=None, because="withdrawn", again=False)
    raise _fault(call, answer)


async def _given_back(call: Call) -> tuple[Item, Release | Withdraw]:
    request, fence = call.text("request"), call.number("fence", -1)
    if request is not None:  # granted, waiting or not here yet; its path is not looked at, which may hang
        item = _parsed(call.path("item"), stored=True)
        _check_size("request", request, REQUEST_MOST)
        return item, Withdraw(request, item, caller_of(call, call.text("as"), own=call.flag("own")))
    item = await _item_of_a_claim(call)
    caller = await holding_caller(call, item)
    return item, Release(item, caller, None if fence < 0 else fence, call.flag("force"))


def _check_size(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise HttpRefusal(400, "too-long", f"A {what} has at most {most} characters.")


def _is_for_another(call: Call) -> bool:
    return call.flag("force") or call.text("as") is not None


def _next(call: Call, was: Claim) -> Holder | None:
    """Whoever was first in line has it in the same moment, and it was not free at all."""
    now = call.parts.loop.world.book.claims.get(was.item)
    if now is None or not now.is_held or now.fence == was.fence:
        return None
    return holder_row(now, call.parts.loop.world)


async def check(call: Call) -> CheckAnswer:
    """Current is what is held with that fence, by a process that is not proved dead at this moment; and all of it:
    the fence of a file says nothing of the tree that it lies in."""
    given = call.body(FenceCheck)
    item = await _item_of_a_claim(call)
    if (member := call.parts.fleet.member_of(item)) is not None:
        return await shared.check(call, member, item, given.fence)
    parts, world = call.parts, call.parts.loop.world
    held = [claim for claim in world.book.holding() if overlaps(claim.item, item)]
    claim = next((each for each in held if each.fence == given.fence), held[0] if held else None)
    lost = given.fence < parts.store.loaded.born
    if claim is None or claim.holder is None:
        because = "It was granted before the store was lost." if lost else "Nobody holds it."
        return CheckAnswer(item=item, current=False, fence=None, holder=None, because=because, lost=lost)
    verdict = parts.processes.prove(claim.holder, world.machine_of(claim.holder.boot))
    is_it = claim.fence == given.fence and covers(claim.item, item)
    current = is_it and verdict.standing is not Standing.DEAD
    because = "It is the current claim." if current else "It was granted again since, or its holder is dead."
    if claim.fence == given.fence and not is_it:
        because = f"That claim is of {said(claim.item, ITEM_MOST)} alone."
    return CheckAnswer(
        item=item,
        current=current,
        fence=claim.fence,
        holder=holder_row(claim, world),
        because=because,
        lost=lost,
    )


async def hand_off(call: Call) -> object:
    wish = call.body(HandOffWish)
    item = await _item_of_a_claim(call)
    to = call.select(wish.to)
    caller = await holding_caller(call, item)
    answer = await _ledger(call, item).command(HandOff(item, to.id, caller, wish.fence))
    if isinstance(answer, Granted):
        return handed(answer, item, call.parts.loop.world)
    raise _fault(call, answer)


async def accept_loss(call: Call) -> LossAccepted:
    loss = call.parts.loop.world.book.loss
    answer = await call.parts.loop.command(AcceptLoss(Caller(None, kind=KINDS[call.actor.kind])))
    if isinstance(answer, ClaimRefused):
        raise _fault(call, answer)
    return LossAccepted(accepted=True, loss=loss)


def _ledger(call: Call, item: Item) -> "Ledger":
    """Who decides about it: the fleet's ledger for what is shared, else our own."""
    member = call.parts.fleet.member_of(item)
    return call.parts.loop if member is None else member.claims


# --- what is asked ---------------------------------------------------------------------------------


async def _item(call: Call, text: str, *, stored: bool = False) -> Item:
    item = _parsed(text, stored=stored)
    if not is_path(item):
        return item
    tail = TREE if item.endswith(TREE) else ""
    # As it was typed: behind a link `..` leads elsewhere, and a name may be written in another form on the disk.
    path = text.partition(":")[2].strip().removesuffix(TREE) or "/"
    if item.startswith(OF_EACH_PROCESS) and not stored:
        raise HttpRefusal(400, "bad-item", f"{path} is another file for each process. Name the file itself.")
    caller = ourselves() if call.loopback else (await call.who()).caller
    try:
        real = await call.parts.worktrees.spaces.real_path(caller, path, LOOK_WITHIN)
    except Late:
        raise HttpRefusal(
            503,
            "path-hangs",
            f"The file system of {path} did not answer within {LOOK_WITHIN:.0f} s.",
            "Nothing was claimed or released. Is a network mount away? Other items are not touched by it.",
        ) from None
    if not is_ours(real):
        raise HttpRefusal(409, "not-this-hosts", f"{path} {NOT_THIS_HOSTS} ({real}).", BY_THE_HOSTS_NAME)
    return _parsed(f"path:{real}{tail}")


async def _item_of_a_claim(call: Call) -> Item:
    """A link that was moved since must not hide the claim that was made through it."""
    lexical = _parsed(call.path("item"), stored=True)
    claim = _claim_on(call, lexical)
    is_held = claim is not None and claim.is_held
    return lexical if is_held else await _item(call, call.path("item"), stored=True)


def _claim_on(call: Call, item: Item | BadItem) -> Claim | None:
    return None if isinstance(item, BadItem) else call.parts.loop.world.book.claims.get(item)


def _parsed(text: str, *, stored: bool = False) -> Item:
    item = parse_item(text, stored=stored)
    if isinstance(item, BadItem):
        raise HttpRefusal(400, "bad-item", item.sentence)
    return item


def _wait_until(call: Call, wait: float | None) -> float | None:
    if wait is None or wait <= 0:
        return None
    return call.parts.clock.now() + min(wait, WAIT_MOST)


# --- answering -------------------------------------------------------------------------------------


async def _told(call: Call, answer: Answer, item: Item) -> object:
    world = call.parts.loop.world
    if isinstance(answer, Granted):
        return granted(answer, item, world)
    assert isinstance(answer, Held | ClaimRefused)
    told = refused(answer, item, world)
    if (member := call.parts.fleet.member_of(item)) is not None and isinstance(answer, Held):
        await shared.say_who(member, item, told)
    return json_answer(told, 409)


def _who_may(call: Call, claim: Claim) -> str:
    """An agent learns who holds it; a person also how to speak for the holder, by what the verb takes."""
    if call.actor.is_agent or claim.session is None:
        return "See: headcount claims"
    against = " Against it, on record: --force" if call.request.method == "DELETE" else ""
    return f"For its session: --as {claim.session[:4]}.{against}"


def _own_hold(call: Call, claim: Claim) -> HttpRefusal | None:
    """Of what a process holds that the calling agent started: it is the agent's, and yet not the agent's to give."""
    if claim.holder is None or not call.actor.is_agent or claim.session != call.actor.session:
        return None
    what = f"{said(claim.item, ITEM_MOST)} is held by pid {claim.holder.pid}, a process of your own (headcount hold)."
    return HttpRefusal(409, "not-yours", what, "It is free when that process ends: let it finish, or end it.")


def _fault(call: Call, answer: Answer) -> HttpRefusal:
    assert isinstance(answer, ClaimRefused)
    if answer.code == "not-yours" and answer.claim is not None:
        if (own := _own_hold(call, answer.claim)) is not None:
            return own
        held = held_sentence(answer.claim, call.parts.loop.world)
        return HttpRefusal(409, answer.code, f"{answer.why} {held}", _who_may(call, answer.claim))
    if answer.code == "stale" and answer.claim is not None:
        why = f"That is not the number of {said(answer.claim.item, ITEM_MOST)} now, which is {answer.claim.fence}."
        return HttpRefusal(409, answer.code, why, "See: headcount claims")
    if answer.code == "not-held":
        return HttpRefusal(404, "not-held", answer.why, "Who holds what: headcount claims")
    return HttpRefusal(403 if answer.code == "operator-only" else 409, answer.code, answer.why)
