"""Convert rows of the shared database to core values and back.

Rules
  1. A claim's fencing token is its column: the body was made before the number was given.
  2. Bodies are the local store's (store/codec.py): one form of a claim, wherever it is kept.

Not here: the statements (ledger.py, roster.py).
"""

import msgspec
from msgspec.structs import replace

from headcount.core.state.claims import AnsweredRequest
from headcount.core.values.claim import Acquire, Claim
from headcount.core.values.item import Item
from headcount.store.codec import decode_claim, decode_request, encode_claim, encode_request
from headcount.store.fleet_interface import Host, RosterRow, SharedClaim, SharedEvent
from headcount.store.postgres.connect import Row

_ASKS = msgspec.json.Decoder(Acquire)
_ENCODER = msgspec.json.Encoder()


def claim_text(claim: Claim) -> str:
    return encode_claim(claim).decode()


def claim_of(fence: int, body: str | None) -> Claim | None:
    return None if body is None else replace(decode_claim(body.encode()), fence=fence)


def request_text(request: AnsweredRequest) -> str:
    return encode_request(request).decode()


def request_of(body: str) -> AnsweredRequest:
    return decode_request(body.encode())


def asks_text(asks: Acquire) -> str:
    return _ENCODER.encode(asks).decode()


def asks_of(body: str) -> Acquire:
    return _ASKS.decode(body)


def shared_claims(rows: list[Row]) -> list[SharedClaim]:
    found = []
    for _, fence, host, body, *more in rows:
        claim = claim_of(fence, body)
        if claim is not None:
            found.append(SharedClaim(claim, host, *more))
    return found


def by_item(claims: list[SharedClaim]) -> dict[Item, SharedClaim]:
    return {each.claim.item: each for each in claims}


def host_of(row: Row) -> Host:
    return Host(*row)


def roster_row(row: Row) -> RosterRow:
    return RosterRow(*row)


def event_of(row: Row) -> SharedEvent:
    seq, at, host, granted, because, by, body = row
    return SharedEvent(seq, at, host, granted, because, by, decode_claim(body.encode()))
