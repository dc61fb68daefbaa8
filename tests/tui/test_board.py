"""The terminal UI's board: the order and the words of `ps`, which nothing moves under a cursor."""

import random

from headcount.present.session_words import rows_of
from headcount.tui.detail_pane import strip_of_lane
from headcount.tui.sessions import Board, next_that_needs_you
from headcount.tui.tab_lines import of_agents
from tests.present.sample_rows import NOW, SCREEN, at, session


def board_of(sessions: list[dict[str, object]]) -> Board:
    board = Board()
    board.take({"type": "snapshot", "seq": 1, "sessions": sessions})
    return board


def ids(board: Board) -> list[str]:
    return [row.full_id for row in board.rows(NOW)]


def test_the_order_and_the_words_are_those_of_ps() -> None:
    assert board_of(SCREEN).rows(NOW) == rows_of(SCREEN, NOW)


def test_nothing_moves_under_the_cursor_while_it_is_frozen() -> None:
    """Random events while frozen; the naive board, which orders at every event, moves."""
    board, naive = board_of(SCREEN), board_of(SCREEN)
    before = ids(board)
    board.freeze(NOW)
    chance, moved = random.Random(7), False
    for seq in range(2, 200):
        raw = dict(chance.choice(SCREEN))
        raw["activity"] = chance.choice(["working", "waiting", "done", "idle", "failed"])
        raw["since"] = at(chance.randint(0, 1000))
        for each in (board, naive):
            each.take({"type": "session.activity", "seq": seq, "session": raw})
        assert ids(board) == before
        moved = moved or ids(naive) != before
    assert moved
    board.take({"type": "session.started", "seq": 200, "session": session("00000000", activity="waiting")})
    assert ids(board) == [*before, "00000000"], "who is new comes last, however much it needs you"
    board.thaw()
    assert board.rows(NOW) == rows_of(board.sessions.values(), NOW)


def test_a_death_is_seen_for_a_while_and_then_forgotten() -> None:
    board = board_of(SCREEN)
    dead = {
        **SCREEN[0],
        "liveness": "ended",
        "ended": {"at": at(0), "because": "killed (SIGKILL)", "signal": 9},
    }
    board.freeze(NOW)
    board.take({"type": "session.ended", "seq": 2, "session": dead})
    board.tidy(NOW + 10_000)
    assert dead["id"] in ids(board), "not while somebody moves through the rows"
    board.thaw()
    board.tidy(NOW + 1)
    assert ids(board)[-1] == dead["id"]
    board.tidy(NOW + 10_000)
    assert dead["id"] not in ids(board)


def test_who_ended_before_it_was_seen_and_who_is_a_phantom_is_not_listed() -> None:
    board = board_of([session("aaaa1111", liveness="ended"), session("bbbb1111", provisional=True)])
    board.take({"type": "session.ended", "seq": 2, "session": session("cccc1111", liveness="ended")})
    assert ids(board) == []


def test_finding_is_by_every_word_and_shows_the_rest_again() -> None:
    board = board_of(SCREEN)
    board.wanted = "CLAUDE permission"
    assert ids(board) == ["7f3aaaaa"]
    board.wanted = "rate-lim"
    assert ids(board) == ["a44eaaaa"]
    board.wanted = ""
    assert len(ids(board)) == len(SCREEN)


def test_next_goes_round_those_that_need_you() -> None:
    rows = board_of(SCREEN).rows(NOW)
    first = next_that_needs_you(rows, None)
    second = next_that_needs_you(rows, first)
    assert (first, second) == ("7f3aaaaa", "c01daaaa")
    assert next_that_needs_you(rows, second) == first
    assert next_that_needs_you(rows, "5e61aaaa") == first
    assert next_that_needs_you([row for row in rows if row.group == "idle"], None) is None


def span(since: float, to: float, activity: str) -> dict[str, object]:
    return {"since": at(since), "to": at(to), "activity": activity, "waiting_on": None, "doing": None}


def test_the_strip_shows_the_loudest_and_hatches_where_headcount_was_blind() -> None:
    lane = {
        "session": "x",
        "spans": [
            span(100, 60, "working"),
            span(60, 55, "waiting"),
            span(55, 30, "working"),
            span(30, 0, "idle"),
        ],
        "claims": [{"since": at(95), "item": "task:A", "fence": 1, "to": None, "because": None}],
        "ended": None,
    }
    timeline = {"since": at(100), "to": at(0), "lanes": [lane], "blind": [{"since": at(19), "to": at(11)}]}
    text = "".join(part for part, _ in strip_of_lane(timeline, "x", 10))
    assert text == "◆▅▅▅█▅▅▁░▁" or text == "◆▅▅▅█▅▅▅░▁", text
    assert strip_of_lane(timeline, "y", 10) == []
    assert strip_of_lane({}, "x", 10) == []


def test_what_is_seen_now_is_shown_though_most_of_the_last_cell_was_blind() -> None:
    lanes = [{"session": "x", "spans": [span(2, 0, "waiting")]}]
    timeline = {"since": at(100), "to": at(0), "lanes": lanes, "blind": [{"since": at(100), "to": at(2)}]}
    assert "".join(part for part, _ in strip_of_lane(timeline, "x", 10)) == "░░░░░░░░░█"


def test_the_dead_do_not_take_the_room_of_the_living_on_a_narrow_screen() -> None:
    end = {"at": at(5), "because": "killed (SIGKILL)", "kind": "killed", "signal": 9, "exit_code": None}
    dead = session("dead0000", name="gone", liveness="ended", ended=end)
    live = [raw for raw in SCREEN if raw["liveness"] == "alive"]
    alone, both = of_agents(rows_of(live, NOW), 80), of_agents(rows_of([*live, dead], NOW), 80)
    assert [alone.draw(nth) for nth in range(3)] == [both.draw(nth) for nth in range(3)]
    assert "killed (SIGKILL)" in str(of_agents(rows_of([dead], NOW), 120).draw(0))
