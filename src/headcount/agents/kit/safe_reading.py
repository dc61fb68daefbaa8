"""Reading JSON that another program wrote: the fields of a type, whatever else is there.

Rules of this file
  1. Never raises. The strict decoder is the fast way; what it refuses is tried again leniently, because agents write
     with JavaScript, which emits halves of surrogate pairs when it cuts a text (RFC 8259, section 8.2).
  2. Types are not trusted: a type given here has only `Any` and `Raw` fields with defaults.

Not here: what the fields mean (the adapters).
"""

import json
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T", bound=msgspec.Struct)
D = TypeVar("D")

NO_RAW = msgspec.Raw(b"null")
FAULTS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])


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
    """By the strict decoder alone: where what it refuses is passed over."""
    try:
        return decoder.decode(data)
    except FAULTS:
        return None


def line_of(decoder: "msgspec.json.Decoder[D]", row: bytes) -> D | None:
    """One line of a file of JSON objects; None: it is cut, damaged, or something else."""
    return decoded(decoder, row) if row.startswith(b"{") else None


def keys(data: bytes) -> list[str]:
    return list(decoded(_keys, data) or ())


def document(data: bytes) -> dict[str, Any] | str:
    """Whatever can be made of it, without its numbers; or why nothing can."""
    try:
        found = json.loads(
            data.decode("utf-8-sig", "replace"), parse_int=_none, parse_float=_none, parse_constant=_none
        )
    except RecursionError:
        return "nested too deeply"
    except ValueError:
        return "not JSON" if data.strip() else "empty"
    return found if isinstance(found, dict) else "not a JSON object"


def whole(value: Any) -> Any:
    """The same value in text that can be encoded: halves of surrogate pairs become question marks."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [whole(item) for item in value]
    if isinstance(value, dict):
        return {whole(key): whole(item) for key, item in value.items()}
    return value


def _none(_: str) -> None:
    """No number is needed leniently, one of ten thousand digits would raise, and as text it could pass for an id."""
