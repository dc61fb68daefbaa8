"""python -m bench [name…]: measures the named figures, or all, and writes them into docs/benchmarks.md.

A figure that fails is said and does not keep the others from being measured; the exit code tells. Each is written as
soon as it was measured, so that a run that is broken off leaves what it had.
"""

import argparse
import sys
import time
import traceback
from importlib import import_module

from bench import page

FIGURES = (
    "death",
    "storm",
    "fanout",
    "growth",
    "memory",
    "ingest",
    "idle",
    "start",
    "ps",
    "hooks",
    "claims",
    "discovery",
    "scan",
    "fleet",
    "web",
    "tui",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*FIGURES, []], metavar="name", help=", ".join(FIGURES))
    parser.add_argument("--dry", action="store_true", help="print, do not write the page")
    args = parser.parse_args()
    names, began, failed = args.names or FIGURES, time.monotonic(), []
    for nth, name in enumerate(names, 1):
        so_far = (time.monotonic() - began) / 60
        print(f"== [{nth}/{len(names)}] {name}, {so_far:.1f} min so far", file=sys.stderr, flush=True)
        if not _measured(name, dry=args.dry):
            failed.append(name)
    taken = (time.monotonic() - began) / 60
    print(
        f"== {len(names)} figures in {taken:.1f} min; failed: {', '.join(failed) or 'none'}", file=sys.stderr
    )
    return 1 if failed else 0


def _measured(name: str, *, dry: bool) -> bool:
    began = time.monotonic()
    try:
        figure = import_module(f"bench.{name}").measure()
    except Exception:
        traceback.print_exc()
        return False
    print(figure.title, *figure.lines(), *(f"- {note}" for note in figure.notes), "", sep="\n", flush=True)
    if not dry:
        page.write(figure, time.monotonic() - began)
    return True


if __name__ == "__main__":
    sys.exit(main())
