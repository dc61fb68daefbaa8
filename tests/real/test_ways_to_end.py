"""Every way in which the real CLI ends, and what is told of it: by the kernel, with the CLI's own word where it has one."""

import os
import signal
import time
from collections.abc import Callable

import pytest

from tests.rig.daemon.real_daemon import eventually
from tests.rig.fake_apis.scripted_api import script
from tests.rig.real_agents.claude import Tui
from tests.rig.real_agents.cli_with_daemon import Row, Stage, note, processes_of
from tests.rig.waiting import wait_for

BUSY = ({"bash": "sh -c 'sleep 60'"}, {"say": "finished"})
LABEL = "Bash: sh -c 'sleep 60'"


def end_of(scene: Stage, row: Row, what: str) -> tuple[str, str, int | None, int | None]:
    """How it ended. The CLI's own word, where it has one, is a file that may be read a moment after the death."""
    began = time.time()
    scene.ended(row["id"])
    note(f"{what}: told after", time.time() - began)
    eventually(lambda: not list(scene.daemon.mailbox.glob("[0-9]*")))
    end = scene.ended(row["id"])["ended"]
    assert not end["away"] and end["successor"] is None
    return end["kind"], end["because"], end["exit_code"], end["signal"]


def twice(tui: Tui, key: str) -> None:
    tui.keys(key)
    tui.wait_screen("again")
    tui.keys(key)


def kill(number: int) -> Callable[[Tui], None]:
    return lambda tui: os.kill(tui.pid, number)


LEFT = ("exited", "exited (prompt_input_exit)", 0, None)
TUI_ENDS: dict[str, tuple[Callable[[Tui], None], tuple[str, str, int | None, int | None]]] = {
    "/exit": (lambda tui: tui.type("/exit"), LEFT),
    "Ctrl-D": (lambda tui: twice(tui, "C-d"), LEFT),
    "Ctrl-C": (lambda tui: twice(tui, "C-c"), LEFT),
    "SIGINT": (kill(signal.SIGINT), ("exited", "exited", 0, None)),
    "SIGTERM": (kill(signal.SIGTERM), ("exited", "exited with code 143 (SIGTERM)", 143, None)),
    "SIGHUP": (kill(signal.SIGHUP), ("exited", "exited with code 129 (SIGHUP)", 129, None)),
    "SIGKILL": (kill(signal.SIGKILL), ("killed", "killed (SIGKILL)", None, 9)),
}


@pytest.mark.parametrize("ways", [("/exit", "Ctrl-D", "Ctrl-C", "SIGINT"), ("SIGTERM", "SIGHUP", "SIGKILL")])
def test_every_end_of_a_tui_is_told_with_its_reason(hooked: Stage, ways: tuple[str, ...]) -> None:
    """Several at once: the end of one must say nothing of the others."""
    tuis = {way: Tui(hooked.claude) for way in ways}
    try:
        for tui in tuis.values():
            tui.wait_ready()
        rows = {way: hooked.settles(tui.pid, activity="idle") for way, tui in tuis.items()}
        for way, tui in tuis.items():
            act, told = TUI_ENDS[way]
            act(tui)
            assert end_of(hooked, rows[way], way) == told, way
            del rows[way]
            for other, row in rows.items():
                assert hooked.row(id=row["id"])["liveness"] == "alive", (way, other)
    finally:
        for tui in tuis.values():
            tui.close()


def test_a_closed_terminal_ends_a_session_at_rest_and_one_at_work(hooked: Stage) -> None:
    resting, _ = hooked.open()
    busy, _ = hooked.open()
    hooked.ask(busy, *BUSY)
    hooked.settles(busy.pid, doing=LABEL, activity="working")
    for tui, what in ((resting, "closed terminal, idle"), (busy, "closed terminal, busy")):
        row = hooked.current(tui.pid)
        tui.close()
        kind, because, code, number = end_of(hooked, row, what)
        # It hears of it twice, by SIGHUP and by the end of its input: whichever comes first gives the code.
        assert (kind, number) == ("exited", None) and code in (0, 129)
        assert because == ("exited" if code == 0 else "exited with code 129 (SIGHUP)")


@pytest.mark.parametrize(
    ("number", "returned", "told"),
    [
        (signal.SIGTERM, 143, ("exited", "exited with code 143 (SIGTERM)", 143, None)),
        (signal.SIGHUP, 129, ("exited", "exited with code 129 (SIGHUP)", 129, None)),
        (signal.SIGINT, 0, ("exited", "exited", 0, None)),
        (signal.SIGKILL, -9, ("killed", "killed (SIGKILL)", None, 9)),
    ],
)
def test_every_end_of_a_print_run_is_told_with_its_code(
    hooked: Stage, number: int, returned: int, told: tuple[str, str, int | None, int | None]
) -> None:
    run = hooked.claude.start_print(script(*BUSY))
    try:
        row = hooked.settles(run.pid, doing=LABEL, activity="working")
        run.send_signal(number)
        run.communicate(timeout=20)
        assert run.returncode == returned
        assert end_of(hooked, row, f"-p {signal.Signals(number).name}") == told
        if number == signal.SIGKILL:  # leftovers: its registry file, and its tool as an orphan
            assert [each["pid"] for each in hooked.claude.records()] == [run.pid]
            wait_for("the tool that lives on", lambda: processes_of(hooked.claude))
            assert hooked.row(id=row["id"])["liveness"] == "ended"
        else:
            assert hooked.claude.records() == []
    finally:
        run.kill()
        run.communicate()


def test_a_print_run_that_ends_by_itself_exited(hooked: Stage) -> None:
    run = hooked.claude.start_print(script({"bash": "sh -c 'sleep 0.5'"}, {"say": "finished"}))
    try:
        row = hooked.settles(run.pid, activity="working")
        assert run.communicate(timeout=60)[0] == "finished\n"
        assert end_of(hooked, row, "-p end") == ("exited", "exited", 0, None)
        assert hooked.row(id=row["id"])["activity"] == "done"
    finally:
        run.kill()
        run.communicate()
