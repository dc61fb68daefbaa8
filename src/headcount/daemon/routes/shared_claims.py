"""Answer list, history and check of shared claims from the fleet's ledger, and describe holders on other hosts.

Rules
  1. A check of a shared claim always asks the ledger: another host's operator may just have ended it.
  2. Stale is final. A claim that its host does not vouch for now may be current again: the answer is
     "unavailable", never a guess.
  3. Without the database the list shows what this host's own processes hold as far as they know, and says so.
  4. Holders on other hosts are not looked up here: an id or a pid of another host means nothing on this one.
  5. What is said about such a holder is as old as its host's last report. A host that is away is named, with
     the time after which its claims are free.

Not here: commands (daemon/fleet/shared_claims.py), local claims (daemon/routes/claims.py), holders on this
  host (daemon/views/claim_row.py), reading the rows (store/).
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from headcount.clean_text import said
from headcount.core.values.claim import Claim
from headcount.core.values.item import BadItem, Item, is_shared, parse_item
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Standing
from headcount.daemon.api.route import Call
from headcount.daemon.views.claim_row import claim_row, holder_row, what_for
from headcount.daemon.views.session_row import holder_of, time_text
from headcount.daemon.views.timestamps import clock_text
from headcount.store.fleet_interface import SharedClaim, SharedEvent, SharedUnavailable
from headcount.wire.claims import CheckAnswer, ClaimAnswer, ClaimRow, Claims, Holder
from headcount.wire.events import ClaimHistory, EventRow

if TYPE_CHECKING:
    from headcount.daemon.fleet.while_joined import JoinedHost

NOT_VOUCHED = "its host has not been heard of for longer than its lease, so nobody vouches for it now"


async def with_shared(call: Call, local: Claims) -> Claims:
    if not call.parts.fleet.is_joined:
        return local
    own = [row for row in local.claims if not is_shared(Item(row.item))]
    try:
        held, waiting = await call.parts.fleet.member.ledger.held()
    except SharedUnavailable as fault:
        for row in local.claims:
            if is_shared(Item(row.item)):
                row.shared, row.vouched = True, False
        local.fleet = str(fault)
        return local
    local.claims = [*own, *(_row(call, each, waiting.get(each.claim.item, 0)) for each in held)]
    return local


def _row(call: Call, each: SharedClaim, waiting: int) -> ClaimRow:
    row = claim_row(each.claim, call.parts.loop.world)
    row.shared, row.vouched, row.waiting = True, each.vouched, waiting
    row.holder = _holder(call, each)
    if not each.vouched and each.free_in is not None:
        row.free_in_s = round(max(0.0, each.free_in), 3)
    return row


def _holder(call: Call, each: SharedClaim) -> Holder:
    if each.host == call.parts.fleet.member.host:
        return holder_row(each.claim, call.parts.loop.world)
    return holder_elsewhere(each)


async def history(call: Call, member: "JoinedHost", item: Item, limit: int) -> ClaimHistory:
    events = await member.ledger.history(item, limit)
    return ClaimHistory(item=item, history=[_event(each, member.name) for each in events])


def _event(event: SharedEvent, here: str) -> EventRow:
    holder = holder_of(event.claim, None)
    holder.here = event.claim.host in (None, here)
    return EventRow(
        seq=event.seq,
        at=time_text(event.at),
        type="claim.granted" if event.granted else "claim.released",
        item=event.claim.item,
        fence=event.claim.fence,
        holder=holder,
        because=event.because,
        by=event.by,
    )


async def claim_on(member: "JoinedHost", item: Item) -> Claim | None:
    """By the ledger's word, not by our mirror's."""
    found = (await member.ledger.read([item])).get(item)
    return found.claim if found is not None else None


async def elsewhere(call: Call, own: Sequence[ProcessIdentity], texts: Sequence[str]) -> list[Claim]:
    """Others' claims on other hosts, for a guard: without the database it lets pass, as a guard does."""
    fleet = call.parts.fleet
    items = [
        item
        for item in (parse_item(text, stored=True) for text in texts)
        if not isinstance(item, BadItem) and is_shared(item)
    ]
    if not fleet.is_joined or not items:
        return []
    try:
        member = fleet.member
        found = await member.ledger.read(items)
    except SharedUnavailable:
        return []
    claims = [each.claim for each in found.values() if each.host not in (None, member.host)]
    return [claim for claim in claims if not any(claim.is_held_by(process) for process in own)]


async def say_who(member: "JoinedHost", item: Item, told: ClaimAnswer) -> None:
    """A refusal names a holder on another host by what that host said of it."""
    try:
        found = (await member.ledger.read([item])).get(item)
    except SharedUnavailable:
        return
    if found is not None and found.host not in (None, member.host):
        told.holder, told.because = holder_elsewhere(found), sentence_elsewhere(found)
        told.note = found.claim.note


async def check(call: Call, member: "JoinedHost", item: Item, fence: int) -> CheckAnswer:
    member.lease.need()
    found = (await member.ledger.read([item])).get(item)
    if found is None or found.host is None:
        return CheckAnswer(item=item, current=False, fence=None, holder=None, because="Nobody holds it.")
    if found.claim.fence == fence and not found.vouched:
        raise SharedUnavailable(NOT_VOUCHED)
    current, because = _judged(call, member, found, fence)
    if current:
        member.lease.need()  # the answer may have been long on its way
    holder = _holder(call, found)
    return CheckAnswer(item=item, current=current, fence=found.claim.fence, holder=holder, because=because)


def _judged(call: Call, member: "JoinedHost", found: SharedClaim, fence: int) -> tuple[bool, str]:
    claim = found.claim
    if claim.fence != fence:
        return False, "It was granted again since."
    if found.host == member.host and claim.holder is not None:
        machine = call.parts.loop.world.machine_of(claim.holder.boot)
        if call.parts.processes.prove(claim.holder, machine).standing is Standing.DEAD:
            return False, "Its holder is dead."
    return True, "It is the current claim."


class _Told(msgspec.Struct):
    """Of a session's row, as its host shows it: what is needed here. Another version may say it otherwise."""

    name: str | None = None
    agent: str | None = None
    liveness: str | None = None
    activity: str | None = None


def holder_elsewhere(each: SharedClaim) -> Holder:
    claim, told = each.claim, _told(each)
    return Holder(
        session=claim.session,
        conversation=claim.conversation,
        pid=claim.holder.pid if claim.holder else None,
        name=told.name or told.agent,
        host=each.host_name or claim.host,
        here=False,
    )


def sentence_elsewhere(each: SharedClaim) -> str:
    host = said(each.host_name or each.claim.host or "another host")
    who = f"Held by {_who(each)} on {host}"
    since = f"since {clock_text(each.claim.since)}{what_for(each.claim)}"
    if each.vouched:
        told = _told(each)
        doing = ", ".join(word for word in (told.liveness, told.activity) if word)
        return f"{who}{f' ({doing})' if doing else ''} {since}."
    return f"{who} {since}. {away(each)}"


def away(each: SharedClaim) -> str:
    """Of a claim whose host is not heard of: a doubt, with its end."""
    host = said(each.host_name or each.claim.host or "Its host")
    heard = "" if each.age is None else f" for {math.ceil(each.age)} s"
    left = math.ceil(each.free_in) if each.free_in is not None else 0
    when = f"in {left} s" if left > 0 else "to whoever asks now"
    return f"{host} has not been heard of{heard}: it is free {when}, unless {host} comes back."


def _who(each: SharedClaim) -> str:
    claim, told = each.claim, _told(each)
    if claim.session is None:
        return f"process {claim.holder.pid}" if claim.holder else "nobody"
    name = told.name or told.agent
    return f"{claim.session[:4]} {said(name)}" if name else claim.session[:4]


def _told(each: SharedClaim) -> _Told:
    try:
        return msgspec.json.decode(each.told, type=_Told) if each.told else _Told()
    except msgspec.DecodeError:
        return _Told()
