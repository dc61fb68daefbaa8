"""Requests that several verbs share: who holds an item; ending processes, and asking a person first.

Rules
  1. A result is one sentence: who, what, what next (`7f3a auth-refactor (pid 41377) exited in 0.2 s.`).
  2. The exit code is a fault if a process survived or was refused.
  3. We wait for the answer as long as the daemon waits for the processes.
  4. A person at a terminal is asked before something ends that works or holds something. The question goes to
     stderr, so that --json on stdout stays one document. Off a terminal nobody is asked.

Not here: what is ended (the daemon verifies each), the arguments (commands/).
"""

import sys
from typing import TYPE_CHECKING, Any, TypedDict

from headcount import times
from headcount.clean_text import ITEM_MOST, clean, said, said_item
from headcount.cli.options import seconds
from headcount.client.daemon_access import DaemonAccess, quoted
from headcount.client.faults import ClientFault, refusal
from headcount.present import holders, session_words
from headcount.present.holders import is_elsewhere, name_of, since, state_of, waiting, what_for
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.wire.views import ClaimAnswer, Holder, SessionRow, Signalled

CLAIMS_SHOWN = 5


class EndingWish(TypedDict, total=False):
    """What stop, close and reap may ask for."""

    kill_after: float | None
    all: bool
    close_window: bool
    yes: bool
    sessions: list[str]
    pids: list[int]
    ids: list[str]
    kind: str | None


class NotAgreed(ClientFault):
    exit_code = exit_codes.REFUSED

    def __init__(self) -> None:
        super().__init__("Nothing was done: the answer was no.", "Without the question: --yes")


def add_yes(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask, although it works or holds something")


def agreed(client: DaemonAccess, session: str, verb: str, *, yes: bool, all: bool = False) -> str:
    """The session to end, once a person at a terminal has agreed; raises NotAgreed."""
    if yes or not is_asked():
        return session
    row: SessionRow = client.get(f"/v1/sessions/{quoted(session)}")
    is_busy = row.get("activity") == "working" or row.get("background") or row.get("claims")
    if row.get("liveness") != "ended" and (is_busy or all):
        more = ", and every session that ends with it" if all else ""
        agree(f"{verb} {told(row)}{more}")
    return str(row["id"])  # what was shown is what is ended


def is_asked() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def told(row: "SessionRow", taken: str | None = None) -> str:
    """`7f3a auth-refactor (pid 41377) (alive, working: Edit a.py), which holds task:A`; of a claim that is to be taken
    from it: which keeps the others."""
    held = [said_item(item) for item in row.get("claims") or () if item != taken]
    more = [f"{len(held) - CLAIMS_SHOWN} more"] if len(held) > CLAIMS_SHOWN else []
    verb = "keeps" if taken else "holds"
    holds = f", which {verb} {', '.join([*held[:CLAIMS_SHOWN], *more])}" if held else ""
    return f"{session_words.who(row)} (pid {clean(row.get('pid'))}){holders.state_of(row)}{holds}"


def agree(what: str) -> None:
    try:
        print(f"{what}? [y/N] ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
    except KeyboardInterrupt:
        print("\nNothing was done.", file=sys.stderr)
        raise
    if answer.strip().lower() not in ("y", "yes"):
        raise NotAgreed


def add_kill_after(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "--kill-after",
        type=seconds,
        metavar="SECONDS",
        help="send SIGKILL to whoever is still alive after that; without it nobody is killed",
    )


def ask(client: DaemonAccess, path: str, body: "EndingWish", *, rounds: int = 1) -> Any:
    """`rounds`: how many times the daemon may have to wait for processes."""
    grace = body.get("kill_after")
    each = times.END_WITHIN if grace is None else float(grace) + times.KILLED_WITHIN
    within = times.CALL_WITHIN + rounds * each
    sent = {name: value for name, value in body.items() if value is not None}
    answer = client.answer("POST", path, sent, within=within)
    if answer.status >= 400:
        raise refusal(answer.status, answer.data)
    return answer.data if isinstance(answer.data, dict) else {}


def code_of(results: "list[Signalled]") -> int:
    outcomes = {result.get("outcome") for result in results}
    if "survived" in outcomes:
        return exit_codes.FAULT
    return exit_codes.REFUSED if "refused" in outcomes else exit_codes.DONE


def row_of(client: DaemonAccess, holder: "Holder | None") -> "SessionRow":
    """The holder's session as `ps` shows it; empty when there is none or it cannot be asked."""
    session = holder.get("session") if isinstance(holder, dict) else None
    if not session or is_elsewhere(holder):
        return {}
    try:
        row: SessionRow = client.get(f"/v1/sessions/{quoted(str(session))}")
    except ClientFault:
        return {}
    return row if isinstance(row, dict) else {}


def held_lines(
    client: DaemonAccess, item: str, answer: "ClaimAnswer", verb: str = "claim", *more: str
) -> list[str]:
    """The refusal: who holds it, and that one may wait, by the call that was refused: its verb and its further words."""
    holder = answer.get("holder")
    wait = f"Pick other work, or wait: {waiting(item, verb, *more)}"
    if not isinstance(holder, dict):
        why = clean(answer.get("because")) or f"{said(item, ITEM_MOST)} cannot be had now."
        return [why, wait] if answer.get("code") == "held" else [why]
    if is_elsewhere(holder):  # the daemon's own sentence: how its host stands is a part of it
        return [clean(answer.get("because")), wait]
    row = row_of(client, holder)
    other = answer.get("held_item")
    what = f" through {said(other, ITEM_MOST)}" if other and other != item else ""
    return [
        f"Held by {name_of(holder, row)}{since(answer.get('since'))}{what}{state_of(row)}"
        f"{what_for(answer.get('note'))}.",
        wait,
    ]
