"""python -m tests.campaign [name…] [--minutes N] [--seed S]: runs campaigns and writes docs/campaign.md."""

import argparse
import random
import sys
import time
from importlib import import_module

from bench.page import machine
from tests.campaign import page
from tests.campaign.outcome import on_one_line

CAMPAIGNS = (
    "pid_reuse",
    "pid_reuse_restarts",
    "kill_rounds",
    "claims",
    "never_inherited",
    "fleet_partitions",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(CAMPAIGNS))
    parser.add_argument("--minutes", type=float, default=30.0, help="for all of them together (default 30)")
    parser.add_argument("--seed", type=int, default=None, help="repeats a run")
    parser.add_argument("--dry", action="store_true", help="print, do not write the page")
    args = parser.parse_args()
    names = args.names or CAMPAIGNS
    unknown = set(names) - set(CAMPAIGNS)
    if unknown:
        parser.error(f"no campaign {', '.join(sorted(unknown))}; there are {', '.join(CAMPAIGNS)}")
    seed = args.seed if args.seed is not None else random.randrange(1_000_000)
    kept = True
    for name in names:
        began = time.monotonic()
        seconds = args.minutes * 60 / len(names)
        outcome = import_module(f"tests.campaign.{name}").run(
            seed=seed, seconds=seconds, progress=on_one_line
        )
        taken = time.monotonic() - began
        command = f"python -m tests.campaign {name} --minutes {seconds / 60:g} --seed {seed}"
        print(
            "",
            outcome.title,
            *outcome.lines(),
            *(f"- {note}" for note in outcome.notes),
            f"- {command}",
            sep="\n",
        )
        kept = kept and outcome.kept
        if not args.dry:
            page.write(outcome, f"`{command}`, {taken:.0f} s; {machine()}")
    print("\nEvery promise was kept." if kept else "\nA promise was broken.", flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
