"""Endings: what became of processes that were to be ended, in sentences; and the question that ends them.

Rules of this file
  1. `41377 exited in 0.2 s. 41402 ignored SIGTERM and is still alive: --kill-after 5.`: who, what, what next.
  2. Whoever survived, or was refused, makes the exit code.
  3. The answer is waited for as long as the daemon waits for the processes.

Not here: what is ended (the daemon verifies each), the arguments (commands/).
"""

from typing import TYPE_CHECKING, Any

from headcount import times
from headcount.cli.sanitize import clean
from headcount.client.faults import refusal
from headcount.client.reach import Client
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse

SUGGESTED = 5  # of --kill-after


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
    pid, outcome = clean(result.get("pid")), result.get("outcome")
    seconds = result.get("seconds")
    took = f" in {seconds:.1f} s" if isinstance(seconds, int | float) else ""
    if outcome == "exited":
        return f"{pid} exited{took}."
    if outcome == "killed":
        return f"{pid} ignored SIGTERM and was killed{took}."
    if outcome == "survived":
        return f"{pid} ignored SIGTERM and is still alive: --kill-after {SUGGESTED}."
    if outcome == "over":
        return f"{pid} had ended already."
    return f"{pid} was not signalled: {clean(result.get('because'))}."


def code_of(results: list[dict[str, Any]]) -> int:
    outcomes = {result.get("outcome") for result in results}
    if "survived" in outcomes:
        return codes.FAULT
    return codes.REFUSED if "refused" in outcomes else codes.DONE
