"""python -m tests.campaign [name…] [--minutes N | --rounds N | --full] [--seed S]: runs campaigns and writes the page."""

import argparse
import math
import random
import sys
import time
from importlib import import_module
from pathlib import Path

from tests.campaign import page
from tests.campaign.outcome import Line, on_one_line

CAMPAIGNS = {  # and what each counts
    "pid_reuse": "rounds",
    "pid_reuse_restarts": "reuses",
    "kill_rounds": "rounds",
    "claims": "operations",
    "giving_up": "rounds",
    "never_inherited": "rounds",
    "bind_races": "races",
    "wrong_kill": "ends wanted",
    "fleet_partitions": "rounds",
    "double_starts": "rounds",
    "upgrades": "rounds",
    "pulled_away": "rounds",
    "slow_loris": "connections",
    "headers": "requests",
    "canaries": "canaries",
    "planted": "rounds",
    "hook_calls": "calls",
    "authority": "rounds",
    "storage_crash": "calls",
    "power_cuts": "cuts",
    "disk_faults": "rounds",
    "corruptions": "damages",
    "clock_jumps": "jumps",
    "long_idle": "hours",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(CAMPAIGNS))
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=30.0, help="for all of them together (default 30)")
    length.add_argument("--rounds", type=int, default=None, help="this many of each, however long it takes")
    length.add_argument(
        "--full", action="store_true", help="the wanted number of each, however long it takes"
    )
    parser.add_argument("--seed", type=int, default=None, help="repeats a run")
    parser.add_argument("--dry", action="store_true", help="print, do not write the page")
    parser.add_argument("--page", type=Path, default=page.PAGE, help="where the page is")
    args = parser.parse_args()
    names = args.names or list(CAMPAIGNS)
    unknown = set(names) - set(CAMPAIGNS)
    if unknown:
        parser.error(f"no campaign {', '.join(sorted(unknown))}; there are {', '.join(CAMPAIGNS)}")
    seed = args.seed if args.seed is not None else random.randrange(1_000_000)
    print(f"seed {seed}", file=sys.stderr, flush=True)
    kept = True
    lines: list[Line] = []
    for name in names:
        began = time.monotonic()
        seconds, length_words = _length(args, len(names))
        counted = {} if args.rounds is None else {CAMPAIGNS[name]: args.rounds}
        outcome = import_module(module_of(name)).run(
            seed=seed, seconds=seconds, progress=on_one_line, **counted
        )
        taken = time.monotonic() - began
        command = f"python -m tests.campaign {name} {length_words} --seed {seed}"
        print(
            "",
            outcome.title,
            *outcome.lines(),
            *(f"- {note}" for note in outcome.notes),
            f"- {command}",
            sep="\n",
        )
        kept = kept and outcome.kept
        lines.append(outcome.line(command, taken))
        if not args.dry:
            page.write(outcome, command, taken, args.page)
    print("", *page.summary(lines), f"seed {seed}", sep="\n")
    print("\nEvery promise was kept." if kept else "\nA promise was broken.", flush=True)
    return 0 if kept else 1


def module_of(name: str) -> str:
    """Campaigns are grouped in folders; a name is in one of them."""
    [path] = Path(__file__).parent.glob(f"*/{name}.py")
    return f"tests.campaign.{path.parent.name}.{name}"


def _length(args: argparse.Namespace, shares: int) -> tuple[float, str]:
    """Seconds for one campaign, and the words that ask for them."""
    if args.full or args.rounds is not None:
        return math.inf, "--full" if args.full else f"--rounds {args.rounds}"
    minutes = args.minutes / shares
    return minutes * 60, f"--minutes {minutes:g}"


if __name__ == "__main__":
    sys.exit(main())
