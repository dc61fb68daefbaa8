"""A scene of a trace: the real CLI, what a user does in it, and the recorder that writes it down."""

import time
from dataclasses import dataclass

from tests.rig.fake_apis.scripted_api import Step, script
from tests.rig.real_agents.claude import DEAF, Claude, Tui
from tests.rig.real_agents.recorder import Recorder
from tests.rig.waiting import wait_for

DIALOG = r"Do you want|Would you like"


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
