"""The fleet on the wire: who shares claims with this host, joining, leaving.

Rules
  1. An address comes in and never goes out again.
  2. A host whose lease ran out is `unknown`, and so are its sessions: only it can say that one is dead.

Not here: what joining does (daemon/fleet/membership.py), shared claims (shared_claims.py).
"""

import re
from typing import TYPE_CHECKING

import msgspec

from headcount.daemon.api.route import Call
from headcount.daemon.fleet.membership import JoinRefused, NotJoined
from headcount.daemon.http.request_checks import HttpRefusal, sentence
from headcount.daemon.views.session_row import time_text
from headcount.store.fleet_interface import Host, RosterRow, SharedUnavailable
from headcount.wire.fleet import FleetHost, FleetLeft, FleetSessions, FleetStatus, JoinWish, LeaveWish

if TYPE_CHECKING:
    from headcount.daemon.fleet.while_joined import JoinedHost

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
HINTS = {
    "held-here": "Give back each of them: headcount release ITEM --as SESSION. Who has it: headcount claims",
    "name-taken": "Take another: headcount fleet join ADDRESS --name N",
}
ADDRESSES = ("postgresql://", "postgres://")


async def status(call: Call) -> FleetStatus:
    fleet = call.parts.fleet
    if not fleet.is_joined:
        return FleetStatus(joined=False, database=None, name=None, vouched=False, fault=None, hosts=[])
    try:
        member = fleet.member
    except SharedUnavailable as fault:
        return FleetStatus(
            joined=True, database=fleet.where or None, name=None, vouched=False, fault=str(fault), hosts=[]
        )
    return await _status_of(call, member)


async def _status_of(call: Call, member: "JoinedHost") -> FleetStatus:
    fleet, fault = call.parts.fleet, None
    try:
        hosts = await _hosts(member)
    except SharedUnavailable as unavailable:
        fault = str(unavailable)
        hosts = [_host(each, member.host) for each in member.last_hosts()]
    vouched = member.lease.holds
    if not vouched:
        fault = fault or member.lease.fault or "the lease ran out"
    return FleetStatus(
        joined=True, database=fleet.where, name=member.name, vouched=vouched, fault=fault, hosts=hosts
    )


async def list_sessions(call: Call) -> FleetSessions:
    try:
        member = call.parts.fleet.member
    except NotJoined:
        raise _not_joined() from None
    rows = await member.people.sessions()
    return FleetSessions(sessions=[_session(row) for row in rows], hosts=await _hosts(member))


async def join(call: Call) -> FleetStatus:
    wish = call.body(JoinWish)
    if wish.name is not None and not NAME.fullmatch(wish.name):
        raise HttpRefusal(
            400,
            "bad-name",
            "A host's name is a word of letters, digits, dots and dashes, at most 64 of them.",
        )
    if not wish.address.startswith(ADDRESSES) or wish.address in ADDRESSES:
        raise HttpRefusal(
            400,
            "bad-address",
            "That is no address of a PostgreSQL.",
            "It looks so: postgresql://user@host/database",
        )
    try:
        await call.parts.fleet.join(wish.address, wish.name)
    except JoinRefused as refused:
        raise HttpRefusal(409, refused.code, str(refused), HINTS.get(refused.code)) from None
    except SharedUnavailable as fault:
        raise _not_reached(fault) from None
    return await status(call)


def _not_reached(fault: SharedUnavailable) -> HttpRefusal:
    """Of a join that came to nothing: there is no fleet yet whose status one could look at."""
    from headcount.store.postgres.address import BadAddress

    said = sentence(str(fault))
    if isinstance(fault, BadAddress):
        return HttpRefusal(400, "bad-address", said, "See: headcount fleet --help")
    return HttpRefusal(503, "fleet-unavailable", said, "Nothing was joined. Mend that, then join again.")


async def leave(call: Call) -> FleetLeft:
    wish = call.body(LeaveWish)
    try:
        freed, closed = await call.parts.fleet.leave(anyway=wish.anyway)
    except NotJoined:
        raise _not_joined() from None
    except SharedUnavailable as fault:
        raise HttpRefusal(
            503,
            "fleet-unavailable",
            f"The fleet cannot be told: {fault}.",
            "To leave without telling it: headcount fleet leave --anyway",
        ) from None
    return FleetLeft(left=True, freed=freed, closed=closed)


def _not_joined() -> HttpRefusal:
    return HttpRefusal(
        409, "not-joined", "This host has joined no fleet.", "Join one: headcount fleet join postgresql://…"
    )


async def _hosts(member: "JoinedHost") -> list[FleetHost]:
    return [_host(each, member.host) for each in await member.hosts()]


def _host(host: Host, here: str) -> FleetHost:
    return FleetHost(
        id=host.id,
        name=host.name,
        here=host.id == here,
        state="alive" if host.vouched else "unknown",
        seen_at=time_text(host.renewed_at),
        age_s=round(host.age, 3),
        sessions=host.sessions,
        claims=host.claims,
        version=host.version,
        epoch=host.epoch,
    )


def _session(row: RosterRow) -> dict[str, object]:
    session: dict[str, object] = msgspec.json.decode(row.body)
    if not row.vouched:
        session["liveness"] = "unknown"
    state = "alive" if row.vouched else "unknown"
    return {**session, "host": row.host_name, "host_state": state, "host_age_s": round(row.age, 3)}
