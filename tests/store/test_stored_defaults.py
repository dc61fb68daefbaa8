"""A default is not stored, so it is part of the format: one that changed would change what rows of before mean."""

import msgspec
import pytest

from headcount.core.state.claims import AnsweredRequest
from headcount.core.values.activity import Activity, Doing, RegistryStatus, Turned
from headcount.core.values.claim import Claim
from headcount.core.values.events import EventType
from headcount.core.values.leftover import Find, Leftover
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import (
    Checkout,
    Ended,
    Leaving,
    Note,
    Origin,
    Registration,
    Session,
    Spent,
    Stall,
)
from headcount.store.codec import decode_event, decode_session, encode_session
from tests.store.sample_values import session

NONE = dict.fromkeys

PINNED: dict[type[msgspec.Struct], dict[str, object]] = {
    Session: NONE(
        [
            "process",
            "bound_by",
            "turned",
            "status",
            "name",
            "title",
            "context_tokens",
            "context_window",
            "spent",
            "version",
            "role",
            "cwd",
            "model",
            "transcript",
            "permission_mode",
            "entrypoint",
            "checkout",
            "stall",
            "parent",
            "predecessor",
            "leaving",
            "ended",
            "registration",
            "where",
            "archived_at",
        ]
    )
    | {"hosted_at": 0.0, "liveness_because": "", "liveness_at": 0.0, "provisional": False}
    | {"background": (), "groups": (), "origins": (), "alarms": (), "notes": (), "activity": Activity()},
    Ended: {"exit_code": None, "signal": None, "away": False, "successor": None, "told": True},
    Leaving: {},
    Note: {"code": ""},
    Registration: {"name": None, "role": None, "groups": (), "window": False},
    Turned: {"source": "hook", "waiting_on": None, "label": None, "failure": None},
    RegistryStatus: {"waiting_on": None, "source": "registry", "rested": 0.0},
    Activity: NONE(["waiting_on", "label", "failure"])
    | {"doing": Doing.UNKNOWN, "source": "none", "because": "nothing heard yet", "at": 0.0, "since": 0.0},
    Origin: {},
    Checkout: {"worktree": None},
    Spent: {"cost_usd": None},
    Stall: {"transcript_at": None},
    ProcessIdentity: {"started": None, "inode": None},
    Claim: NONE(["session", "conversation", "note", "request", "freed", "freed_at", "host"])
    | {"since": 0.0, "until_empty": False},
    Find: {"process": None, "facts": {}},
    Leftover: {"of": None, "gone_at": None, "gone_because": None, "facts": {}},
    AnsweredRequest: {"claim": None, "retold": False, "lost": False},
}


@pytest.mark.parametrize("kind", PINNED, ids=lambda kind: kind.__name__)
def test_the_defaults_of_what_is_stored_are_those_of_the_rows_of_before(kind: type[msgspec.Struct]) -> None:
    found = {}
    for field in msgspec.structs.fields(kind):
        if field.default is not msgspec.NODEFAULT:
            found[field.name] = field.default
        elif field.default_factory is not msgspec.NODEFAULT:
            found[field.name] = field.default_factory()
    assert found == PINNED[kind], "add a field, or a migration that writes the old value out (decision 0084)"


def test_a_row_says_nothing_of_what_is_default() -> None:
    assert b"null" not in encode_session(session(title=None, stall=None))


def test_rows_of_before_with_a_field_that_was_removed_still_load() -> None:
    """`quiet` was a field of a session, and of the events that changed it."""
    quiet = b'"quiet":{"at":1.0,"until":2.0,"why":"bench","by":"operator"}'
    before = session(name="api")
    assert decode_session(encode_session(before)[:-1] + b"," + quiet + b"}") == before
    body = b'{"delta":{"name":"api",' + quiet + b"}}"
    event = decode_event((7, 1.0, EventType.SESSION_CHANGED.value, before.id, None, body))
    assert event is not None and event.delta == {"name": "api"}
