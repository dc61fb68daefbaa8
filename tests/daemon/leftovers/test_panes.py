"""Which panes are leftovers, by value: every answer that tmux can give, and none."""

import pytest
from msgspec.structs import replace

from headcount.core.values.leftover import Find, Leftover, LeftoverKind, leftover_id
from headcount.core.values.session import Liveness, Session, SessionId
from headcount.core.values.terminal import Pane, in_tmux
from headcount.daemon.leftovers.panes import (
    Soon,
    bound_to_nothing,
    key_of,
    left_by,
    owned_by_nobody,
    seen_in,
    taken_by,
    why_gone,
)
from headcount.system.tmux import NoServer, Unreachable
from headcount.times import UNNAMED_AFTER
from tests.rig.core_values import T0, process

SOCKET = "/tmp/tmux-0/default"
SHELL = Pane(SOCKET, 50, 7, "%1", "@1", 90, False, False, "work", 3, 0, "web", "zsh")
SESSION = Session(
    SessionId("02b7aaaaaaaa"),
    "claude-code",
    "c",
    Liveness.ALIVE,
    T0,
    T0,
    "boot",
    process(100),
    where=in_tmux(SHELL),
)


def leftover(find: Find, session: SessionId | None = SESSION.id) -> Leftover:
    id = leftover_id(session, find.kind, find.key)
    return Leftover(id, find.kind, session, None, find.what, find.evidence, T0, facts=find.facts)


def found(**more: object) -> Find:
    find = left_by(SESSION, seen_in({SOCKET: [replace(SHELL, **more)]}), ())  # type: ignore[arg-type]
    assert isinstance(find, Find)
    return find


def test_the_shell_under_which_the_agent_ran_is_left() -> None:
    assert (found().kind, found().what) == (LeftoverKind.PANE, "work:3.0 zsh")
    assert found().process is None


def test_a_pane_whose_own_process_was_the_agent_is_about_to_close_or_kept() -> None:
    own = replace(SHELL, pid=100)
    assert left_by(SESSION, seen_in({SOCKET: [own]}), ()) is Soon.SETTLING
    assert isinstance(left_by(SESSION, seen_in({SOCKET: [replace(own, dead=True)]}), ()), Find)


@pytest.mark.parametrize("said", [[], NoServer(), Unreachable("silent"), [replace(SHELL, server_since=8)]])
def test_a_pane_that_is_not_seen_in_that_very_server_is_not_left(said: object) -> None:
    assert left_by(SESSION, seen_in({SOCKET: said}), ()) is None  # type: ignore[dict-item]


def test_a_pane_in_which_another_session_runs_is_that_ones() -> None:
    assert left_by(SESSION, seen_in({SOCKET: [SHELL]}), taken_by([SESSION])) is None


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([SHELL], None),
        (Unreachable("silent"), None),
        (NoServer(), "its tmux server is gone"),
        ([], "the pane is gone"),
        ([replace(SHELL, server=51)], "the pane is gone"),
    ],
)
def test_a_leftover_pane_is_gone_by_proof_only(said: object, why: str | None) -> None:
    assert why_gone(leftover(found()), {SOCKET: said}, {}, ()) == why  # type: ignore[dict-item]
    assert why_gone(leftover(found()), {}, {}, ()) is None  # its server was not asked


def test_a_leftover_pane_is_gone_when_a_session_runs_in_it() -> None:
    why = why_gone(leftover(found()), {SOCKET: [SHELL]}, taken_by([SESSION]), ())
    assert why == "02b7 runs in it"


def test_only_windows_of_named_tmux_sessions_without_a_session_and_not_reserved_are_nobodys() -> None:
    stray = replace(SHELL, id="%2", window="@2", window_index=4, window_name="old")
    reserved = replace(SHELL, id="%3", window="@3", window_index=5, window_name="notes")
    private = replace(SHELL, id="%4", window="@4", session="private")
    beside = replace(SHELL, id="%5", index=1)  # a second pane of the session's own window
    servers = {SOCKET: [SHELL, stray, reserved, private, beside]}
    taken = taken_by([SESSION])
    (only,) = owned_by_nobody(servers, ["work"], ["notes"], taken)
    assert (only.key, only.what) == (key_of(stray), "work:4 old")
    assert owned_by_nobody(servers, ["work"], ["notes", "4"], taken) == []
    assert owned_by_nobody(servers, [], [], taken) == []
    assert why_gone(leftover(only, None), servers, taken, [key_of(stray)]) is None
    assert why_gone(leftover(only, None), servers, taken, []) is not None


def test_an_agent_whose_conversation_nobody_named_is_reported_after_a_while_until_it_is_known() -> None:
    silent = replace(SESSION, conversation=None)
    servers = {SOCKET: [SHELL]}
    panes = seen_in(servers)
    assert bound_to_nothing([silent], panes, T0 + UNNAMED_AFTER) == []
    assert bound_to_nothing([SESSION], panes, T0 + UNNAMED_AFTER + 1) == []
    ((id, find),) = bound_to_nothing([silent], panes, T0 + UNNAMED_AFTER + 1)
    assert (id, find.what) == (SESSION.id, "work:3.0 claude-code, conversation unknown")
    assert why_gone(leftover(find), servers, taken_by([silent]), ()) is None
    assert why_gone(leftover(find), servers, taken_by([SESSION]), ()) is not None
    assert why_gone(leftover(find), servers, {}, ()) is not None
