"""The liveness table, walked whole."""

import pytest
from msgspec.structs import replace

from headcount.core.values.session import (
    LIVENESS,
    Ended,
    EndKind,
    Liveness,
    Session,
    SessionId,
    Turnpoint,
    after,
    can,
)


def a_session(liveness: Liveness, ended: Ended | None = None) -> Session:
    return Session(SessionId("a"), "claude-code", "c", liveness, 0.0, 0.0, "boot", ended=ended)


@pytest.mark.parametrize("point", Turnpoint)
@pytest.mark.parametrize("liveness", Liveness)
def test_every_pair_is_in_the_table_or_cannot_happen(liveness, point):
    session = a_session(
        liveness, Ended(1.0, EndKind.EXITED, "exited") if liveness is Liveness.ENDED else None
    )
    expected = LIVENESS[liveness].get(point)
    assert can(session, point) is (expected is not None)
    if expected is None:
        with pytest.raises(KeyError):
            after(session, point)
    else:
        assert after(session, point) is expected


@pytest.mark.parametrize("liveness", [Liveness.ALIVE, Liveness.DOUBTED])
def test_time_and_farewells_cannot_touch_a_session_with_a_process(liveness):
    assert Turnpoint.UNHEARD not in LIVENESS[liveness]
    assert Turnpoint.END_REPORTED not in LIVENESS[liveness]


def test_doubt_never_ends_anything():
    assert all(row.get(Turnpoint.DOUBT) is not Liveness.ENDED for row in LIVENESS.values())


@pytest.mark.parametrize("kind", [kind for kind in EndKind if kind is not EndKind.REPORTED])
@pytest.mark.parametrize("point", Turnpoint)
def test_a_proven_end_is_final(kind, point):
    assert not can(a_session(Liveness.ENDED, Ended(1.0, kind, "")), point)


def test_an_end_that_was_only_reported_gives_way_to_a_sign_of_life():
    session = a_session(Liveness.ENDED, Ended(1.0, EndKind.REPORTED, "said goodbye"))
    assert after(session, Turnpoint.HEARD) is Liveness.UNBOUND
    assert after(session, Turnpoint.BOUND) is Liveness.ALIVE
    assert not can(replace(session), Turnpoint.UNHEARD)
