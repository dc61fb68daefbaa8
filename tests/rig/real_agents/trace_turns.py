"""Traces of turns: tools, Esc, other conversations, background work, compaction, failures, and every way to end.

Rules of this file
  1. One function a trace. It does what a user does, and notes what is truly so once the screen shows it.

Not here: which traces are kept (record_traces.py), dialogs (trace_dialogs.py).
"""

import os
import signal
import time
from collections.abc import Callable

from tests.rig.fake_apis.scripted_api import Step, script
from tests.rig.real_agents.claude import Tui
from tests.rig.real_agents.trace_setup import DIALOG, Scene
from tests.rig.waiting import wait_for


def tool_turn(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.recorder.truth("idle")
        scene.ask(tui, {"bash": "sh -c 'sleep 1.5'"}, {"say": "finished"})
        scene.wait_hook("PreToolUse")
        tui.wait_status("busy")
        scene.recorder.truth("working")
        scene.wait_hook("Stop")
        tui.wait_status("idle")
        scene.recorder.truth("done")


def print_turn(scene: Scene) -> None:
    run = scene.claude.start_print(script({"bash": "sh -c 'sleep 1.5'"}, {"say": "finished"}))
    scene.wait_hook("PreToolUse")
    scene.recorder.truth("working")
    run.communicate(timeout=60)


def esc_streaming(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.ask(tui, {"slow": [30, "a word\n\n" * 60]})
        tui.wait_status("busy")
        tui.wait_screen(r"(?m)^\s*●.*a word")
        scene.recorder.truth("working")
        scene.recorder.did("Escape")
        tui.keys("Escape")
        tui.wait_status("idle")
        scene.recorder.truth("idle")


def esc_tool(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.ask(tui, {"bash": "sh -c 'sleep 60'"}, {"say": "finished"})
        scene.wait_hook("PreToolUse")
        tui.wait_status("busy")
        scene.recorder.truth("working")
        time.sleep(0.5)  # the tool itself must be running, which nothing tells
        scene.recorder.did("Escape")
        tui.keys("Escape")
        tui.wait_status("idle")
        scene.recorder.truth("idle")


def clear(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.turn(tui, {"say": "first"})
        scene.command(tui, "/clear")
        scene.wait_hook("SessionStart", 2)
        tui.wait_status("idle")
        scene.recorder.truth("idle")
        scene.turn(tui, {"say": "second"})
        scene.recorder.truth("done")


def resume(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.turn(tui, {"say": "first"})
        first = scene.recorder.hooks()[0]["payload"]["session_id"]
        scene.command(tui, "/clear")
        scene.wait_hook("SessionStart", 2)
        scene.turn(tui, {"say": "second"})
        scene.command(tui, f"/resume {first}")
        scene.wait_hook("SessionStart", 3)
        tui.wait_status("idle")
        scene.recorder.truth("idle")
        scene.turn(tui, {"say": "third"})
        scene.recorder.truth("done")


def branch(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.turn(tui, {"say": "first"})
        scene.command(tui, "/branch")
        scene.wait_hook("SessionStart", 2)
        tui.wait_status("idle")
        scene.recorder.truth("idle")
        scene.turn(tui, {"say": "second"})
        scene.recorder.truth("done")


def _agent(*steps: Step) -> Step:
    given = {"description": "look around", "prompt": script(*steps), "subagent_type": "general-purpose"}
    return {"use": ["Agent", given]}


def background_subagent(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.ask(tui, _agent({"bash": "sh -c 'sleep 3'"}, {"say": "sub finished"}), {"say": "main finished"})
        scene.wait_hook("Stop")
        scene.wait_hook("SubagentStop")
        scene.wait_hook("Stop", 2)
        tui.wait_status("idle")
        scene.recorder.truth("done")


def subagent_asks(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.ask(tui, _agent({"bash": "touch a"}, {"say": "sub finished"}), {"say": "main finished"})
        tui.wait_screen(DIALOG)
        tui.wait_status("waiting")
        scene.recorder.truth("waiting", "permission")
        scene.press(tui, "Enter")
        scene.wait_hook("SubagentStop")
        scene.wait_hook("Stop", 2)
        tui.wait_status("idle")
        scene.recorder.truth("done")


def background_shell(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        shell = {
            "use": ["Bash", {"command": "sh -c 'sleep 4'", "run_in_background": True, "description": "d"}]
        }
        scene.turn(tui, shell, {"say": "finished"})
        tui.wait_status("shell")
        scene.recorder.truth("done")
        scene.wait_hook("Stop", 2)
        tui.wait_status("idle")
        scene.recorder.truth("done")


def compaction(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        for word in ("first", "second", "third"):
            scene.turn(tui, {"say": word})
        scene.command(tui, "/compact")
        scene.wait_hook("PostCompact")
        tui.wait_status("idle")
        scene.recorder.truth("idle")
        scene.turn(tui, {"say": "fourth"})
        scene.recorder.truth("done")


def stop_failure(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.ask(tui, {"fail": [400, "invalid_request_error"]})
        scene.wait_hook("StopFailure")
        tui.wait_status("idle")
        scene.recorder.truth("failed")


def limit(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.ask(
            tui, {"fail": [429, "rate_limit_error", "This request would exceed your account's rate limit."]}
        )
        scene.wait_hook("StopFailure", within=90)
        tui.wait_status("idle")
        scene.recorder.truth("failed")


def _ended(scene: Scene, tui: Tui, what: str, end: Callable[[], None]) -> None:
    scene.ask(tui, {"bash": "sh -c 'sleep 60'"}, {"say": "finished"})
    scene.wait_hook("PreToolUse")
    scene.recorder.did(what)
    end()
    wait_for("the end", lambda: not tui.is_open, 20)
    scene.recorder.did("gone")


def sigterm(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        _ended(scene, tui, "SIGTERM", lambda: os.kill(tui.pid, signal.SIGTERM))


def sigkill(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        _ended(scene, tui, "SIGKILL", lambda: os.kill(tui.pid, signal.SIGKILL))


def hangup(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        _ended(scene, tui, "terminal closed", tui.close)
        wait_for("SessionEnd", lambda: not scene.claude.records(), 20)


def leave(scene: Scene) -> None:
    with scene.claude.open_tui() as tui:
        scene.turn(tui, {"say": "first"})
        scene.command(tui, "/exit")
        wait_for("the end", lambda: not tui.is_open, 20)
