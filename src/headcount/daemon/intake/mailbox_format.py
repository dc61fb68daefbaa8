"""Letters: the form of a mailbox file, which is a stat line and a payload, perhaps several times.

Rules
  1. Nothing here trusts a byte, and nothing here raises.
  2. A first line that names no process is no reason to lose the report: its agent may be gone already, or
     the system may have no /proc.
  3. What may still be being written is told apart from what is whole.
  4. Only the ends of objects are looked for, in one pass, and nothing is built. After REPORTS_MOST reports or
     TOKENS_MOST tokens the rest is not read.

Not here: reading and removing files (mailbox.py), what a payload means (agents/).
"""

import re

from msgspec import Struct

REPORTS_MOST = 64  # hooks that got the same shell pid and appended before the file was read; two are rare
TOKENS_MOST = 200_000
"""Strings, brackets and commas of a file. Each may become an object of some 100 bytes when a payload is decoded."""
SMALL = 64 * 1024  # bytes; too few for so many tokens

PID_DIGITS_MOST = 10
TICK_DIGITS_MOST = 20
LINE_MOST = 4096  # bytes of a stat line, which has some 300

OPEN, QUOTE = b'{"'
OPENING, CLOSING = b"{[", b"}]"

_token = re.compile(
    rb'"(?:[^"\\]++|\\.)*+("?)|[][{},]', re.DOTALL
)  # a string that does not end goes to the end
_space = re.compile(rb"\s*+")


class Sender(Struct, frozen=True):
    """The kernel's word on the hook's parent, as the hook read it."""

    pid: int
    started: int


class MailboxReport(Struct, frozen=True):
    """One report inside a file."""

    sender: Sender | None
    payload: bytes


class Contents(Struct, frozen=True):
    slips: list[MailboxReport]
    left: int = 0  # bytes at the end that were not read, because a bound was met


def split(data: bytes, *, cut: bool = False) -> Contents | None:
    """The reports in one file; None: it is not whole. `cut`: the file goes on after the data."""
    if len(data) <= SMALL:
        line, _, rest = data.partition(b"\n")
        rest = rest.rstrip()
        if rest.endswith(b"}") and b"\n" not in rest and not line.startswith(b"{"):
            return Contents([MailboxReport(parse_stat(line), rest)])
    slips, read, why = _scan(data)
    if why == "unfinished" and not cut:
        return None
    return Contents(slips, 0 if why == "whole" else len(data) - read)


def _scan(data: bytes) -> tuple[list[MailboxReport], int, str]:
    """The reports, the end of the last one, and why it stopped: "whole", "unfinished", "bound"."""
    slips: list[MailboxReport] = []
    at = read = tokens = 0
    line: bytes | None = None  # the last one since the last report
    while (at := _past_space(data, at)) < len(data):
        if tokens > TOKENS_MOST or (data[at] == OPEN and len(slips) == REPORTS_MOST):
            return slips, read, "bound"
        if data[at] != OPEN:
            end = data.find(b"\n", at)
            if end < 0:
                return slips, read, "unfinished"
            line, at, tokens = data[at : min(end, at + LINE_MOST)], end, tokens + 1
            continue
        end, tokens = _end_of(data, at, tokens)
        if end < 0:
            return slips, read, "bound" if tokens > TOKENS_MOST else "unfinished"
        slips.append(MailboxReport(parse_stat(line or b""), data[at:end]))
        line, at, read = None, end, end
    return slips, read, "unfinished" if line is not None or not slips else "whole"


def _end_of(data: bytes, at: int, tokens: int) -> tuple[int, int]:
    """Where the object that begins there ends, -1: it does not; and how many tokens there were by then."""
    depth = 0
    for token in _token.finditer(data, at):
        tokens += 1
        first = data[token.start()]
        if tokens > TOKENS_MOST or (first == QUOTE and not token[1]):
            break
        depth += (first in OPENING) - (first in CLOSING)
        if not depth:
            return token.end(), tokens
    return -1, tokens


def _past_space(data: bytes, at: int) -> int:
    found = _space.match(data, at)
    return found.end() if found else at


def parse_stat(line: bytes) -> Sender | None:
    """Of a `/proc/<pid>/stat` line; the name in it may hold anything."""
    head, _, _ = line.partition(b" (")
    fields = line.rpartition(b") ")[2].split(None, 20)
    if (
        len(fields) < 20
        or not _is_number(head, PID_DIGITS_MOST)
        or not _is_number(fields[19], TICK_DIGITS_MOST)
    ):
        return None
    return Sender(int(head), int(fields[19]))


def _is_number(text: bytes, most: int) -> bool:
    return text.isdigit() and len(text) <= most
