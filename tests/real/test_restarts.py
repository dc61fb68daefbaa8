"""The daemon is killed in the middle of things. What it says after its next start is what is so then."""

import pytest

from tests.rig.real_agents.claude import Claude, Tui
from tests.rig.real_agents.cli_with_daemon import Stage, stage, wait_file
from tests.rig.real_agents.trace_setup import DIALOG

LONG = "sh -c 'while [ ! -e go ]; do sleep 0.05; done'"


def go(scene: Stage) -> None:
    (scene.claude.project / "go").touch()


def to_tool(scene: Stage, tui: Tui) -> None:
    (scene.claude.project / "go").unlink(missing_ok=True)
    running = scene.claude.place / "running"
    running.unlink(missing_ok=True)
    scene.ask(tui, {"bash": f"touch {running}; {LONG}"}, {"say": "finished"})
    wait_file(running)
    scene.settles(tui.pid, activity="working")


@pytest.mark.parametrize("with_hooks", [True, False], ids=["hooks", "no hooks"])
def test_killed_in_mid_turn_it_ends_with_the_right_state(bare: Stage, with_hooks: bool) -> None:
    if with_hooks:
        bare.hooks("install")
    rest = "done" if with_hooks else "idle"
    tui, row = bare.open()
    with tui:
        to_tool(bare, tui)
        bare.kill_daemon()
        bare.start_daemon()  # still in the same turn
        assert bare.settles(tui.pid, activity="working")["id"] == row["id"]
        go(bare)
        assert bare.settles(tui.pid, activity=rest)["id"] == row["id"]

        to_tool(bare, tui)
        bare.kill_daemon()
        go(bare)  # the turn ends while the daemon is down
        tui.wait_status("idle")
        tui.wait_still()
        bare.start_daemon()
        assert bare.settles(tui.pid, activity=rest)["id"] == row["id"]

        to_tool(bare, tui)
        bare.kill_daemon()
        tui.keys("Escape")  # no hook tells of it
        tui.wait_status("idle")
        bare.start_daemon()
        assert bare.settles(tui.pid, activity="idle")["id"] == row["id"]

        bare.kill_daemon()
        tui.type("/clear")
        tui.wait_still(1.5)
        bare.start_daemon()
        cleared = bare.settles(tui.pid, activity="idle", conversation=bare.claude.records()[0]["sessionId"])
        old = bare.row(id=row["id"])
        assert (old["ended"]["kind"], old["ended"]["successor"]) == ("superseded", cleared["id"])

        bare.kill_daemon()
    bare.start_daemon()  # and the CLI ended meanwhile
    end = bare.ended(cleared["id"])["ended"]
    assert end["away"] and end["kind"] in ("unseen", "exited")  # how, while its zombie is not reaped yet


def test_killed_at_a_permission_dialog_it_ends_with_the_right_state(claude: Claude, tmp_path) -> None:
    claude.prepare()
    with stage(claude, tmp_path) as scene:
        scene.hooks("install")
        tui, row = scene.open()
        with tui:
            scene.ask(tui, {"bash": "touch a"}, {"say": "finished"})
            tui.wait_screen(DIALOG)
            wanted = {"activity": "waiting", "waiting_on": "permission", "doing": "Bash: touch a"}
            scene.settles(tui.pid, **wanted)
            scene.kill_daemon()
            scene.start_daemon()  # the dialog is still open
            assert scene.settles(tui.pid, **wanted)["id"] == row["id"]
            scene.kill_daemon()
            scene.wait_hearing(tui)
            tui.keys("Escape")  # answered while the daemon is down, and no hook reports it
            tui.wait_status("idle")
            scene.start_daemon()
            assert scene.settles(tui.pid, activity="idle")["id"] == row["id"]
            scene.kill_daemon()
            tui.wait_still()
            scene.ask(tui, {"bash": "touch b"}, {"say": "finished"})  # opened while the daemon is down
            tui.wait_screen(DIALOG)
            tui.wait_status("waiting")
            scene.start_daemon()
            asked = {"activity": "waiting", "waiting_on": "permission", "doing": "Bash: touch b"}
            assert scene.settles(tui.pid, **asked)["id"] == row["id"]
            assert not [seen for seen in scene.feed.rows() if seen.row["doing"] == "Bash: touch a"]
