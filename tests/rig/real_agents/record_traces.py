"""Record the traces again, with the real CLI: `python -m tests.rig.real_agents.record_traces [name …]`.

Rules of this file
  1. One row a trace: who plays it, which tools are allowed, with which version.
  2. The traces are kept in traces/ and replayed by tests that need no CLI.

Not here: what a user does in each (trace_turns.py, trace_dialogs.py), writing down what the CLI says (recorder.py).
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.rig.fake_apis.anthropic_messages import FakeAnthropic
from tests.rig.real_agents import trace_dialogs as dialogs
from tests.rig.real_agents import trace_turns as turns
from tests.rig.real_agents.claude import NEWEST, OLDER, Claude, installed
from tests.rig.real_agents.recorder import Recorder, recording_settings, save
from tests.rig.real_agents.trace_setup import Scene

TRACES = Path(__file__).parents[1] / "traces"

ALLOWED = ("Bash", "Agent", "Read")
SCENES: dict[str, tuple[Callable[[Scene], None], tuple[str, ...], str]] = {
    "tool-turn": (turns.tool_turn, ALLOWED, NEWEST),
    "tool-turn-older": (turns.tool_turn, ALLOWED, OLDER),
    "print-turn": (turns.print_turn, ALLOWED, NEWEST),
    "print-turn-older": (turns.print_turn, ALLOWED, OLDER),
    "permission-allow": (dialogs.permission_allow, (), NEWEST),
    "permission-noticed": (dialogs.permission_noticed, (), NEWEST),
    "permission-deny": (dialogs.permission_deny, (), NEWEST),
    "permission-esc": (dialogs.permission_esc, (), NEWEST),
    "permission-esc-older": (dialogs.permission_esc, (), OLDER),
    "permission-beside-another-tool": (dialogs.permission_beside_another_tool, (), NEWEST),
    "question": (dialogs.question, ALLOWED, NEWEST),
    "question-esc": (dialogs.question_esc, ALLOWED, NEWEST),
    "question-noticed": (dialogs.question_noticed, ALLOWED, NEWEST),
    "plan": (dialogs.plan, ALLOWED, NEWEST),
    "esc-streaming": (turns.esc_streaming, ALLOWED, NEWEST),
    "esc-tool": (turns.esc_tool, ALLOWED, NEWEST),
    "clear": (turns.clear, ALLOWED, NEWEST),
    "resume": (turns.resume, ALLOWED, NEWEST),
    "branch": (turns.branch, ALLOWED, NEWEST),
    "background-subagent": (turns.background_subagent, ALLOWED, NEWEST),
    "subagent-asks": (turns.subagent_asks, ("Agent",), NEWEST),
    "background-shell": (turns.background_shell, ALLOWED, NEWEST),
    "compaction": (turns.compaction, ALLOWED, NEWEST),
    "stop-failure": (turns.stop_failure, ALLOWED, NEWEST),
    "limit": (turns.limit, ALLOWED, NEWEST),
    "sigterm": (turns.sigterm, ALLOWED, NEWEST),
    "sigkill": (turns.sigkill, ALLOWED, NEWEST),
    "hangup": (turns.hangup, ALLOWED, NEWEST),
    "leave": (turns.leave, ALLOWED, NEWEST),
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
