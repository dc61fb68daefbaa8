"""Endings: what is said of a proven end, by the kernel's word and the agent's own.

Rules
  1. How it ended is the kernel's word; why it left is the agent's, where it gave one.
  2. Which of the two came first makes no difference to what is said.

Not here: that it ended (core/decide.py).
"""

import signal

from msgspec.structs import replace

from headcount.core.values.session import Ended, EndKind, Leaving
from headcount.core.values.verdict import Proof, Verdict

SIGNALLED = 128
UNSAID = "other"  # an agent's word for no reason


def ending(verdict: Verdict, leaving: Leaving | None, at: float, away: bool) -> Ended:
    code, number = verdict.exit.code, verdict.exit.signal
    if verdict.proof is Proof.REBOOTED:
        return Ended(at, EndKind.REBOOTED, "ended by reboot", away=True, told=False)
    if number is not None:
        return Ended(at, EndKind.KILLED, f"killed ({signal_name(number)})", None, number, away)
    if code is not None:
        return Ended(at, EndKind.EXITED, _exited(code, leaving), code, None, away)
    because = "ended while headcount was away" if away else f"ended: {verdict.because}"
    return Ended(at, EndKind.UNSEEN, because, away=away)


def told_late(ended: Ended, leaving: Leaving) -> Ended:
    """The same end, now that the agent's own word has arrived."""
    if ended.kind is not EndKind.EXITED or ended.exit_code is None:
        return ended
    return replace(ended, because=_exited(ended.exit_code, leaving))


def _exited(code: int, leaving: Leaving | None) -> str:
    with_code = f" with code {code}" if code else ""
    return f"exited{with_code}{_why_it_left(code, leaving)}"


def _why_it_left(code: int, leaving: Leaving | None) -> str:
    """Its own word, else the signal that it answered by an orderly end: by convention the code is 128 and more."""
    if leaving and leaving.reason != UNSAID:
        return f" ({leaving.reason})"
    return f" ({signal.Signals(code - SIGNALLED).name})" if code - SIGNALLED in list(signal.Signals) else ""


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
