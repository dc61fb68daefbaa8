"""python -m bench [name…]: measures the named figures, or all, and writes them into docs/benchmarks.md."""

import argparse
import sys
import time
from importlib import import_module

from bench import page

FIGURES = (
    "death",
    "storm",
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
    for name in args.names or FIGURES:
        print(f"== {name}", file=sys.stderr, flush=True)
        began = time.monotonic()
        figure = import_module(f"bench.{name}").measure()
        print(
            figure.title, *figure.lines(), *(f"- {note}" for note in figure.notes), "", sep="\n", flush=True
        )
        if not args.dry:
            page.write(figure, time.monotonic() - began)
    return 0


if __name__ == "__main__":
    sys.exit(main())
