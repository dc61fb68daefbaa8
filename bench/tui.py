"""The terminal UI with 500 sessions: what a frame and a key cost, and how soon a death is on the screen.

Beside it, in turns: Textual's own table, filled again at every change, as most terminal UIs do.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from textual.app import App, ComposeResult
from textual.widgets import DataTable

from bench.figure import Figure, Ratio, Row
from bench.home import running, scratch
from bench.numbers import median, ms, percentile, times
from headcount.present.session_words import rows_of
from headcount.present.time_text import stamp
from headcount.tui.app import Headcount
from tests.rig.agents.crowd import Member
from tests.rig.daemon.real_daemon import Daemon

SESSIONS = 500
FRAMES = 60
DEATHS = 20
SIZE = (120, 40)
FRAME_MOST, SHOWN_MOST = 0.05, 0.2
Sample = dict[str, list[float]]


def measure() -> Figure:
    with scratch() as directory, running(directory, SESSIONS) as (daemon, crowd):
        sample = asyncio.run(_measured(daemon, crowd.members))
    naive = asyncio.run(_naive(_rows(SESSIONS)))
    base = median(sample["frame"])
    rows = (
        _row("a frame, one session changed", sample["frame"], base, FRAME_MOST),
        _row("a frame, every age grew", sample["tick"], base, FRAME_MOST),
        _row("`j`, drawn", sample["key"], base, FRAME_MOST),
        _row("a letter of a filter, drawn", sample["find"], base, FRAME_MOST),
        _row("kill to screen", sample["death"], base, SHOWN_MOST),
        _row("Textual's table, filled again", naive, base, None),
    )
    notes = (
        f"{SESSIONS} sessions on {SIZE[0]}×{SIZE[1]}, through Textual's pilot; {FRAMES} of each, {DEATHS} deaths.",
        "Frames and keys by the processor's time, deaths by the clock on the wall.",
        "Kill to screen includes the daemon, the stream and a frame of at most 50 ms.",
    )
    ratio = Ratio(
        f"a frame of the terminal UI, {SESSIONS} sessions",
        ms(base),
        f"Textual's table, filled again: {ms(median(naive))}",
        median(naive) / base,
        f"≤ {ms(FRAME_MOST)}",
        base <= FRAME_MOST,
    )
    return Figure("tui", "The terminal UI", ("median", "p90", "× a frame"), rows, notes, (ratio,))


def _row(what: str, sample: list[float], base: float, most: float | None) -> Row:
    cells = (ms(median(sample)), ms(percentile(sample, 0.9)), times(median(sample), base))
    if most is None:
        return Row(what, cells)
    return Row(what, cells, f"≤ {ms(most)}", median(sample) <= most)


async def _measured(daemon: Daemon, members: list[Member]) -> Sample:
    app = Headcount(daemon.env)
    async with app.run_test(size=SIZE) as pilot:
        while len(app.board.sessions) < SESSIONS:
            await pilot.pause(0.05)
        sample: Sample = {"frame": [], "tick": [], "key": [], "find": [], "death": []}
        ids = list(app.board.sessions)
        for number in range(FRAMES):
            raw = app.board.sessions[ids[number]]
            app.board.take({"type": "x", "session": {**raw, "doing": f"step {number}"}})
            sample["frame"].append(await _timed(_drawing(app, pilot)))
            app.board._made.clear()
            sample["tick"].append(await _timed(_drawing(app, pilot)))
            sample["key"].append(await _timed(lambda: pilot.press("j")))
            app.board.wanted = "ab"[: 1 + number % 2]
            sample["find"].append(await _timed(_drawing(app, pilot)))
            app.board.wanted = ""
        by_pid = {raw["pid"]: id for id, raw in app.board.sessions.items()}
        for member in members[:DEATHS]:
            shown = partial(_death, app, by_pid[member.pid], member)
            sample["death"].append(await _timed(shown, time.perf_counter))
    return sample


def _drawing(app: Headcount, pilot: Any) -> Callable[[], Awaitable[Any]]:
    async def draw() -> None:
        app._draw()
        for y in range(app.listing.size.height):
            app.listing.render_line(y)

    return draw


async def _death(app: Headcount, id: str, member: Member) -> None:
    member.kill()
    while app.board.sessions[id]["liveness"] != "ended" or id not in {
        row.full_id for row in app._rows if row.group == "ended"
    }:
        await asyncio.sleep(0.001)


async def _timed(work: Callable[[], Awaitable[Any]], clock: Callable[[], float] = time.process_time) -> float:
    """By the processor's time: what is drawn costs the same on a busy machine."""
    before = clock()
    await work()
    return clock() - before


# --- the alternative -------------------------------------------------------------------------------


class _Table(App[None]):
    def compose(self) -> ComposeResult:
        yield DataTable()


async def _naive(sessions: list[dict[str, Any]]) -> list[float]:
    app, taken = _Table(), []
    async with app.run_test(size=SIZE) as pilot:
        table = app.query_one(DataTable)
        table.add_columns("ID", "STATE", "FOR", "AGENT", "NAME", "REPO", "DOING")
        for _ in range(FRAMES // 4):
            before = time.process_time()
            table.clear()
            for row in rows_of(sessions, time.time()):
                table.add_row(row.id, row.state, row.age, row.agent, row.name, row.repo, row.doing)
            await pilot.pause()
            taken.append(time.process_time() - before)
    return taken


def _rows(count: int) -> list[dict[str, Any]]:
    now = stamp(time.time())
    return [
        {"id": f"{number:012x}", "agent": "claude-code", "liveness": "alive", "activity": "working", "since": now,
         "name": f"agent-{number}", "doing": "Bash: npm test", "cwd": "/", "alarms": [], "background": []}
        for number in range(count)
    ]  # fmt: skip
