"""The terminal UI on a real daemon: deaths, restarts, and one that hangs."""

import asyncio
import signal
import time
from collections.abc import Callable

from headcount.tui.app import Headcount
from tests.rig.agents.commands_inside import inside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.terminal.scripted_tui import bottom, screen, until

MakeAgent = Callable[..., Agent]


async def test_a_death_is_on_the_screen_with_the_real_daemon(daemon: Daemon, agent: MakeAgent) -> None:
    one, other = agent(), agent()
    id = await asyncio.to_thread(settled, one, daemon, session_title="i18n")
    await asyncio.to_thread(settled, other, daemon, session_title="flaky-ci")
    await asyncio.to_thread(inside, one, daemon, "claim", "task:I18N-4")
    app = Headcount(daemon.env)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: id in app.board.sessions)
        await pilot.press("slash", *"i18n", "enter")  # the machine may have a screen full of others
        app.listing.choose(id)
        await until(pilot, lambda: "kernel" in app.pane.text)
        assert "i18n is ALIVE, working." in app.pane.text
        assert "task:I18N-4" in app.pane.text
        await asyncio.to_thread(one.kill)
        await until(
            pilot, lambda: any("✗" in line and "i18n" in line and "killed" in line for line in screen(app))
        )
        await until(pilot, lambda: "i18n is ENDED" in app.pane.text)
        assert "killed (SIGKILL)" in app.pane.text


async def test_it_comes_back_by_itself_after_a_restart_of_the_daemon(
    daemon: Daemon, agent: MakeAgent
) -> None:
    one = agent()
    id = await asyncio.to_thread(settled, one, daemon)
    app = Headcount(daemon.env)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: id in app.board.sessions)
        await asyncio.to_thread(daemon.kill)
        await until(pilot, lambda: "No connection" in bottom(app))
        await asyncio.to_thread(daemon.ready)
        await until(pilot, lambda: "No connection" not in bottom(app))
        await asyncio.to_thread(one.hook, daemon.mailbox, "Stop")
        await until(pilot, lambda: app.board.sessions[id]["activity"] == "done")


async def test_a_daemon_that_hangs_is_lost_since_it_was_last_heard(daemon: Daemon, agent: MakeAgent) -> None:
    """It is stopped, not gone: the connection stands, and nothing comes."""
    id = await asyncio.to_thread(settled, agent(), daemon)
    app = Headcount(daemon.env)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: id in app.board.sessions)
        assert daemon.process is not None
        daemon.process.send_signal(signal.SIGSTOP)
        stopped = time.time()
        await until(pilot, lambda: "No connection" in bottom(app))
        since = app.feed.lost_since
        assert since is not None and since <= stopped + 0.5, "not since it was noticed"
        daemon.process.send_signal(signal.SIGCONT)
        await until(pilot, lambda: "No connection" not in bottom(app))
