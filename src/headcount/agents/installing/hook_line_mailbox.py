"""The shell line that agents' hooks run: write the event to a file and exit.

Rules
  1. It contacts no process, never waits, prints nothing and exits 0, whatever is broken (G7, H7, H17).
  2. The first line of the file is the agent's stat line from the kernel, read by the agent's own child.
  3. Paths are literal in the line, quoted for sh. A path that cannot be quoted on one line is refused.
  4. A line is tried before it is installed: also with the mailbox missing, with empty and with large input.

Not here: where the line is written (json_hooks.py), who reads the files (daemon/).
"""

import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from headcount.times import TRY_LINE_WITHIN

MARK = "# headcount"  # for people who read their settings, and for finding our lines again
FLAG = ".listening"
TRIAL = b'{"headcount": "trial"}'
"""The payload of a trial in the real mailbox; the reader recognises that it is not a report."""

_OURS = re.compile(
    r"\(umask 077; .*</proc/\$PPID/stat;.*\$PPID\.\$\$.*\) 2>/dev/null; exit 0(?: # headcount)?"
)
MUCH = 1_000_000  # bytes that a line is tried with
SHELL = "/bin/sh"  # what agents run their hooks with


TOP = "claude-code"
"""The first supported agent. Its reports go to the mailbox directory itself, because installed lines write there."""


def directory_of(mailbox: Path, agent: str) -> Path:
    """The directory that the agent's hooks write to."""
    return mailbox if agent == TOP else mailbox / agent


class Unquotable(ValueError):
    """The mailbox's path cannot be quoted in a line."""


def line(mailbox: Path, *, only_while_listening: bool) -> str:
    """The line for one event: written always, or only while the daemon's flag file exists."""
    place = str(mailbox)
    if not place.startswith("/") or any(ord(sign) < 32 or ord(sign) == 127 for sign in place):
        raise Unquotable("the mailbox's path must be absolute and without control characters")
    quoted = shlex.quote(place)
    condition = f"[ -e {shlex.quote(f'{place}/{FLAG}')} ] && " if only_while_listening else ""
    drop = "{ read -r s </proc/$PPID/stat; printf '%s\\n' \"$s\"; exec cat; }"
    return f'(umask 077; {condition}{drop} >>{quoted}/"$PPID.$$") 2>/dev/null; exit 0 {MARK}'


def is_ours(command: object) -> bool:
    """Whether this is one of our lines, also for another state directory or an earlier version."""
    return isinstance(command, str) and _OURS.fullmatch(command) is not None


def leads_to(command: str, mailbox: Path) -> bool:
    """Whether this line of ours writes to that mailbox."""
    return f">>{shlex.quote(str(mailbox))}/" in command


def why_not(mailbox: Path) -> str | None:
    """Try the exact lines, and the same lines in a temporary directory. Returns what failed, or None."""
    with tempfile.TemporaryDirectory(prefix="headcount-trial-") as place:
        there = Path(place) / 'it\'s a "$HOME" mailbox'
        there.mkdir(0o700)
        (there / FLAG).touch()
        missing = Path(place) / "missing"
        much = b'{"trial": "' + b"x" * MUCH + b'"}'
        for listening in (False, True):
            trouble = (
                _trial(line(there, only_while_listening=listening), b"", there)
                or _trial(line(there, only_while_listening=listening), much, there)
                or _trial(line(missing, only_while_listening=listening), much, None)
                or _trial(line(mailbox, only_while_listening=listening), TRIAL, None, mailbox)
            )
            if trouble:
                return trouble
    return None


def _trial(command: str, given: bytes, dropped_in: Path | None, sweep: Path | None = None) -> str | None:
    """Run the line as an agent does: in its own session, reading a pipe. A trial file in the real mailbox is removed."""
    run = subprocess.Popen(
        [SHELL, "-c", command],
        stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = run.communicate(given or None, timeout=TRY_LINE_WITHIN)
    except subprocess.TimeoutExpired:
        run.kill()
        run.communicate()
        return "the line did not end"
    drop = f"{os.getpid()}.{run.pid}"
    if sweep is not None:
        (sweep / drop).unlink(missing_ok=True)
    if run.returncode != 0:
        return f"the line exited {run.returncode}"
    if out or err:
        return "the line printed something"
    if dropped_in is not None and not _is_whole(dropped_in / drop, given):
        return "the line did not drop its event"
    return None


def _is_whole(drop: Path, given: bytes) -> bool:
    try:
        first, _, rest = drop.read_bytes().partition(b"\n")
    except OSError:
        return False
    named = not Path("/proc/self/stat").exists() or first.startswith(b"%d (" % os.getpid())
    return named and rest == given and drop.stat().st_mode & 0o077 == 0
