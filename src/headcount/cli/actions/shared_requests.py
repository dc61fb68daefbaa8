"""Endings: what became of processes that were to be ended, in sentences; and the question that ends them.

Rules of this file
  1. `7f3a auth-refactor (pid 41377) exited in 0.2 s.`: who, what, what next.
  2. Whoever survived, or was refused, makes the exit code.
  3. The answer is waited for as long as the daemon waits for the processes.
  4. A person at a terminal is asked before something ends that works or holds something. The question goes to
     stderr, so that --json on stdout stays one document. Off a terminal nobody is asked.

Not here: what is ended (the daemon verifies each), the arguments (commands/).
"""

import sys
from typing import TYPE_CHECKING, Any

from headcount import times
from headcount.cli import holders, rows
from headcount.cli.sanitize import clean, said, said_item
from headcount.client.faults import ClientFault, refusal
from headcount.client.reach import Client, quoted
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse

SUGGESTED = 5  # of --kill-after
CLAIMS_SHOWN = 5


class NotAgreed(ClientFault):
    exit_code = codes.REFUSED

    def __init__(self) -> None:
        super().__init__("Nothing was done: the answer was no.", "Without the question: --yes")


def add_yes(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask, although it works or holds something")


def agreed(client: Client, session: str, verb: str, *, yes: bool, all: bool = False) -> str:
    """The session to end, once a person at a terminal has agreed; raises NotAgreed."""
    if yes or not is_asked():
        return session
    row = client.get(f"/v1/sessions/{quoted(session)}")
    is_busy = row.get("activity") == "working" or row.get("background") or row.get("claims")
    if row.get("liveness") != "ended" and (is_busy or all):
        more = ", and every session that ends with it" if all else ""
        agree(f"{verb} {told(row)}{more}")
    return str(row["id"])  # what was shown is what is ended


def is_asked() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def told(row: dict[str, Any], taken: str | None = None) -> str:
    """`7f3a auth-refactor (pid 41377) (alive, working: Edit a.py), which holds task:A`; of a claim that is to be taken
    from it: which keeps the others."""
    held = [said_item(item) for item in row.get("claims") or () if item != taken]
    more = [f"{len(held) - CLAIMS_SHOWN} more"] if len(held) > CLAIMS_SHOWN else []
    verb = "keeps" if taken else "holds"
    holds = f", which {verb} {', '.join([*held[:CLAIMS_SHOWN], *more])}" if held else ""
    return f"{rows.who(row)} (pid {clean(row.get('pid'))}){holders.state_of(row)}{holds}"


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
        type=_seconds,
        metavar="SECONDS",
        help="send SIGKILL to whoever is still alive after that; without it nobody is killed",
    )


def _seconds(text: str) -> float:
    from argparse import ArgumentTypeError

    from headcount.cli.moments import parse_span

    span = parse_span(text)
    if span is None:
        raise ArgumentTypeError(f'"{clean(text)}" is no time; write 5, 30s or 2m')
    return span


def ask(client: Client, path: str, body: dict[str, Any], *, rounds: int = 1) -> dict[str, Any]:
    """`rounds`: how many times the daemon may have to wait for processes."""
    grace = body.get("kill_after")
    each = times.END_WITHIN if grace is None else float(grace) + times.KILLED_WITHIN
    within = times.CALL_WITHIN + rounds * each
    sent = {name: value for name, value in body.items() if value is not None}
    answer = client.answer("POST", path, sent, within=within)
    if answer.status >= 400:
        raise refusal(answer.status, answer.data)
    return answer.data if isinstance(answer.data, dict) else {}


def sentence(result: dict[str, Any]) -> str:
    who, outcome = subject(result), result.get("outcome")
    seconds = result.get("seconds")
    took = f" in {seconds:.1f} s" if isinstance(seconds, int | float) else ""
    if outcome == "exited":
        return f"{who} exited{took}."
    if outcome == "killed":
        return f"{who} ignored SIGTERM and was killed{took}."
    if outcome == "survived":
        return f"{who} ignored SIGTERM and is still alive: --kill-after {SUGGESTED}."
    if outcome == "over":
        return f"{who} had ended already."
    return f"{who} was not signalled: {clean(result.get('because'))}."


def subject(result: dict[str, Any]) -> str:
    """`7f3a auth-refactor (pid 41377)`; of a leftover `node vite (pid 41402, left by 02b7)`."""
    pid, what = clean(result.get("pid")), clean(result.get("what"))
    session = clean(result.get("session"))[: rows.SHORTEST_ID]
    if not what:
        return f"pid {pid}"
    if result.get("leftover"):
        return f"{what} (pid {pid}{f', left by {session}' if session else ''})"
    return f"{f'{session} {said(what)}'.strip()} (pid {pid})"


def code_of(results: list[dict[str, Any]]) -> int:
    outcomes = {result.get("outcome") for result in results}
    if "survived" in outcomes:
        return codes.FAULT
    return codes.REFUSED if "refused" in outcomes else codes.DONE
