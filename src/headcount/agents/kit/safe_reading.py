"""Read what another program wrote: JSON, its fields, and the end of a file.

Rules
  1. Never raises. Types are not trusted: a field may hold anything, and a type given to `Reader` has only `object`
     and `Raw` fields with defaults. None means "nothing readable", which is evidence of nothing.
  2. The strict decoder is the fast path. Input that it refuses is read again leniently: JavaScript agents emit
     half surrogate pairs when they cut a text (RFC 8259, section 8.2).
  3. An id is checked before it is kept: ids reach command lines and must not look like an option or a path (I8, K10).
  4. Use `text_of` for a field that is looked up in a table (a list is not hashable) and `count_of` for a number that
     is stored (a number of a hundred digits does not fit).
  5. A file's end is one bounded read, so a file of gigabytes costs as much as a small one (accident H5). A first line
     that is cut is dropped.
  6. Only a plain file of our own user is read. The open file is checked, not its name: the name may be swapped.

Not here: what fields and lines mean (the adapters), text for people (agents/kit/labels.py), milliseconds since the epoch
(opencode/database.py, claude_code/registry.py), opening a plain file of our own (private_files.py).
"""

import json
import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from headcount.agents.kit.labels import plain
from headcount.private_files import open_to_read

T = TypeVar("T", bound=msgspec.Struct)
D = TypeVar("D")

NO_RAW = msgspec.Raw(b"null")
FAULTS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

_any = msgspec.json.Decoder()

CONVERSATION = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._-]{0,127}", re.ASCII)
UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
COUNT_MOST = 2**53  # above this JSON readers disagree about a number

LONGEST = 40


class JsonReader(Generic[T]):
    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._decoder = msgspec.json.Decoder(kind)

    def read(self, data: bytes | msgspec.Raw) -> T | str:
        """The fields, or why there are none."""
        try:
            return self._decoder.decode(data)
        except msgspec.ValidationError:
            return "not a JSON object"
        except FAULTS:
            return self._leniently(bytes(data))

    def read_or_empty(self, data: bytes | msgspec.Raw) -> T:
        found = self.read(data)
        return self._kind() if isinstance(found, str) else found

    def _leniently(self, data: bytes) -> T | str:
        found = document(data)
        if isinstance(found, str):
            return found
        try:
            return self._decoder.decode(msgspec.json.encode(whole(found)))
        except RecursionError:
            return "nested too deeply"
        except msgspec.MsgspecError:
            return "not JSON"


def decoded(decoder: "msgspec.json.Decoder[D]", data: bytes | str | msgspec.Raw) -> D | None:
    """Decode strictly; input that the decoder refuses is skipped."""
    try:
        return decoder.decode(data)
    except FAULTS:
        return None


def line_of(decoder: "msgspec.json.Decoder[D]", row: bytes) -> D | None:
    """One line of a file of JSON objects; None: it is cut, damaged, or something else."""
    return decoded(decoder, row) if row.startswith(b"{") else None


def value_of(data: msgspec.Raw) -> object:
    """The value, of any type; None: it cannot be read."""
    try:
        return _any.decode(data)
    except FAULTS:
        pass
    try:
        return _lenient(bytes(data))
    except (ValueError, RecursionError):
        return None


def document(data: bytes) -> dict[str, object] | str:
    """The document read leniently, without its numbers; or why it cannot be read."""
    try:
        found = _lenient(data)
    except RecursionError:
        return "nested too deeply"
    except ValueError:
        return "not JSON" if data.strip() else "empty"
    return found if isinstance(found, dict) else "not a JSON object"


def _lenient(data: bytes) -> Any:
    text = data.decode("utf-8-sig", "replace")
    return json.loads(text, parse_int=_none, parse_float=_none, parse_constant=_none)


def whole(value: object) -> object:
    """The same value with text that can be encoded: half surrogate pairs become question marks."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [whole(item) for item in value]
    if isinstance(value, dict):
        return {whole(key): whole(item) for key, item in value.items()}
    return value


def _none(_: str) -> None:
    """Drop numbers in the lenient path: a huge one would raise, and as text it could pass for an id."""


def id_of(value: object, form: re.Pattern[str] = CONVERSATION) -> str | None:
    return value if isinstance(value, str) and form.fullmatch(value) else None


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def count_of(value: object) -> int:
    """A count; any other value is 0."""
    return value if type(value) is int and 0 < value < COUNT_MOST else 0


def absolute(value: object) -> str | None:
    """An absolute path, or nothing."""
    path = plain(value)
    return path if path is not None and path.startswith("/") else None


def below(directory: object, path: str | None) -> str | None:
    """The path made absolute: a tool's argument may be relative to the session's directory."""
    if path is None or path.startswith("/"):
        return path
    root = absolute(directory)
    return f"{root.rstrip('/')}/{path}" if root else None


def moment_of(value: object) -> float | None:
    """The time in seconds. None: not a time, before 1970, or without a time zone."""
    if not isinstance(value, str) or len(value) > LONGEST:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    at = found.timestamp() if found.tzinfo is not None else 0.0
    return at if at > 0 else None


def read_end(path: Path, most: int) -> bytes | None:
    """Whole lines, and perhaps a last one that is still being written."""

    def last(fd: int, seen: os.stat_result) -> bytes:
        start = max(0, seen.st_size - most)
        content = os.pread(fd, most, start)
        return content if start == 0 else content.partition(b"\n")[2]

    return read_plain(path, last)


def read_plain(path: Path, read: Callable[[int, os.stat_result], D]) -> D | None:
    """The result of `read` on the open file, called with its descriptor and stat result."""
    try:
        fd, facts = open_to_read(str(path))
    except (OSError, ValueError):
        return None
    try:
        return read(fd, facts)
    except OSError:
        return None
    finally:
        os.close(fd)
