"""Requests about claims: ask for an item, give it back, check a fence, and withdraw an unanswered request.

Rules
  1. A request carries an id, so a call that a restart of the daemon cut off can be repeated without harm.
  2. A refusal is an answer: the same fields with `granted` false. A fault is an exception.
  3. A relative path is made absolute from the caller's directory, since the daemon works in `/`. `~` is the
     caller's home, which no shell expands behind a colon.
  4. This module imports next to nothing: `headcount claim` may cost no more than `headcount ps`.
  5. A caller that leaves without its answer (cancelled, interrupted, out of time) withdraws the request: the
     daemon gives back what it granted for it, and never grants that id afterwards.
  6. A withdrawal is sent at once, on its own connection, for at most GIVE_UP_WITHIN. If the daemon did not
     confirm it, any client of this process sends it again before it asks anything else: a later claim must not
     be answered with `again`.
  7. If the daemon refuses the withdrawal, or nobody listens, nothing was granted.

Not here: who gets what (core/claims/ledger.py), what a withdrawal does (core/claims/queue.py), words for
  people (present/holders.py), typed results (client/values.py).
"""

import os
import time
from collections.abc import Mapping
from typing import Any

from headcount import times
from headcount.client.daemon_access import DaemonAccess, quoted, reach
from headcount.client.faults import ClientFault, NotRunning, Refused, WrongCall, refusal
from headcount.client.transport.connection import Question, Response
from headcount.paths import Places

CLAIMS = "/v1/claims"
CHANCE_BYTES = 8

_unconfirmed: dict[tuple[int, str], dict[str, tuple[Mapping[str, str], Question]]] = {}
"""By process and socket, by request: a forked copy has its own, which is empty."""


def new_request() -> str:
    """Nobody else's, and begun with the time: those of one hour lie together in the store, which writes them as few pages."""
    return f"{time.time_ns():016x}{os.urandom(CHANCE_BYTES).hex()}"


def item_here(item: str, directory: str | None = None) -> str:
    """The item with a relative path made absolute from the caller's directory or home; others as they are."""
    kind, colon, value = item.partition(":")
    if kind != "path" or not colon or not value or value.startswith("/"):
        return item
    if value == "~" or value.startswith("~/"):
        value = os.path.expanduser(value)  # noqa: PTH111
    tail = "/**" if value.endswith("/**") or value == "**" else ""
    inside = value.removesuffix("**").rstrip("/") if tail else value
    try:
        here = directory or os.getcwd()  # noqa: PTH109
    except OSError:
        raise WrongCall(
            f"The directory you are in is gone, so {item} is nowhere.", "Write it from /"
        ) from None
    whole = os.path.join(here, inside or ".")  # noqa: PTH118
    # Behind a link `..` leads elsewhere: the daemon follows links, and then goes up.
    return f"path:{whole if '..' in inside.split('/') else os.path.normpath(whole)}{tail}"


def ask(client: DaemonAccess, question: Question) -> Any:
    if question.within > times.CALL_WITHIN:
        # it may outlive an upgrade in place, after which a module may lie elsewhere: import what a restart needs now
        import headcount.client.daemon_process  # noqa: F401
    answer = client.answer(
        question.method, question.path, question.body, within=question.within, again=question.again
    )
    return understood(answer)


def understood(answer: Response) -> Any:
    """The data of an answer, also of a refusal that is one; everything else is a fault."""
    data = answer.data
    if answer.status == 409 and isinstance(data, dict) and "granted" in data:
        return data
    if answer.status >= 400:
        raise refusal(answer.status, data)
    return data if isinstance(data, dict) else {}


def acquire(
    item: str,
    *,
    request: str | None = None,
    wait: float = 0.0,
    note: str | None = None,
    acting_as: str | None = None,
    until_empty: bool = False,
    own: bool = False,
) -> Question:
    """For an item. `own`: the calling process itself is the holder, not the agent above it."""
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
    return Question("POST", CLAIMS, body, min(wait, times.WAIT_MOST) + times.CALL_WITHIN, again=True)


def withdrawal(question: Question) -> Question:
    """Of a request for an item, by the same caller. It may come before the request does, and wins then too."""
    asked = question.body or {}
    words = [f"request={quoted(asked['request'])}", *(["own=1"] if asked.get("own") else [])]
    words += [f"as={quoted(asked['as'])}"] if asked.get("as") else []
    return Question("DELETE", f"{CLAIMS}/{quoted(asked['item'])}?{'&'.join(words)}", again=True)


def release(
    item: str, *, fence: int | None = None, force: bool = False, acting_as: str | None = None
) -> Question:
    words = [f"fence={fence}"] if fence is not None else []
    words += ["force=1"] if force else []
    words += [f"as={quoted(acting_as)}"] if acting_as else []
    query = f"?{'&'.join(words)}" if words else ""
    return Question("DELETE", f"{_of(item)}{query}", again=fence is not None)


def check(item: str, fence: int) -> Question:
    return Question("POST", f"{_of(item)}/check", {"fence": fence}, again=True)


def hand_off(item: str, to: str, *, fence: int | None = None, acting_as: str | None = None) -> Question:
    body: dict[str, object] = {"to": to} if fence is None else {"to": to, "fence": fence}
    query = f"?as={quoted(acting_as)}" if acting_as else ""
    return Question("POST", f"{_of(item)}/handoff{query}", body)


def held(history: str | None = None) -> Question:
    """All claims that are held; with `history`: what became of one item."""
    return Question("GET", f"{CLAIMS}?history={quoted(item_here(history))}" if history else CLAIMS)


def who_am_i(*, explain: bool = False) -> Question:
    return Question("GET", "/v1/sessions/me?explain=1" if explain else "/v1/sessions/me")


def _of(item: str) -> str:
    return f"{CLAIMS}/{quoted(item_here(item))}"


def is_unconfirmed(socket: str) -> bool:
    return bool(_unconfirmed) and bool(_unconfirmed.get((os.getpid(), socket)))


def note(env: Mapping[str, str], question: Question, fault: BaseException | None = None) -> bool:
    """Whether there is something to withdraw; `settle` sends it."""
    if isinstance(fault, NotRunning | WrongCall) or (isinstance(fault, Refused) and fault.status < 500):
        return False
    assert question.body is not None
    ours = _unconfirmed.setdefault((os.getpid(), Places.from_environ(env).socket), {})
    ours[question.body["request"]] = (env, withdrawal(question))
    return True


def retry_withdrawals(
    env: Mapping[str, str], *, autostart: bool = False, within: float = times.CALL_WITHIN
) -> None:
    """Sends what is not confirmed. Raises while the daemon cannot be asked."""
    ours = _unconfirmed.get((os.getpid(), Places.from_environ(env).socket), {})
    later: set[str] = set()  # not now: what else is asked need not wait for it
    while rest := [each for each in ours.copy().items() if each[0] not in later]:
        request, (whose, question) = rest[0]
        client = reach(whose, autostart=autostart)
        question.within = within
        try:
            ask(client, question)
        except Refused as refused:
            if refused.status >= 500:
                later.add(request)
                continue
        finally:
            client.close()
        ours.pop(request, None)


def give_up(env: Mapping[str, str], question: Question, fault: BaseException | None = None) -> None:
    """With the fault that a caller gets instead of its answer, or at the end of a block that was told `again`."""
    if note(env, question, fault):
        try_now(env)


def try_now(env: Mapping[str, str]) -> None:
    try:
        retry_withdrawals(env, within=times.GIVE_UP_WITHIN)
    except ClientFault:
        return  # before the next question, then
