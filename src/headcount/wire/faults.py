"""The codes of refusals and faults, and the HTTP statuses each comes with.

Rules
  1. A code is given once and never changes its meaning. A new refusal is a new line here, or tests/rules/test_refusals.py
     fails; the OpenAPI document and docs/protocol.md are made from this table.
  2. Imports nothing.

Not here: exit codes of the command line (exit_codes.py), the words of a refusal (where it is made).
"""

from typing import Final

import msgspec

REFUSALS: Final[dict[str, tuple[int, ...]]] = {
    "alive-elsewhere": (409,),
    "ambiguous": (400,),
    "bad-address": (400,),
    "bad-agent": (400,),
    "bad-body": (400,),
    "bad-code": (401,),
    "bad-conversation": (400,),
    "bad-item": (400,),
    "bad-label": (400,),
    "bad-name": (400,),
    "bad-parameter": (400,),
    "bad-pid": (400,),
    "bug": (500,),
    "dead": (409,),
    "dead-process": (409,),
    "ended": (409, 410),
    "fleet-unavailable": (503,),
    "foreign-origin": (403,),
    "head-too-large": (431,),
    "held-here": (409,),
    "hosts-another": (409,),
    "hung-up": (408,),
    "joined": (409,),
    "loss-not-accepted": (409,),
    "name-taken": (409,),
    "no-driver": (409,),
    "no-port": (503,),
    "no-process": (409,),
    "no-such-agent": (404,),
    "no-such-heir": (409,),
    "no-such-leftover": (404,),
    "no-such-route": (404,),
    "no-such-session": (404,),
    "not-alone": (409,),
    "not-an-agent": (403, 404, 409),
    "not-ended": (409,),
    "not-held": (404,),
    "not-http": (400,),
    "not-joined": (409,),
    "not-json": (415,),
    "not-logged-in": (401,),
    "not-readable": (503,),
    "not-resumable": (409,),
    "not-searched-for": (400,),
    "not-stored": (503,),
    "not-this-hosts": (409,),
    "not-verified": (403,),
    "not-you": (403,),
    "not-yours": (403, 409),
    "nothing-to-peek": (404,),
    "operator-only": (403,),
    "overlaps": (409,),
    "path-hangs": (503,),
    "request-over": (409,),
    "request-reused": (409,),
    "request-withdrawn": (409,),
    "session-ended": (410,),
    "stale": (409,),
    "still-running": (409,),
    "too-large": (413,),
    "too-long": (400,),
    "too-many": (429,),
    "too-many-claims": (409,),
    "unreadable": (400,),
    "unverified": (409,),
    "weak-identity": (400,),
    "wrong-host": (421,),
    "wrong-method": (405,),
}


class Fault(msgspec.Struct, kw_only=True):
    code: str
    message: str
    hint: str | None = None


class FaultBody(msgspec.Struct, kw_only=True):
    error: Fault
