"""Reading JSON that another program wrote: the fields of a type, whatever else is there.

Rules of this file
  1. Never raises. The strict decoder is the fast way; what it refuses is tried again leniently, because agents write
     with JavaScript, which emits halves of surrogate pairs when it cuts a text (RFC 8259, section 8.2).
  2. Types are not trusted: a type given here has only `Any` and `Raw` fields with defaults.

  3. A field that is compared with known words is read by `word`, a number that is stored by `count`: what is a list
     cannot be looked up, and what has a hundred digits cannot be stored.

Not here: what the fields mean (the adapters).
"""

import json
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T", bound=msgspec.Struct)

NO_RAW = msgspec.Raw(b"null")
FAULTS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
TIME_MOST = 40  # characters
COUNT_MOST = 2**53  # beyond it no reader of JSON agrees on a number


def word(value: object) -> str:
    """A foreign value as a word to look up; what is no text is none."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """A foreign value as a number of things; what is none counts as nothing."""
    return value if type(value) is int and 0 < value < COUNT_MOST else 0


def moment(value: object) -> float | None:
    """A foreign value as a moment: an ISO time with its zone, as agents write them, since there are clocks."""
    if not isinstance(value, str) or len(value) > TIME_MOST:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    at = found.timestamp() if found.tzinfo is not None else 0.0
    return at if at > 0 else None


class Reader(Generic[T]):
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
        try:
            found = json.loads(
                data.decode("utf-8-sig", "replace"), parse_int=_none, parse_float=_none, parse_constant=_none
            )
            if not isinstance(found, dict):
                return "not a JSON object"
            return self._decoder.decode(msgspec.json.encode(_whole(found)))
        except RecursionError:
            return "nested too deeply"
        except (ValueError, msgspec.MsgspecError):
            return "not JSON" if data.strip() else "empty"


_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])


def keys(data: bytes) -> list[str]:
    try:
        return list(_keys.decode(data))
    except FAULTS:
        return []


def _none(_: str) -> None:
    """No number is needed leniently, and one of ten thousand digits would raise."""


def _whole(value: Any) -> Any:
    """The same value in text that can be encoded: halves of surrogate pairs become question marks."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value
