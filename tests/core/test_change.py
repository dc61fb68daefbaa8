"""A changed session is what dataclasses.replace would have made."""

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from headcount.core.change import changed
from headcount.core.session import Liveness, Session, SessionId


def a_session() -> Session:
    return Session(SessionId("s"), "claude-code", "c", Liveness.ALIVE, 1.0, 2.0, "boot", name="n", cwd="/x")


@pytest.mark.parametrize("name", [field.name for field in fields(Session)])
def test_any_field_is_changed_and_no_other(name: str) -> None:
    before = a_session()
    after = changed(before, {name: "another"})
    assert after == replace(before, **{name: "another"})
    assert before == a_session()


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError):
        changed(a_session(), {"mood": "good"})


def test_the_new_one_is_frozen_too() -> None:
    with pytest.raises(FrozenInstanceError):
        changed(a_session(), {}).name = "x"  # type: ignore[misc]
