"""Never inherited: a holder is killed, and somebody who looks just like it must not get its claim.

One kind of round for each way in which earlier tools took a new process for the old one: the same conversation
resumed, its token copied, the same terminal, directory, name, and the very same pid. The control is a real daemon whose
ledger was broken by hand: it accepts any caller as the holder.
"""

from tests.campaign.in_pid_namespace import run_inside
from tests.campaign.outcome import Outcome, Progress, Row

ROUNDS = 1_000
CONTROL_ROUNDS = 5
WHAT = {
    "conversation": "the same conversation, resumed",
    "token": "the holder's token, copied",
    "terminal": "the same terminal",
    "directory": "the same directory",
    "name": "the same name",
    "pid": "the same pid, reused",
}


def run(
    *,
    seed: int,
    seconds: float,
    progress: Progress,
    rounds: int = ROUNDS,
    control_rounds: int = CONTROL_ROUNDS,
) -> Outcome:
    found = _inside(rounds, seed, seconds, "ours", progress)
    control = _inside(control_rounds, seed, seconds, "broken", progress)
    rows = [_row(kind, found[kind], rounds) for kind in WHAT]
    done = found["pid"].get("rounds", 0)
    same = found["pid"].get("same_pid", 0)
    restarts = sum(counts.get("restarts", 0) for counts in found.values())
    rows += [
        Row("  of them the heir had the holder's very pid", f"{same:,} of {done:,}", "all", same == done > 0),
        Row("daemon killed between the death and the heir", f"{restarts:,}"),
        _control(control, control_rounds),
    ]
    notes = (
        "Inherited would be: holding without asking, a grant or a release while the holder lived, the dead one's fence, "
        "token or request id still good, or its fence given again.",
        "Each heir then asks for the item itself and must get it, with a higher fence.",
        "Holder and heir are processes of one pid namespace, each registered as a session of its own; the thief is not.",
    )
    return Outcome("never_inherited", "Never inherited", tuple(rows), notes)


def _inside(
    rounds: int, seed: int, seconds: float, which: str, progress: Progress
) -> dict[str, dict[str, int]]:
    words = (str(rounds), str(seed), str(seconds), which)
    return run_inside("tests.campaign.claims.never_inherited_inside", *words, progress=progress)


def _control(found: dict[str, dict[str, int]], rounds: int) -> Row:
    """Every kind must be able to catch it."""
    caught = {kind: counts.get("inherited", 0) for kind, counts in found.items()}
    words = ", ".join(f"{kind} {count}" for kind, count in caught.items())
    what = f"control, a ledger that accepts any caller as the holder: inherited, of {rounds} rounds each"
    return Row(what, words, "more than 0 of each", all(caught.values()))


def _row(kind: str, counts: dict[str, int], rounds: int) -> Row:
    done, inherited = counts.get("rounds", 0), counts.get("inherited", 0)
    told = {"rounds", "inherited", "same_pid", "restarts", "taken"}
    how = "; ".join(f"{what}: {count}" for what, count in counts.items() if what not in told)
    found = f"{inherited} of {done:,}" + (f" ({how})" if how else "")
    return Row(f"inherited by {WHAT[kind]}", found, f"0 of {rounds:,}", inherited == 0 and done > 0)
