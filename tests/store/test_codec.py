"""Bodies: what a newer version wrote can be read, what could not be read is not written."""

import json
import types
import typing
from enum import Enum
from pathlib import Path

import msgspec
import pytest

from headcount.core.values.claim import Claim
from headcount.core.values.events import EventType
from headcount.core.values.session import Session
from headcount.store.codec import decode_event, decode_session, encode_event, encode_session
from headcount.store.interface import StoreFault
from headcount.store.sql_files import SCHEMA_VERSION
from tests.store.sample_values import event, own_event, session

PINNED = max(
    Path(__file__).parent.glob("vocabulary_*.json"),
    key=lambda path: int(path.stem.rpartition("_")[2]),
)


def test_a_session_comes_back_equal() -> None:
    assert decode_session(encode_session(session())) == session()


def test_fields_of_a_newer_version_are_passed_over() -> None:
    body = json.loads(encode_session(session()))
    body["colour"] = {"of": ["a", "newer", "version"]}
    body["process"]["cgroup"] = 7
    assert decode_session(json.dumps(body).encode()) == session()


def test_fields_that_an_older_version_did_not_have_take_their_default() -> None:
    body = json.loads(encode_session(session()))
    for name in ("notes", "alarms", "groups", "status"):
        body.pop(name, None)
    assert decode_session(json.dumps(body).encode()) == session(notes=(), alarms=(), groups=(), status=None)


def test_a_delta_field_of_a_newer_version_is_passed_over() -> None:
    row = (1, 2.0, "session.changed", "s1", None, b'{"delta": {"colour": 1, "cwd": "/x"}, "more": 2}')
    decoded = decode_event(row)
    assert decoded is not None
    assert (decoded.type, decoded.delta) == (EventType.SESSION_CHANGED, {"cwd": "/x"})


def test_an_event_of_a_type_from_a_newer_version_is_passed_over() -> None:
    assert decode_event((1, 2.0, "claim.sublet", None, None, b"{}")) is None


def test_a_body_that_is_no_body_is_an_error() -> None:
    with pytest.raises(msgspec.MsgspecError):
        decode_session(b'{"id": 7}')


def test_nesting_without_end_is_a_fault() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(StoreFault):
        encode_event(own_event(1, deep=deep))
    assert encode_event(event(1))


def words_of(kind: object, found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Every enumeration inside a type, with its values."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        found[kind.__name__] = sorted(word.value for word in kind)
    elif (
        isinstance(kind, type)
        and not isinstance(kind, types.GenericAlias)
        and hasattr(kind, "__struct_fields__")
    ):
        for inner in typing.get_type_hints(kind).values():
            words_of(inner, found)
    else:
        for inner in typing.get_args(kind):
            words_of(inner, found)
    return found


def test_the_stored_words_of_this_schema_version_are_pinned() -> None:
    """An older headcount cannot read a session with a word it does not know, and would set the whole
    store aside. So a new word needs a new schema version (its migration may be empty), which an
    older headcount refuses untouched. Until version 1 is released, write the words below into the file."""
    words = words_of(Claim, words_of(Session, {}))
    assert int(PINNED.stem.rpartition("_")[2]) <= SCHEMA_VERSION
    assert json.loads(PINNED.read_text()) == words, json.dumps(words, indent=1)
