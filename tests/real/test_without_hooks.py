"""Real Claude Code without any hook of ours: its registry and its process are enough to see it."""

import time

from tests.rig.fake_apis.scripted_api import script
from tests.rig.real_agents.claude import Claude, Tui
from tests.rig.real_agents.cli_with_daemon import Stage, note, stage, wait_file
from tests.rig.real_agents.trace_dialogs import QUESTION
from tests.rig.real_agents.trace_setup import DIALOG

GENEROUS = 3.0  # the figure is printed; a loaded machine must not fail the gate


def test_a_tui_and_a_print_run_are_listed_within_a_second_of_their_registry_file(bare: Stage) -> None:
    with Tui(bare.claude) as tui:
        appeared = wait_file(bare.claude.sessions / f"{tui.pid}.json")
        seen = bare.feed.wait(lambda row: row["pid"] == tui.pid and row["conversation"] is not None)
        note("TUI: listed after its registry file", seen.at - appeared)
        assert seen.at - appeared < GENEROUS
        tui.wait_status("idle")
        [record] = bare.claude.records()
        row = bare.settles(tui.pid, activity="idle", source="registry")
        assert (row["conversation"], row["liveness"]) == (record["sessionId"], "alive")
        assert (row["cwd"], row["name"], row["entrypoint"]) == (record["cwd"], record["name"], "cli")

    run = bare.claude.start_print(script({"bash": "sh -c 'sleep 1'"}, {"say": "finished"}))
    try:
        appeared = wait_file(bare.claude.sessions / f"{run.pid}.json")
        seen = bare.feed.wait(lambda row: row["pid"] == run.pid and row["conversation"] is not None)
        note("-p: listed after its registry file", seen.at - appeared)
        assert seen.at - appeared < GENEROUS
        row = bare.settles(run.pid, activity="working")
        assert (row["entrypoint"], row["liveness"]) == ("sdk-cli", "alive")
        assert "finished" in run.communicate(timeout=60)[0]
        end = bare.ended(row["id"])["ended"]
        assert (end["kind"], end["exit_code"], end["because"]) == ("exited", 0, "exited")
    finally:
        run.kill()
        run.communicate()


def test_a_session_at_the_trust_dialog_is_a_process_without_a_conversation(claude: Claude, tmp_path) -> None:
    claude.prepare(trusted=False)
    with stage(claude, tmp_path) as scene, Tui(claude) as tui:
        tui.wait_screen("trust")
        row = scene.settles(tui.pid, liveness="alive")
        assert (row["conversation"], row["activity"], row["agent"]) == (None, "unknown", "claude-code")
        assert claude.records() == []  # the control: no file, and no hook is installed
        scene.wait_hearing(tui)
        tui.keys("Down")  # from "No, exit" to "Yes"
        tui.wait_screen("❯ Yes")
        tui.keys("Enter")
        tui.wait_status("idle")
        named = scene.settles(tui.pid, activity="idle")
        assert named["id"] == row["id"] and named["conversation"] == claude.records()[0]["sessionId"]


def test_dialogs_are_waiting_and_esc_is_idle_at_once(claude: Claude, tmp_path) -> None:
    claude.prepare()
    with stage(claude, tmp_path) as scene:
        tui, row = scene.open()
        with tui:
            _permission_and_esc(scene, tui)
            _question_and_esc(scene, tui)
            _streaming_and_esc(scene, tui)
            assert scene.current(tui.pid)["id"] == row["id"]


def test_esc_during_a_running_tool_is_idle_at_once(bare: Stage) -> None:
    tui, _ = bare.open()
    with tui:
        bare.ask(tui, {"bash": f"touch {tui.claude.place}/running; sh -c 'sleep 60'"}, {"say": "finished"})
        wait_file(tui.claude.place / "running")
        bare.settles(tui.pid, activity="working")
        _esc(bare, tui, "Esc during a tool: idle after")


def _esc(scene: Stage, tui: Tui, what: str) -> None:
    since = scene.feed.mark()
    pressed = scene.press(tui, "Escape")
    seen = scene.wait_row(since=since, pid=tui.pid, activity="idle")
    note(what, seen.at - pressed)
    assert seen.at - pressed < GENEROUS
    tui.wait_status("idle")
    tui.wait_still()
    assert scene.current(tui.pid)["activity"] == "idle"


def _to_dialog(scene: Stage, tui: Tui, pattern: str, waiting_on: str, *steps: dict) -> None:
    since = scene.feed.mark()
    scene.ask(tui, *steps)
    tui.wait_screen(pattern)
    shown = time.time()
    seen = scene.wait_row(since=since, pid=tui.pid, activity="waiting", waiting_on=waiting_on)
    note(f"{waiting_on}: waiting after the dialog is on the screen (negative: before)", seen.at - shown)
    assert seen.at - shown < GENEROUS


def _permission_and_esc(scene: Stage, tui: Tui) -> None:
    _to_dialog(scene, tui, DIALOG, "permission", {"bash": "touch a"}, {"say": "finished"})
    scene.wait_hearing(tui)
    _esc(scene, tui, "Esc at a permission dialog: idle after")


def _question_and_esc(scene: Stage, tui: Tui) -> None:
    _to_dialog(scene, tui, "Which retry policy", "question", QUESTION, {"say": "finished"})
    scene.wait_hearing(tui)
    _esc(scene, tui, "Esc at a question: idle after")


def _streaming_and_esc(scene: Stage, tui: Tui) -> None:
    scene.ask(tui, {"slow": [30, "a word\n\n" * 60]})
    tui.wait_screen(r"(?m)^\s*●.*a word")
    scene.settles(tui.pid, activity="working")
    _esc(scene, tui, "Esc while streaming: idle after")


def test_a_session_that_was_there_before_headcount_is_found_at_its_start(claude: Claude, tmp_path) -> None:
    with claude.open_tui() as tui, stage(claude, tmp_path) as scene:
        row = scene.settles(tui.pid, activity="idle")
        assert row["conversation"] == claude.records()[0]["sessionId"]
