"""Holders on other hosts: who they are, as their own host said last, and until when that counts.

Rules of this file
  1. Nothing about them is looked up here: an id or a pid of another host says nothing in our world.
  2. What is said of them is as old as their host's last word. A host that is away is named, with the time after which
     its claims are free.

Not here: holders of this host (daemon/views/claim_row.py), reading the rows (store/).
"""

import math

import msgspec

from headcount.daemon.views.claim_row import what_for
from headcount.daemon.views.timestamps import clock_text
from headcount.present.clean_text import said
from headcount.store.shared_interface import SharedClaim
from headcount.wire.claims import Holder


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
