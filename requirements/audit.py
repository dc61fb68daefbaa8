"""make audit: are known faults reported for what we install? Asks the public advisories about every pinned version.

Rules of this file
  1. Three answers: clean, faults found, or not known. What could not be asked about is never called clean.
  2. What is asked about is the lock: the versions that an install with hashes gets.

Not here: what is pinned (lock.txt, `make lock`), whether the lock fits pyproject.toml (tests/rules/test_lock.py).
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCK = Path(__file__).with_name("lock.txt")
CLEAN, FAULTS, NOT_KNOWN = 0, 1, 4


def main() -> int:
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--require-hashes",
        "--disable-pip",
        "-f",
        "json",
        "-r",
        str(LOCK),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        print(f"Not known: the advisories could not be asked ({last[0][:200]}).", file=sys.stderr)
        return NOT_KNOWN
    words, code = judged(found)
    print("\n".join(words))
    return code


def judged(found: list[dict[str, Any]]) -> tuple[list[str], int]:
    """The answer in words, and as an exit code."""
    asked = [each for each in found if "skip_reason" not in each]
    faulty = [each for each in asked if each.get("vulns")]
    words = [
        f"{each['name']} {each['version']}: {fault['id']}, mended in {', '.join(fault['fix_versions']) or 'no version yet'}"
        for each in faulty
        for fault in each["vulns"]
    ]
    unasked = len(found) - len(asked)
    if unasked or not found:
        words.append(
            f"Not known: the advisories did not answer for {unasked} of {len(found)} packages. This is not a clean bill."
        )
    if faulty:
        return words, FAULTS
    if unasked or not found:
        return words, NOT_KNOWN
    return [f"No known fault in any of {len(asked)} packages."], CLEAN


if __name__ == "__main__":
    sys.exit(main())
