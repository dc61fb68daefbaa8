"""The real CLI in tmux: where it is, what it leaves there, and going on with it."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rig.daemon.real_daemon import eventually
from tests.rig.real_agents.cli_with_daemon import Row, Stage
from tests.rig.terminal.terminal import is_typed
from tests.rig.terminal.tmux_servers import Server, has_ended
from tests.rig.waiting import wait_for

Make = Callable[..., Server]


class Shelled:
    """The CLI as people start it: typed into a shell that stays."""

    def __init__(self, scene: Stage, tmux: Server, *arguments: str) -> None:
        self.scene, self.tmux = scene, tmux
        env = " ".join(f"{name}={shlex.quote(value)}" for name, value in scene.claude.environment().items())
        line = f"cd {shlex.quote(str(scene.claude.project))}; env {env} claude {shlex.join(arguments)}; exec /bin/sh"
        self.pane = tmux.window("/bin/sh", "-c", line)
        self.row: Row = eventually(self._row, within=40)
        self.pid: int = self.row["pid"]

    def _row(self) -> Row | None:
        rows = [
            row for row in self.scene.rows(activity="idle") if (row["tmux"] or {}).get("pane") == self.pane
        ]
        return rows[0] if rows else None

    def close(self) -> None:
        if not has_ended(self.pid):
            os.kill(self.pid, signal.SIGKILL)


@pytest.fixture
def shelled() -> Iterator[Callable[..., Shelled]]:
    made: list[Shelled] = []

    def make(scene: Stage, tmux: Server, *arguments: str) -> Shelled:
        made.append(Shelled(scene, tmux, *arguments))
        return made[-1]

    yield make
    for each in made:
        each.close()


def left(scene: Stage, id: str) -> dict[str, list[dict[str, Any]]]:
    """What is there of it, by kind, once its end was looked into."""
    eventually(
        lambda: scene.daemon.get(f"/v1/history?session={id}&type=session.examined")["events"], within=20
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for row in scene.daemon.get(f"/v1/leftovers?session={id}")["leftovers"]:
        found.setdefault(row["kind"], []).append(row)
    return found


def test_the_pane_of_a_cli_with_an_empty_environment_is_known_and_killing_it_leaves_nothing(
    bare: Stage,
) -> None:
    """It was started by `env -i`: nothing in its environment names tmux."""
    tui, row = bare.open()
    try:
        row = eventually(lambda: next((each for each in bare.rows(pid=tui.pid) if each["where"]), None))
        assert row["where"] == "s:0.0"
        tui._tmux("kill-window", "-t", "s:0")
        end = bare.ended(row["id"])["ended"]
        assert end["kind"] == "exited"  # it takes the hang-up in an orderly way
        assert left(bare, row["id"]) == {}
    finally:
        tui.close()


def test_a_cli_that_exits_to_its_shell_leaves_the_pane_and_one_that_is_killed_also_its_record(
    hooked: Stage, base: Path, server: Make, shelled: Callable[..., Shelled]
) -> None:
    hooked.daemon.env["TMUX_TMPDIR"] = str(base)
    tmux = server()
    hooked.kill_daemon()
    hooked.start_daemon()
    first, second = shelled(hooked, tmux), shelled(hooked, tmux)
    os.kill(first.pid, signal.SIGINT)
    hooked.ended(first.row["id"])
    assert left(hooked, first.row["id"]).keys() == {"pane"}
    record = hooked.claude.sessions / f"{second.pid}.json"
    assert record.exists()
    os.kill(second.pid, signal.SIGKILL)
    hooked.ended(second.row["id"])
    found = left(hooked, second.row["id"])
    assert found.keys() == {"pane", "record"}
    assert found["record"][0]["what"] == str(record)
    assert found["pane"][0]["what"].startswith(second.row["where"])
    assert record.exists()
    assert {first.pane, second.pane} <= tmux.panes().keys()


def test_of_tmux_inside_tmux_the_inner_pane_is_the_clis(
    bare: Stage, base: Path, server: Make, shelled: Callable[..., Shelled]
) -> None:
    bare.daemon.env["TMUX_TMPDIR"] = str(base)
    outer, inner = server(), server("inner")
    bare.kill_daemon()
    bare.start_daemon()
    outer.window("sh", "-c", "unset TMUX; exec tmux -L inner attach -t work")
    eventually(lambda: inner.run("list-clients"))
    claude = shelled(bare, inner)
    assert claude.row["tmux"] == {"socket": inner.socket, "pane": claude.pane}


def test_resume_goes_on_with_the_conversation_in_its_directory_from_anywhere(
    hooked: Stage, base: Path, server: Make, shelled: Callable[..., Shelled]
) -> None:
    """Also after the session went below it: elsewhere the CLI does not find the conversation."""
    hooked.daemon.env["TMUX_TMPDIR"] = str(base)
    tmux = server()
    hooked.kill_daemon()
    hooked.start_daemon()
    claude = shelled(hooked, tmux)
    (hooked.claude.project / "src").mkdir()
    tui_type(tmux, claude.pane, 'SCRIPT:[{"bash": "cd src"}, {"say": "there"}]')
    row = hooked.settles(claude.pid, activity="done")
    assert row["cwd"] == str(hooked.claude.project / "src")
    os.kill(claude.pid, signal.SIGKILL)
    hooked.ended(row["id"])
    env = {**hooked.claude.environment(), "HEADCOUNT_HOME": str(hooked.daemon.home)}
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in env.items())
    pane = tmux.window(
        "/bin/sh", "-c", f"cd /; exec env {words} {sys.executable} -m headcount resume {row['id']}"
    )
    pid = tmux.panes()[pane]
    try:
        after = hooked.settles(pid, within=40, activity="idle")
        assert (after["conversation"], after["predecessor"]) == (row["conversation"], row["id"])
        assert wait_for("the old words", lambda: "there" in tmux.run("capture-pane", "-p", "-t", pane))
        refused = subprocess.run(
            [sys.executable, "-m", "headcount", "resume", row["id"]],
            env=hooked.daemon.env, capture_output=True, text=True,
        )  # fmt: skip
        assert refused.returncode == 3
        assert "a second writer would fork it" in refused.stderr
    finally:
        os.kill(pid, signal.SIGKILL)


def tui_type(tmux: Server, pane: str, text: str) -> None:
    def screen() -> str:
        return tmux.run("capture-pane", "-p", "-t", pane)

    tmux.run("resize-window", "-t", pane, "-x", "150", "-y", "45")
    before = screen()
    tmux.run("send-keys", "-t", pane, "-l", text)
    wait_for("the typed text", lambda: is_typed(text, before, screen()))
    still = [screen()]
    wait_for(
        "a still screen", lambda: still.append(screen()) or (len(set(still[-12:])) == 1 and len(still) > 12)
    )
    tmux.run("send-keys", "-t", pane, "Enter")
