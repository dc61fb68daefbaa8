"""The terminal UI through Textual's pilot: keys, order, 500 rows, hostile strings."""

import time
from pathlib import Path

import pytest
from rich.style import Style

from headcount import times
from headcount.present.screen import Screen
from headcount.present.session_words import rows_of
from headcount.present.table import draw
from headcount.tui import app as module
from headcount.tui.keys import Help
from headcount.tui.widgets import strip_of
from tests.present.sample_rows import SCREEN, session
from tests.rig.security.hostile_strings import filled, hostile, traces, word_of
from tests.rig.terminal.scripted_tui import Script, app_of, bottom, everything, screen, until

# --- drawing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50), (58, 20)])
async def test_the_rows_are_those_of_ps_at_every_width(size: tuple[int, int]) -> None:
    app = app_of(Script(SCREEN))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: len(app.board.sessions) == len(SCREEN) and "auth" in "".join(screen(app)))
        shown = screen(app)
        inner = app.listing.scrollable_content_region.width
        expected = draw(rows_of(SCREEN, time.time()), Screen(inner, False, True), everything=False)
        expected = [line for line in expected if not line.startswith("8 alive")]
        assert [line[:30] for line in shown[: len(expected)]] == [line.rstrip()[:30] for line in expected]
        assert all(len(line) <= size[0] for line in everything(app).split("\n"))


async def test_an_empty_machine_says_what_to_do() -> None:
    app = app_of(Script([]))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "headcount demo" in screen(app)[0])


async def test_an_alarm_stands_below_its_row_and_cannot_be_chosen() -> None:
    raw = session("aaaa0000", alarms=["conversation also open in 41877"])
    app = app_of(Script([raw, session("bbbb0000", ago=1)]))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: any("! conversation also open in 41877" in line for line in screen(app)))
        assert app.listing.chosen == "aaaa0000"
        await pilot.press("j")
        assert app.listing.chosen == "bbbb0000"


# --- keys ------------------------------------------------------------------------------------------


async def test_keys_move_find_and_go_to_the_next_that_needs_you() -> None:
    app = app_of(Script(SCREEN))
    async with app.run_test(size=(80, 24)) as pilot:
        listing = app.listing
        await until(pilot, lambda: listing.chosen is not None)
        assert listing.chosen == "7f3aaaaa"
        await pilot.press("j", "j")
        assert listing.chosen == "19beaaaa"
        await pilot.press("k")
        assert listing.chosen == "c01daaaa"
        await pilot.press("G")
        assert listing.chosen == "5e61aaaa"
        await pilot.press("n")
        assert listing.chosen == "7f3aaaaa"
        await pilot.press("n")
        assert listing.chosen == "c01daaaa"
        await pilot.press("slash", *"i18n")
        await until(pilot, lambda: [row.full_id for row in app._rows] == ["02b7aaaa"])
        await pilot.press("enter")
        assert not app.field.has_class("open") and "only: i18n" in bottom(app)
        await pilot.press("escape")
        await until(pilot, lambda: len(app._rows) == len(SCREEN))
        await pilot.press("question_mark")
        assert isinstance(app.screen, Help)
        await pilot.press("escape")
        assert not isinstance(app.screen, Help)
        await pilot.press("q")
    assert app.return_code == 0


async def test_the_screen_behind_the_help_goes_on() -> None:
    script = Script(SCREEN)
    app = app_of(script)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.listing.chosen)
        await pilot.press("question_mark")
        script.tell({"type": "session.activity", "seq": 2, "session": {**SCREEN[1], "doing": "went on"}})
        await until(pilot, lambda: "went on" in "".join(screen(app)))
        await pilot.press("q")
        assert app.is_running and not isinstance(app.screen, Help), "q closes the help, not the program"


async def test_letters_typed_into_the_field_are_no_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(module, "run_verb", lambda verb, session: ran.append(verb) or "done")
    app = app_of(Script(SCREEN))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.listing.chosen)
        await pilot.press("slash", *"ssnq")
        assert app.is_running and app.board.wanted == "ssnq" and ran == []


async def test_stop_needs_a_second_press_on_the_same_row_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, str]] = []
    monkeypatch.setattr(module, "run_verb", lambda verb, session: ran.append((verb, session)) or "it ended")
    app = app_of(Script(SCREEN))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.listing.chosen)
        await pilot.press("s")
        assert "auth-refactor" in bottom(app) and "s again" in bottom(app) and ran == []
        await pilot.press("j", "s")
        assert ran == [], "another row: the first press there"
        monkeypatch.setattr(times, "TUI_STOP_AGAIN_WITHIN", 0.0)
        await pilot.press("k", "s")
        await pilot.pause(0.02)
        await pilot.press("s")
        assert ran == [], "too late"
        monkeypatch.setattr(times, "TUI_STOP_AGAIN_WITHIN", 60.0)
        await pilot.press("s", "s")
        await until(pilot, lambda: ran == [("stop", "7f3aaaaa")])
        await until(pilot, lambda: "it ended" in bottom(app))


async def test_enter_runs_the_verb_that_goes_there(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, str]] = []
    monkeypatch.setattr(module, "run_verb", lambda verb, session: ran.append((verb, session)) or "shown")
    app = app_of(Script(SCREEN))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.listing.chosen)
        await pilot.press("enter")
        await until(pilot, lambda: ran == [("jump", "7f3aaaaa")])


async def test_rows_keep_their_places_while_one_moves_and_thaw_after(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(SCREEN)
    app = app_of(script)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.listing.chosen)
        monkeypatch.setattr(times, "TUI_THAW_AFTER", 1_000.0)
        await pilot.press("j")
        order = [row.full_id for row in app._rows]
        urgent = session("02b7aaaa", activity="waiting", waiting_on="plan", ago=9999)
        script.tell({"type": "session.activity", "seq": 2, "session": urgent})
        await until(pilot, lambda: any("plan" in line for line in screen(app)))
        assert [row.full_id for row in app._rows] == order
        chosen = app.listing.chosen
        monkeypatch.setattr(times, "TUI_THAW_AFTER", 0.0)
        await until(pilot, lambda: app._rows[0].full_id == "02b7aaaa")
        assert app.listing.chosen == chosen, "the cursor stays on its session"


async def test_a_lost_connection_is_shown_at_once_with_its_age() -> None:
    script = Script(SCREEN)
    app = app_of(script)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.listing.chosen)
        script.lost_since = time.time() - 70
        script.tell()
        await until(pilot, lambda: "No connection for 1m" in bottom(app))


async def test_tabs_show_claims_and_leftovers() -> None:
    claim = {"item": "task:AUTH-12", "fence": 12, "holder": {"session": "7f3aaaaa", "name": "auth-refactor"},
             "since": SCREEN[0]["since"], "note": "login form", "waiting": 2}  # fmt: skip
    left = {"kind": "process", "session": "02b7aaaa", "pid": 41377, "what": "41377 node vite :5173",
            "evidence": ["child seen 13:58"], "memory_bytes": 1_400_000_000}  # fmt: skip
    answers = {"/v1/claims": {"claims": [claim]}, "/v1/leftovers": {"leftovers": [left]}}
    app = app_of(Script(SCREEN, answers))
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: app.listing.chosen)
        await pilot.press("2")
        await until(pilot, lambda: "task:AUTH-12" in everything(app))
        assert "auth-refactor" in everything(app) and "2 waiting" in everything(app)
        await pilot.press("tab")
        await until(pilot, lambda: "41377 node vite" in everything(app))
        assert "1.3 GB" in everything(app) and "child seen 13:58" in everything(app)


async def test_the_footer_tells_of_alarms_contested_claims_and_memory_of_the_dead() -> None:
    answers = {"/v1/claims": {"claims": [{"item": "task:A", "waiting": 1}, {"item": "task:B", "waiting": 0}]},
               "/v1/leftovers": {"leftovers": [{"kind": "process", "memory_bytes": 2**30}] * 2},
               "/v1/today": {"any_s": 2820}}  # fmt: skip
    for cells, expected in (
        (160, "1 alarm · 1 contested · 2.0 GB left behind · waited on you 47m today"),
        (100, "1 alarm"),
    ):
        app = app_of(Script([session("aaaa0000", alarms=["x"])], answers))
        async with app.run_test(size=(cells, 24)) as pilot:
            await until(pilot, lambda app=app, expected=expected: bottom(app).endswith(expected))


async def test_where_there_is_no_route_a_tab_is_empty_and_nothing_fails() -> None:
    app = app_of(Script(SCREEN))
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: app.listing.chosen)
        await pilot.press("2")
        await until(pilot, lambda: "Nobody holds anything." in everything(app))
        await pilot.press("3")
        await until(pilot, lambda: "Nothing was left behind." in everything(app))


# --- many and hostile ------------------------------------------------------------------------------


async def test_five_hundred_rows_draw_only_what_is_seen() -> None:
    """By count, not by the clock: a frame makes the lines of the screen and no more. The naive way makes all."""
    crowd = [session(f"{number:08x}", name=f"agent-{number}", ago=number) for number in range(500)]
    app = app_of(Script(crowd))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: len(app._rows) == 500)
        listing = app.listing
        drawn: list[int] = []
        original = listing._draw
        listing._draw = lambda index: drawn.append(index) or original(index)
        shown = screen(app)
        assert len(shown) <= 40 and 0 < len(drawn) <= 40
        await pilot.press("G")
        assert listing.chosen == app._rows[-1].full_id
        assert app._rows[-1].name in "".join(screen(app)), "the last row was scrolled to"
        await pilot.press("g")
        assert app._rows[0].name in screen(app)[1]


async def test_many_events_are_one_frame() -> None:
    script = Script(SCREEN)
    app = app_of(script)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.listing.chosen)
        frames: list[float] = []
        original = app._draw
        app._draw = lambda: frames.append(time.monotonic()) or original()  # type: ignore[method-assign]
        raw = SCREEN[1]
        for seq in range(2, 1002):
            script.tell({"type": "session.activity", "seq": seq, "session": {**raw, "doing": f"step {seq}"}})
        await until(pilot, lambda: "step 1001" in "".join(screen(app)))
        assert len(frames) < 100, f"{len(frames)} frames for 1,000 events"


async def test_no_hostile_string_is_interpreted_in_any_field() -> None:
    """Two thousand strings in every field of rows, claims, leftovers, explanations and timelines."""
    base = session("x", name="n", doing="d", cwd="/c", title="t", where="w", resume="r", alarms=["a"],
                   claims=["task:X"], background=[{"id": "1", "kind": "k", "label": "l"}])  # fmt: skip
    explanation = {"session": base, "liveness": {"evidence": [{"says": "s", "because": "b", "source": "s", "at": None,
                   "stands": False, "why_not": "w"}]}, "activity": {}, "binding": {"value": "v", "because": "b"},
                   "agree": False, "would_change": ["x"]}  # fmt: skip
    strings = hostile()
    rows = []
    for number, string in enumerate(strings):
        raw = filled(
            {key: base[key] for key in ("name", "doing", "cwd", "title", "where", "resume", "alarms")}, string
        )
        rows.append({**base, **raw, "id": f"{number:08x}"})
    app = app_of(Script(rows, {"/v1/claims": {"claims": [filled({"item": "i", "holder": {"name": "n", "session": "s"},
                                                                 "note": "n", "fence": "f"}, each) for each in strings]},
                               "/v1/leftovers": {"leftovers": [filled({"kind": "k", "session": "s", "what": "w",
                                                                       "evidence": ["e"]}, each) for each in strings]},
                               "explain": filled(explanation, strings[7])}))  # fmt: skip
    async with app.run_test(size=(200, 50)) as pilot:
        await until(pilot, lambda: len(app._rows) == len(strings))
        listing = app.listing
        for tab in ("1", "2", "3"):
            await pilot.press(tab)
            await until(pilot, lambda: len(listing._keys) >= len(strings))
            lines = [listing._draw(index) for index in range(len(listing._keys))]
            text = "\n".join("".join(part for part, _ in line) for line in lines)
            assert traces(text) == []
            assert sum(word_of(each) in text for each in strings) > len(strings) * 0.9, "they were shown"
        await pilot.press("1")
        await until(pilot, lambda: len(app.pane.text) > 100)
        for _ in range(5):
            await pilot.press("pagedown")
            assert traces(everything(app)) == []


def test_what_was_forgotten_to_be_cleaned_is_cleaned_when_it_is_painted() -> None:
    for string in hostile():
        assert traces(strip_of([(string, "plain")], 80, Style()).text, lines=False) == []


async def test_markup_of_a_title_is_shown_as_it_is() -> None:
    title = "[bold red]x[/] [link=file:///etc]y[/link] [@click=app.quit]z[/]"
    app = app_of(Script([session("aaaa0000", name=title, doing=title)]))
    async with app.run_test(size=(200, 24)) as pilot:
        await until(pilot, lambda: title in "".join(screen(app)))
        assert title in everything(app)
        styles = [str(part.style) for part in app.listing.render_line(1)]
        assert not any("link" in style or "@click" in style for style in styles)


# --- words and counts ---------------------------------------------------------------------------------


async def test_before_the_daemon_has_spoken_nobody_is_said_to_be_absent() -> None:
    script = Script(SCREEN)
    snapshot, script._waiting = script._waiting, []
    app = app_of(script)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        said = "\n".join(screen(app))
        assert "Asking who is here" in said and "No agents" not in said and "alive" not in app.top_bar.text
        script.tell(*snapshot)
        await until(pilot, lambda: len(app._rows) == len(SCREEN))
        assert f"{sum(raw['liveness'] == 'alive' for raw in SCREEN)} alive" in app.top_bar.text


async def test_who_filters_still_sees_how_many_there_are_and_that_others_wait() -> None:
    app = app_of(Script(SCREEN))
    async with app.run_test(size=(120, 24)) as pilot:
        await until(pilot, lambda: len(app._rows) == len(SCREEN))
        before = app.top_bar.text
        await pilot.press("slash", *"i18n")
        await until(pilot, lambda: len(app._rows) == 1)
        assert f"1 of {len(SCREEN)} fit" in bottom(app)
        await pilot.press("enter")
        assert f"only: i18n, 1 of {len(SCREEN)}" in bottom(app)
        assert app.top_bar.text == before
        await pilot.press("n")
        assert "others do" in bottom(app)


async def test_a_key_that_can_do_nothing_says_so() -> None:
    dead = session("dead0000", name="gone")
    app = app_of(script := Script([dead]))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(app._rows) == 1)
        over = {"at": dead["since"], "because": "exited", "kind": "exited", "signal": None, "exit_code": 0}
        script.tell({"type": "session.ended", "session": dead | {"liveness": "ended", "ended": over}})
        await pilot.press("j")
        await until(pilot, lambda: app.board.sessions["dead0000"]["liveness"] == "ended")
        await pilot.press("s")
        assert "has ended" in bottom(app) and "again" not in bottom(app)
        await pilot.press("2", "s")
        assert "s stops an agent" in bottom(app)


async def test_leftovers_read_as_the_command_line_lists_them() -> None:
    left = {
        "id": "9f15", "kind": "process", "session": None, "pid": 41377, "what": "node vite", "ports": [5173], "cpu_s": 200.0,
        "memory_bytes": 1_400_000_000, "evidence": ["child seen 13:58"], "found_at": None, "age_s": 5.0,
    }  # fmt: skip
    app = app_of(Script(SCREEN, {"/v1/leftovers": {"leftovers": [left]}}))
    async with app.run_test(size=(120, 24)) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: any("41377 node vite :5173 cpu 3m" in line for line in screen(app)))
        assert any("1.3 GB" in line for line in screen(app))
        assert "headcount reap --id 9f15 --yes" in app.pane.text


def test_no_other_verb_pays_for_the_screen() -> None:
    import subprocess
    import sys

    code = "import sys; import headcount.cli.main, headcount.cli.commands.ps, headcount.cli.commands.tui as t; " \
           "print('textual' in sys.modules, 'rich' in sys.modules)"  # fmt: skip
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path.cwd())
    assert said.stdout.split() == ["False", "False"]
