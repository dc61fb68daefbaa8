"""Where a session is: which pane, which terminal, and what follows from a look."""

import pytest

from headcount.core.values.events import EventType
from headcount.core.values.evidence import Examined, Located
from headcount.core.values.session import SessionId
from headcount.core.values.terminal import (
    Pane,
    TerminalPlace,
    by_environment,
    in_tmux,
    pane_of,
    server_socket,
)
from tests.rig.core_values import T0, Scene, bound, death, process, start

P = process(100)


def pane(pid: int, id: str = "%1", **more: object) -> Pane:
    fields: dict[str, object] = {
        "socket": "/tmp/tmux-0/default", "server": 50, "server_since": 7, "window": "@1", "dead": False,
        "attached": False, "session": "work", "window_index": 3, "index": 1,
    }  # fmt: skip
    return Pane(id=id, pid=pid, **{**fields, **more})  # type: ignore[arg-type]


def test_the_pane_of_the_nearest_process_above_is_the_sessions() -> None:
    outer, inner = pane(10, "%1"), pane(30, "%2", socket="/tmp/tmux-0/inner")
    assert pane_of([40, 30, 20, 10], [outer, inner]) == inner
    assert pane_of([40, 20, 10], [outer, inner]) == outer
    assert pane_of([40, 20], [outer, inner]) is None


def test_a_pane_that_several_sessions_of_tmux_show_is_named_by_the_one_that_is_looked_at() -> None:
    away, here = pane(10, session="a"), pane(10, session="b", attached=True)
    found = pane_of([10], [away, here])
    assert found is not None
    assert found.text == "b:3.1"


def test_a_dead_panes_number_is_nobodys() -> None:
    assert pane_of([10], [pane(10, dead=True)]) is None


@pytest.mark.parametrize(
    ("tmux", "socket"),
    [
        ("/tmp/tmux-1000/default,4711,0", "/tmp/tmux-1000/default"),
        ("/tmp/with,comma/default,4711,0", "/tmp/with,comma/default"),
        ("", None),
        ("default,1,0", None),
        ("/tmp/x", None),
    ],
)
def test_the_server_is_read_from_the_environment(tmux: str, socket: str | None) -> None:
    assert server_socket({"TMUX": tmux}) == socket


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({"TERM_PROGRAM": "vscode"}, "vscode"),
        ({"TERM_PROGRAM": "\x1b[31mevil"}, None),
        ({"KITTY_WINDOW_ID": "7"}, "kitty"),
        ({"KITTY_WINDOW_ID": "7;rm"}, None),
        ({"KITTY_WINDOW_ID": "７"}, None),
        ({"WEZTERM_PANE": "3\n"}, None),
        ({"SSH_TTY": "/dev/pts/3"}, "ssh"),
        ({}, None),
    ],
)
def test_a_terminal_is_shown_in_our_own_words_or_not_at_all(
    environ: dict[str, str], text: str | None
) -> None:
    found = by_environment(environ)
    assert (found.text if found else None) == text


def test_a_place_is_kept_with_the_session_and_told_only_when_it_changed() -> None:
    scene = Scene()
    scene.hear(start(anchor=bound(P)))
    id = scene.only().id
    where = in_tmux(pane(100))
    first = scene.hear(Located(id, where, T0 + 1))
    again = scene.hear(Located(id, where, T0 + 2))
    assert [event.type for event in first.events] == [EventType.SESSION_CHANGED]
    assert again.events == []
    assert scene.only().where == where
    scene.hear(Located(id, None, T0 + 3))
    assert scene.only().where is None


def test_an_ended_session_stays_where_it_was_last() -> None:
    scene = Scene()
    scene.hear(start(anchor=bound(P)))
    id = scene.only().id
    scene.hear(Located(id, TerminalPlace("vscode", "vscode"), T0 + 1))
    scene.hear(death(P, T0 + 2, signal=9))
    scene.hear(Located(id, None, T0 + 3), Located(SessionId("nobody"), None, T0 + 3))
    found = scene.only().where
    assert found is not None
    assert found.text == "vscode"


def test_what_a_death_left_is_told_once_it_was_looked_for_and_never_of_the_living() -> None:
    scene = Scene()
    scene.hear(start(anchor=bound(P)))
    id = scene.only().id
    assert scene.hear(Examined(id, T0 + 1)).events == []
    scene.hear(death(P, T0 + 2, signal=9))
    (event,) = scene.hear(Examined(id, T0 + 3, ("task:A",), True)).events
    assert event.type is EventType.SESSION_EXAMINED
    assert event.facts == {"freed": ["task:A"], "left": {}, "resumable": True}
