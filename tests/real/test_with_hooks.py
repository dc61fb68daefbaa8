"""Real Claude Code with our hooks: what it is doing, what it waits for, how its turns end, what runs beside them."""

import time

from tests.real.test_without_hooks import GENEROUS
from tests.rig.fake_apis.scripted_api import Step, script
from tests.rig.real_agents.claude import Claude, Tui
from tests.rig.real_agents.cli_with_daemon import Row, Stage, note, stage, wait_file
from tests.rig.real_agents.trace_dialogs import QUESTION
from tests.rig.real_agents.trace_setup import DIALOG

SUBAGENT: Step = {
    "use": [
        "Agent",
        {
            "description": "look around",
            "prompt": script({"bash": "sh -c 'sleep 3'"}, {"say": "sub finished"}),
            "subagent_type": "general-purpose",
        },
    ]
}


def to_dialog(scene: Stage, tui: Tui, pattern: str, waiting_on: str, label: str, *steps: Step) -> Row:
    since = scene.feed.mark()
    scene.ask(tui, *steps)
    tui.wait_screen(pattern)
    shown = time.time()
    seen = scene.wait_row(since=since, pid=tui.pid, activity="waiting", waiting_on=waiting_on, doing=label)
    note(f"hooks: {waiting_on} waiting after the dialog is on the screen (negative: before)", seen.at - shown)
    assert seen.at - shown < GENEROUS
    return seen.row


def esc(scene: Stage, tui: Tui, what: str) -> None:
    since = scene.feed.mark()
    pressed = scene.press(tui, "Escape")
    seen = scene.wait_row(since=since, pid=tui.pid, activity="idle")
    note(f"hooks: Esc {what}: idle after", seen.at - pressed)
    assert seen.at - pressed < GENEROUS
    assert seen.row["source"] == "registry"  # no hook tells of it
    tui.wait_status("idle")
    tui.wait_still()
    assert scene.current(tui.pid)["activity"] == "idle"


def test_dialogs_failures_and_limits(claude: Claude, tmp_path) -> None:
    claude.prepare()
    with stage(claude, tmp_path) as scene:
        assert "+16 entries" in scene.hooks("install")
        tui, row = scene.open()
        with tui:
            to_dialog(scene, tui, DIALOG, "permission", "Bash: touch a", {"bash": "touch a"}, {"say": "x"})
            scene.wait_hearing(tui)
            esc(scene, tui, "at a permission dialog")

            to_dialog(
                scene, tui, DIALOG, "permission", "Bash: touch b", {"bash": "touch b"}, {"say": "finished"}
            )
            scene.wait_hearing(tui)
            scene.press(tui, "Enter")
            assert scene.settles(tui.pid, activity="done")["doing"] is None
            assert (claude.project / "b").exists()

            label = "Retry policy (3 options)"
            to_dialog(scene, tui, "Which retry policy", "question", label, QUESTION, {"say": "x"})
            scene.wait_hearing(tui)
            esc(scene, tui, "at a question")

            scene.ask(tui, {"slow": [30, "a word\n\n" * 60]})
            tui.wait_screen(r"(?m)^\s*●.*a word")
            scene.settles(tui.pid, activity="working")
            esc(scene, tui, "while streaming")

            scene.ask(tui, {"fail": [400, "invalid_request_error"]})
            assert scene.settles(tui.pid, activity="failed")["failure"] == "error"
            text = "This request would exceed your account's rate limit."
            scene.ask(tui, {"fail": [429, "rate_limit_error", text]})
            scene.settles(tui.pid, within=60, activity="failed", failure="limit")

            assert scene.turn(tui, {"say": "well"})["failure"] is None
            assert [each["id"] for each in scene.rows()] == [row["id"]]
        _knows_all_it_was_told(scene)


def beside(scene: Stage, tui: Tui, kind: str, *steps: Step) -> None:
    """The main turn ends first, with the other work beside it; then its result makes another turn."""
    since = scene.feed.mark()
    scene.ask(tui, *steps)
    seen = scene.feed.wait(
        lambda row: row["activity"] == "done" and len(row["background"]) == 1,
        since=since,
        what=f"done, with a {kind} beside",
    )
    assert seen.row["background"][0]["kind"] == kind
    scene.wait_row(since=scene.feed.mark(), pid=tui.pid, activity="working")
    scene.settles(tui.pid, activity="done", background=[])
    tui.wait_status("idle")
    tui.wait_still()


def test_plans_tools_and_background_work(hooked: Stage) -> None:
    tui, row = hooked.open("--permission-mode", "plan")
    with tui:
        steps = ({"use": ["ExitPlanMode", {"plan": "1. do it"}]}, {"bash": "sh -c 'sleep 1'"}, {"say": "x"})
        pattern = "Exit plan mode|Would you like to proceed"
        to_dialog(hooked, tui, pattern, "plan", "plan to approve", *steps)
        hooked.wait_hearing(tui)
        hooked.press(tui, "Enter")
        hooked.wait_row(pid=tui.pid, activity="working", doing="Bash: sh -c 'sleep 1'")
        hooked.settles(tui.pid, activity="done")

        since = hooked.feed.mark()
        beside(hooked, tui, "subagent", SUBAGENT, {"say": "main finished"})
        told = [each.row for each in hooked.feed.rows(since)]
        assert not any(each["doing"] == "Bash: sh -c 'sleep 3'" for each in told)  # that is the subagent's
        shell = {"command": "sh -c 'sleep 2'", "run_in_background": True, "description": "serving"}
        beside(hooked, tui, "shell", {"use": ["Bash", shell]}, {"say": "started"})
        assert [each["id"] for each in hooked.rows()] == [row["id"]]

        flag = hooked.claude.place / "running"
        hooked.ask(tui, {"bash": f"touch {flag}; sh -c 'sleep 60'"}, {"say": "finished"})
        wait_file(flag)
        hooked.settles(tui.pid, activity="working")
        esc(hooked, tui, "during a tool")
    _knows_all_it_was_told(hooked)


def _knows_all_it_was_told(scene: Stage) -> None:
    """S6 the other way round: this version's events and fields are all in our tables."""
    status = scene.daemon.get("/v1/status")
    assert status["unknown_events"] == {}
