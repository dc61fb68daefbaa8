"""Letters: the form of a mailbox file, which is a stat line and a payload, perhaps several times.

Rules of this file
  1. Nothing here trusts a byte, and nothing here raises.
  2. A first line that names no process is no reason to lose the report: its agent may be gone already, or
     the system may have no /proc.
  3. What may still be being written is told apart from what is whole.

Not here: reading and removing files (mailbox.py), what a payload means (agents/).
"""

import json

from msgspec import Struct

PID_DIGITS_MOST = 10
TICK_DIGITS_MOST = 20

_decoder = json.JSONDecoder(parse_int=len, parse_float=len)  # only the ends of values are looked for


class Sender(Struct, frozen=True):
    """The kernel's word on the hook's parent, as the hook read it."""

    pid: int
    started: int


class Slip(Struct, frozen=True):
    """One report inside a file."""

    sender: Sender | None
    payload: bytes


def split(data: bytes) -> list[Slip] | None:
    """The reports in one file; None: it is not whole."""
    line, _, rest = data.partition(b"\n")
    rest = rest.rstrip()
    if rest.endswith(b"}") and b"\n" not in rest and not line.startswith(b"{"):
        return [Slip(parse_stat(line), rest)]
    return _split_slowly(data.decode("utf-8", "replace"))


def _split_slowly(text: str) -> list[Slip] | None:
    slips = []
    at = 0
    while at < len(text):
        sender = None
        if text[at] != "{":
            end = text.find("\n", at)
            if end < 0:
                return None
            sender = parse_stat(text[at:end].encode("utf-8", "replace"))
            at = _past_space(text, end)
        try:
            _, end = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        slips.append(Slip(sender, text[at:end].encode("utf-8", "replace")))
        at = _past_space(text, end)
    return slips or None


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def parse_stat(line: bytes) -> Sender | None:
    """Of a `/proc/<pid>/stat` line; the name in it may hold anything."""
    head, _, _ = line.partition(b" (")
    fields = line.rpartition(b") ")[2].split()
    if (
        len(fields) < 20
        or not _is_number(head, PID_DIGITS_MOST)
        or not _is_number(fields[19], TICK_DIGITS_MOST)
    ):
        return None
    return Sender(int(head), int(fields[19]))


def _is_number(text: bytes, most: int) -> bool:
    return text.isdigit() and len(text) <= most
