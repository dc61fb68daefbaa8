"""Claude Code 2.1.197 works too, with less: its `-p` runs put no status into the registry, so that without hooks
only the transcript says what they do."""

from tests.rig.fake_apis.scripted_api import script
from tests.rig.real_agents.claude import Claude
from tests.rig.real_agents.cli_with_daemon import note, stage, wait_file
from tests.rig.real_agents.trace_setup import DIALOG

WORK = script({"bash": "sh -c 'sleep 2'"}, {"say": "finished"})


def test_its_tui_is_seen_as_the_newest_is(older: Claude, tmp_path) -> None:
    older.prepare()
    with stage(older, tmp_path) as scene:
        scene.hooks("install")
        tui, row = scene.open()  # and no warning of an unknown event stands before its prompt
        with tui:
            assert row["conversation"] == older.records()[0]["sessionId"]
            scene.ask(tui, {"bash": "touch a"}, {"say": "finished"})
            tui.wait_screen(DIALOG)
            wanted = {"activity": "waiting", "waiting_on": "permission", "doing": "Bash: touch a"}
            assert scene.settles(tui.pid, **wanted)["id"] == row["id"]
            scene.wait_hearing(tui)
            since = scene.feed.mark()
            pressed = scene.press(tui, "Escape")
            note(
                "2.1.197: Esc at a dialog: idle after",
                scene.wait_row(since=since, pid=tui.pid, activity="idle").at - pressed,
            )
            tui.wait_still()
            tui.type("/clear")
            old = scene.ended(row["id"])
            cleared = scene.settles(tui.pid, activity="idle")
            assert (old["ended"]["kind"], old["ended"]["successor"]) == ("superseded", cleared["id"])
        assert scene.ended(cleared["id"])["ended"]["kind"] == "exited"
        assert scene.daemon.get("/v1/status")["unknown_events"] == {}


def test_its_print_runs_say_what_they_do_by_hooks_only(older: Claude, tmp_path) -> None:
    with stage(older, tmp_path) as scene:
        run = older.start_print(WORK)
        try:
            appeared = wait_file(older.sessions / f"{run.pid}.json")
            seen = scene.feed.wait(lambda row: row["pid"] == run.pid and row["conversation"] is not None)
            note("2.1.197 -p: listed after its registry file", seen.at - appeared)
            assert "status" not in older.records()[0]  # the control: why there is less
            assert run.communicate(timeout=60)[0] == "finished\n"
            end = scene.ended(seen.row["id"])
            assert (end["ended"]["kind"], end["ended"]["exit_code"]) == ("exited", 0)
            assert end["source"] in ("none", "transcript")
        finally:
            run.kill()
            run.communicate()

        scene.hooks("install")
        run = older.start_print(WORK)
        try:
            row = scene.settles(run.pid, activity="working", doing="Bash: sh -c 'sleep 2'", source="hook")
            run.communicate(timeout=60)
            assert scene.ended(row["id"])["activity"] == "done"
        finally:
            run.kill()
            run.communicate()
