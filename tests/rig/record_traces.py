"""Record the traces again, with the real CLI: `python -m tests.rig.record_traces [name …]`.

Rules of this file
  1. One function a trace. It does what a user does, and notes what is truly so once the screen shows it.
  2. The traces are kept in traces/ and replayed by tests that need no CLI.

Not here: running the CLI (claude.py), writing down what it says (recorder.py).
"""

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.rig.claude import NEWEST, OLDER, Claude, Tui, installed, wait_for
from tests.rig.fake_anthropic import FakeAnthropic
from tests.rig.fake_api import Step, script
from tests.rig.recorder import Recorder, recording_settings, save

TRACES = Path(__file__).parent / "traces"
DIALOG = r"Do you want|Would you like"
DEAF = 1.2  # a dialog that has just opened ignores keys for about a second, and shows nothing of it


@dataclass(frozen=True)
class Scene:
    claude: Claude
    recorder: Recorder

    def ask(self, tui: Tui, *steps: Step) -> None:
        self.recorder.did("prompt")
        tui.type(script(*steps))

    def press(self, tui: Tui, *keys: str) -> None:
        time.sleep(DEAF)
        self.recorder.did(" ".join(keys))
        tui.keys(*keys)

    def command(self, tui: Tui, text: str) -> None:
        self.recorder.did(text.split()[0])
        tui.type(text)

    def turn(self, tui: Tui, *steps: Step) -> None:
        """A whole turn, to its end."""
        before = sum(hook["payload"]["hook_event_name"] == "Stop" for hook in self.recorder.hooks())
        self.ask(tui, *steps)
        self.wait_hook("Stop", before + 1)
        tui.wait_status("idle", "shell")

    def wait_hook(self, event: str, count: int = 1, within: float = 40.0) -> None:
        def seen() -> bool:
            return sum(hook["payload"]["hook_event_name"] == event for hook in self.recorder.hooks()) >= count

        wait_for(f"{count} {event}", seen, within)


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


ALLOWED = ("Bash", "Agent", "Read")
SCENES: dict[str, tuple[Callable[[Scene], None], tuple[str, ...], str]] = {
    "tool-turn": (tool_turn, ALLOWED, NEWEST),
    "tool-turn-older": (tool_turn, ALLOWED, OLDER),
    "print-turn": (print_turn, ALLOWED, NEWEST),
    "print-turn-older": (print_turn, ALLOWED, OLDER),
    "permission-allow": (permission_allow, (), NEWEST),
    "permission-noticed": (permission_noticed, (), NEWEST),
    "permission-deny": (permission_deny, (), NEWEST),
    "permission-esc": (permission_esc, (), NEWEST),
    "permission-esc-older": (permission_esc, (), OLDER),
    "permission-beside-another-tool": (permission_beside_another_tool, (), NEWEST),
    "question": (question, ALLOWED, NEWEST),
    "question-esc": (question_esc, ALLOWED, NEWEST),
    "question-noticed": (question_noticed, ALLOWED, NEWEST),
    "plan": (plan, ALLOWED, NEWEST),
    "esc-streaming": (esc_streaming, ALLOWED, NEWEST),
    "esc-tool": (esc_tool, ALLOWED, NEWEST),
    "clear": (clear, ALLOWED, NEWEST),
    "resume": (resume, ALLOWED, NEWEST),
    "branch": (branch, ALLOWED, NEWEST),
    "background-subagent": (background_subagent, ALLOWED, NEWEST),
    "subagent-asks": (subagent_asks, ("Agent",), NEWEST),
    "background-shell": (background_shell, ALLOWED, NEWEST),
    "compaction": (compaction, ALLOWED, NEWEST),
    "stop-failure": (stop_failure, ALLOWED, NEWEST),
    "limit": (limit, ALLOWED, NEWEST),
    "sigterm": (sigterm, ALLOWED, NEWEST),
    "sigkill": (sigkill, ALLOWED, NEWEST),
    "hangup": (hangup, ALLOWED, NEWEST),
    "leave": (leave, ALLOWED, NEWEST),
}


def record(name: str, api: FakeAnthropic) -> Path:
    play, allow, version = SCENES[name]
    programs = installed(version)
    if programs is None:
        raise SystemExit(f"Claude Code {version} cannot be installed here")
    with tempfile.TemporaryDirectory(prefix="headcount-trace-", ignore_cleanup_errors=True) as place:
        claude = Claude(programs, api.url, Path(place), {"CLAUDE_CODE_MAX_RETRIES": "1"})
        mailbox = Path(place) / "mailbox"
        mailbox.mkdir()
        claude.prepare(recording_settings(mailbox, version), allow=allow)
        with Recorder(claude, mailbox) as recorder:
            play(Scene(claude, recorder))
            time.sleep(0.3)  # the last hooks of an ending CLI
        return save(recorder.trace(name, version), TRACES)


def main(names: list[str]) -> None:
    failed = []
    with FakeAnthropic() as api:
        for name in names or SCENES:
            try:
                print(record(name, api), flush=True)
            except (TimeoutError, OSError) as error:
                failed.append(name)
                print(f"{name}: {error}", flush=True)
    if failed:
        raise SystemExit(f"not recorded: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
