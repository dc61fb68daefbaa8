"""python -m tests.fuzz [name…] [--minutes N] [--seed S] [--own]: fuzzes all parsers, then the wire, and says what was found.

Every target has its share of the time. With the extra `fuzz` installed atheris leads; without, or with --own, our own
changes do. What broke a promise is written to tests/fuzz/corpus/<target>/ under a name that is to be made a better one,
and the gate replays it from then on.
"""

import argparse
import hashlib
import random
import re
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.mutate import Found, drive
from tests.fuzz.table import TARGETS
from tests.fuzz.target import Target

WIRE = "wire"  # schemathesis, as the operator and as an agent
WIRE_SHARE = 4  # of one target's time
START = 240.0  # seconds that a driver may need beside its time: instrumenting takes long on a busy machine


class Outcome(NamedTuple):
    name: str
    tries: int
    seconds: float
    found: bytes | None
    said: str


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join([*TARGETS, WIRE]))
    parser.add_argument("--minutes", type=float, default=10.0, help="for all of them together (default 10)")
    parser.add_argument("--seed", type=int, default=None, help="repeats a run of our own driver")
    parser.add_argument("--own", action="store_true", help="our own driver, although atheris is there")
    args = parser.parse_args()
    names = args.names or [*TARGETS, WIRE]
    unknown = set(names) - {*TARGETS, WIRE}
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join([*TARGETS, WIRE])}")
    seed = args.seed if args.seed is not None else random.randrange(1_000_000)
    led = not args.own and find_spec("atheris") is not None
    each = args.minutes * 60 / (len(names) + (WIRE_SHARE - 1) * (WIRE in names))
    print(
        f"seed {seed}, {'atheris' if led else 'our own driver'}, {each:.0f} s a target",
        file=sys.stderr,
        flush=True,
    )
    outcomes = []
    for nth, name in enumerate(names, 1):
        outcome = _one(name, each, seed, led=led)
        outcomes.append(outcome)
        print(f"[{nth}/{len(names)}] {_line(outcome)}", flush=True)
    bad = [each for each in outcomes if each.said]
    print(
        f"\n{sum(each.tries for each in outcomes):,} inputs; {len(bad)} of {len(outcomes)} targets broke a promise."
    )
    return 1 if bad else 0


def _one(name: str, seconds: float, seed: int, *, led: bool) -> Outcome:
    if name == WIRE:
        return _wire(seconds * WIRE_SHARE, seed)
    target = TARGETS[name]
    outcome = _with_atheris(target, seconds, seed) if led else _own(target, seconds, seed)
    if outcome.found is not None and outcome.said:
        _keep(target, outcome.found)
    return outcome


def _own(target: Target, seconds: float, seed: int) -> Outcome:
    began = time.monotonic()
    got = drive(target.check, target.seeds(), seed=seed, seconds=seconds)
    taken = time.monotonic() - began
    if isinstance(got, Found):
        return Outcome(target.name, got.tries, taken, got.data, f"{type(got.error).__name__}: {got.error}")
    return Outcome(target.name, got, taken, None, "")


def _with_atheris(target: Target, seconds: float, seed: int) -> Outcome:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headcount-fuzz-") as scratch:
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.with_atheris",
            target.name,
            f"{max(1, round(seconds))}",
            str(seed),
            scratch,
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=seconds * 2 + START
            )
            said, code = done.stderr + done.stdout, done.returncode
        except subprocess.TimeoutExpired:
            said, code = "it did not end in time", 1
        artifacts = [path for path in Path(scratch).iterdir() if path.is_file()]
        found = artifacts[0].read_bytes() if artifacts else None
    counted = re.search(r"number_of_executed_units: (\d+)", said) or re.search(r"#(\d+)\s+DONE", said)
    tries = int(counted.group(1)) if counted else 0
    return Outcome(target.name, tries, time.monotonic() - began, found, _why(said) if code else "")


def _why(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[A-Za-z.]+(Error|Exception|Exceeded)\b", line)]
    fatal = [line for line in lines if "libFuzzer: " in line]
    return (raised or fatal or lines or ["it ended without a word"])[0][:200]


def _wire(seconds: float, seed: int) -> Outcome:
    from tests.fuzz.wire import run

    began = time.monotonic()
    tries, faults = run(seconds=seconds, seed=seed)
    return Outcome(WIRE, tries, time.monotonic() - began, None, "; ".join(faults[:3]))


def _keep(target: Target, data: bytes) -> None:
    target.directory.mkdir(parents=True, exist_ok=True)
    (target.directory / f"found-{hashlib.sha256(data).hexdigest()[:12]}").write_bytes(data)


def _line(outcome: Outcome) -> str:
    rate = outcome.tries / outcome.seconds if outcome.seconds else 0.0
    words = f"BROKEN {outcome.said}" if outcome.said else "kept"
    return f"{outcome.name:24} {outcome.tries:>10,} inputs {rate:>8,.0f}/s  {words}"


if __name__ == "__main__":
    sys.exit(main())
