"""Giving up: withdraw a request whose answer its caller will not get.

Rules of this file
  1. A caller that leaves without its answer (cancelled, interrupted, out of time) withdraws the request: the daemon
     gives back what it granted for it, and never grants that id afterwards.
  2. It is sent at once, on a connection of its own, for at most GIVE_UP_WITHIN. What the daemon did not confirm is sent
     again before this process asks anything else, by whichever client: a later claim must not be told `again`.
  3. A refusal by the daemon, or nobody listening, means that nothing was granted.

Not here: what the daemon does about it (core/claims/queue.py), the questions (requests.py).
"""

import os
from collections.abc import Mapping

from headcount import times
from headcount.client.daemon_access import reach
from headcount.client.faults import ClientFault, NotRunning, Refused, WrongCall
from headcount.client.requests import ask, withdrawal
from headcount.client.transport.connection import Question
from headcount.paths import Places

_unconfirmed: dict[tuple[int, str], dict[str, tuple[Mapping[str, str], Question]]] = {}
"""By process and socket, by request: a forked copy has its own, which is empty."""


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


def settle(env: Mapping[str, str], *, autostart: bool = False, within: float = times.CALL_WITHIN) -> None:
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
        settle(env, within=times.GIVE_UP_WITHIN)
    except ClientFault:
        return  # before the next question, then
