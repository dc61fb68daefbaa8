"""The ledger as a client speaks to it: ask for an item, give it back, check a fence.

Rules of this file
  1. Asking carries a request id, so that a call cut off by a restart of the daemon is asked again without harm.
  2. A refusal is an answer: the same fields with `granted` false. A fault is an exception.
  3. A relative path means the caller's directory: the daemon stands in `/`.
  4. Imports next to nothing: `headcount claim` may cost no more than `headcount ps`.

Not here: who gets what (the daemon decides), words for people (cli/), typed results (api.py).
"""

import os
from typing import Any

from headcount import times
from headcount.client.faults import refusal
from headcount.client.reach import Client, quoted

CLAIMS = "/v1/claims"
REQUEST_BYTES = 16


def new_request() -> str:
    return os.urandom(REQUEST_BYTES).hex()


def item_here(item: str, directory: str | None = None) -> str:
    """The item with a relative path made absolute from the caller's directory; others as they are."""
    kind, colon, value = item.partition(":")
    if kind != "path" or not colon or not value or value.startswith("/"):
        return item
    tail = "/**" if value.endswith("/**") or value == "**" else ""
    inside = value.removesuffix("**").rstrip("/") if tail else value
    here = directory or os.getcwd()  # noqa: PTH109
    return f"path:{os.path.normpath(os.path.join(here, inside or '.'))}{tail}"  # noqa: PTH118


def acquire(
    client: Client,
    item: str,
    *,
    request: str | None = None,
    wait: float = 0.0,
    note: str | None = None,
    acting_as: str | None = None,
    until_empty: bool = False,
    own: bool = False,
) -> dict[str, Any]:
    """The answer, granted or not. `own`: the calling process itself is the holder, not the agent above it."""
    given = {
        "item": item_here(item),
        "request": request or new_request(),
        "note": note,
        "wait": wait or None,
        "as": acting_as,
        "until_empty": until_empty or None,
        "own": own or None,
    }
    body = {name: value for name, value in given.items() if value is not None}
    answer = client.answer("POST", CLAIMS, body, within=wait + times.CALL_WITHIN, again=True)
    if answer.status == 409 and isinstance(answer.data, dict) and "granted" in answer.data:
        return answer.data
    return _good(answer.status, answer.data)


def release(
    client: Client,
    item: str,
    *,
    fence: int | None = None,
    force: bool = False,
    acting_as: str | None = None,
) -> dict[str, Any]:
    words = [f"fence={fence}"] if fence is not None else []
    words += ["force=1"] if force else []
    words += [f"as={quoted(acting_as)}"] if acting_as else []
    query = f"?{'&'.join(words)}" if words else ""
    answer = client.answer("DELETE", f"{CLAIMS}/{quoted(item_here(item))}{query}")
    return _good(answer.status, answer.data)


def check(client: Client, item: str, fence: int) -> dict[str, Any]:
    """Whether that fence is the current one; asking changes nothing, so it may be asked twice."""
    path = f"{CLAIMS}/{quoted(item_here(item))}/check"
    answer = client.answer("POST", path, {"fence": fence}, again=True)
    if answer.status == 409 and isinstance(answer.data, dict) and "current" in answer.data:
        return answer.data
    return _good(answer.status, answer.data)


def hand_off(client: Client, item: str, to: str, *, fence: int | None = None) -> dict[str, Any]:
    body = {"to": to} | ({"fence": fence} if fence is not None else {})
    return _good(*client.answer("POST", f"{CLAIMS}/{quoted(item_here(item))}/handoff", body)[::2])


def held(client: Client, history: str | None = None) -> dict[str, Any]:
    """All claims that are held; with `history`: what became of one item."""
    query = f"?history={quoted(item_here(history))}" if history else ""
    found = client.get(f"{CLAIMS}{query}")
    assert isinstance(found, dict)
    return found


def who_am_i(client: Client, *, explain: bool = False) -> dict[str, Any]:
    found = client.get("/v1/sessions/me?explain=1" if explain else "/v1/sessions/me")
    assert isinstance(found, dict)
    return found


def _good(status: int, data: Any) -> dict[str, Any]:
    if status >= 400:
        raise refusal(status, data)
    return data if isinstance(data, dict) else {}
