"""Traces of dialogs: permissions, questions and plans, answered, refused and left alone.

Rules of this file
  1. One function a trace. It does what a user does, and notes what is truly so once the screen shows it.

Not here: which traces are kept (record_traces.py), turns without a dialog (trace_turns.py).
"""

from tests.rig.fake_apis.scripted_api import Step
from tests.rig.real_agents.claude import Tui
from tests.rig.real_agents.trace_setup import DIALOG, Scene


def _to_dialog(scene: Scene, tui: Tui, *steps: Step) -> None:
    scene.ask(tui, *steps)
    tui.wait_screen(DIALOG)
    tui.wait_status("waiting")
    scene.recorder.truth("waiting", "permission")


def permission_allow(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        _to_dialog(scene, tui, {"bash": "touch a; sh -c 'sleep 1.5'"}, {"say": "finished"})
        scene.press(tui, "Enter")
        tui.wait_status("busy")
        scene.recorder.truth("working")
        scene.wait_hook("Stop")
        tui.wait_status("idle")
        scene.recorder.truth("done")


def permission_noticed(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        _to_dialog(scene, tui, {"bash": "touch a"}, {"say": "finished"})
        scene.wait_hook("Notification")
        scene.recorder.truth("waiting", "permission")
        scene.press(tui, "Enter")
        scene.wait_hook("Stop")
        tui.wait_status("idle")
        scene.recorder.truth("done")


def permission_deny(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        _to_dialog(scene, tui, {"bash": "touch a"}, {"say": "finished"})
        scene.press(tui, "Up")  # from the first answer round to the last, which is No
        scene.press(tui, "Enter")
        tui.wait_status("idle")
        scene.recorder.truth("idle")


def permission_esc(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        _to_dialog(scene, tui, {"bash": "touch a"}, {"say": "finished"})
        scene.press(tui, "Escape")
        tui.wait_status("idle")
        scene.recorder.truth("idle")


def permission_beside_another_tool(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        reads = [
            ["Read", {"file_path": str(scene.claude.project / "seen.txt")}],
            ["Bash", {"command": "touch a"}],
        ]
        (scene.claude.project / "seen.txt").write_text("x")
        _to_dialog(scene, tui, {"all": reads}, {"say": "finished"})
        scene.wait_hook("PostToolUse")
        scene.recorder.truth("waiting", "permission")
        scene.press(tui, "Enter")
        scene.wait_hook("Stop")
        tui.wait_status("idle")
        scene.recorder.truth("done")


QUESTION: Step = {
    "use": [
        "AskUserQuestion",
        {
            "questions": [
                {
                    "question": "Which retry policy?",
                    "header": "Retry policy",
                    "multiSelect": False,
                    "options": [
                        {"label": "none", "description": "never"},
                        {"label": "some", "description": "thrice"},
                        {"label": "ever", "description": "always"},
                    ],
                }
            ]
        },
    ]
}


def _to_question(scene: Scene, tui: Tui) -> None:
    scene.ask(tui, QUESTION, {"bash": "sh -c 'sleep 1'"}, {"say": "finished"})
    tui.wait_screen("Which retry policy")
    tui.wait_status("waiting")
    scene.recorder.truth("waiting", "question")


def question(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        _to_question(scene, tui)
        scene.press(tui, "Enter")
        tui.wait_status("busy")
        scene.recorder.truth("working")
        scene.wait_hook("Stop")
        tui.wait_status("idle")
        scene.recorder.truth("done")


def question_esc(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        _to_question(scene, tui)
        scene.press(tui, "Escape")
        tui.wait_status("idle")
        scene.recorder.truth("idle")


def question_noticed(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        _to_question(scene, tui)
        scene.wait_hook("Notification")
        scene.recorder.truth("waiting", "question")
        scene.press(tui, "Escape")
        tui.wait_status("idle")
        scene.recorder.truth("idle")


def plan(scene: Scene) -> None:
    with scene.claude.open_tui("--permission-mode", "plan") as tui:
        scene.ask(
            tui,
            {"use": ["ExitPlanMode", {"plan": "1. do it"}]},
            {"bash": "sh -c 'sleep 1'"},
            {"say": "finished"},
        )
        tui.wait_screen("Exit plan mode|Would you like to proceed")
        tui.wait_status("waiting")
        scene.recorder.truth("waiting", "plan")
        scene.wait_hook("Notification")
        scene.recorder.truth("waiting", "plan")
        scene.press(tui, "Enter")
        scene.wait_hook("Stop")
        tui.wait_status("idle")
        scene.recorder.truth("done")
