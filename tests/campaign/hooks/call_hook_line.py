"""Calling the installed line as an agent does, many times, and what each call did to the agent.

Rules of this file
  1. A call is harmless when it exits 0, prints nothing, and is over before the agent would end it (`HOOK_WITHIN`).
  2. The naive line is run by the same hand.
"""

import json
import random
import shlex
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headcount.agents.installing.hook_line_mailbox import SHELL, directory_of, line
from headcount.times import HOOK_WITHIN

AGENTS = ("claude-code", "codex", "gemini")
LIFECYCLE = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
SIZES = (
    0,
    200,
    200,
    200,
    200,
    4_000,
    64_000,
    1_000_000,
)  # bytes of what comes with an event; a large one is rare


@dataclass(slots=True)
class Calls:
    """Of one state of the daemon."""

    counts: Counter[str] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)

    def take(self, outcome: "Outcome") -> None:
        self.counts["calls"] += 1
        self.counts["exited"] += outcome.code != 0
        self.counts["printed"] += outcome.printed
        self.counts["late"] += outcome.late
        self.counts["harmful"] += outcome.code != 0 or outcome.printed or outcome.late
        self.took.append(outcome.took)

    def as_data(self) -> dict[str, Any]:
        return {"counts": dict(self.counts), "took": self.took}

    @classmethod
    def of_data(cls, data: dict[str, Any]) -> "Calls":
        return cls(Counter(data["counts"]), list(data["took"]))


@dataclass(frozen=True, slots=True)
class Outcome:
    code: int
    printed: bool
    late: bool
    took: float


def call(command: str, payload: bytes) -> Outcome:
    began = time.perf_counter()
    hook = subprocess.Popen(
        [SHELL, "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    late = False
    try:
        out, err = hook.communicate(payload, timeout=HOOK_WITHIN)
    except subprocess.TimeoutExpired:
        late = True
        hook.kill()  # as the agent does
        out, err = hook.communicate()
    return Outcome(hook.returncode, bool(out or err), late, time.perf_counter() - began)


def some_calls(mailbox: Path, chance: random.Random, count: int, calls: Calls) -> None:
    for _ in range(count):
        always = chance.random() < 0.5
        event = chance.choice(LIFECYCLE) if always else "PreToolUse"
        place = directory_of(mailbox, chance.choice(AGENTS))
        calls.take(call(line(place, only_while_listening=not always), payload(chance, event)))


def payload(chance: random.Random, event: str) -> bytes:
    said = {"session_id": f"hook-calls-{chance.randrange(20)}", "hook_event_name": event, "cwd": "/tmp"}
    said |= {"prompt": "x" * chance.choice(SIZES), "tool_name": "Bash", "tool_input": {"command": "make"}}
    return json.dumps(said).encode()


def naive_calls(socket: Path, chance: random.Random, count: int, calls: Calls) -> None:
    """A hook that asks the daemon: what most tools install."""
    command = (
        f"exec curl -s --unix-socket {shlex.quote(str(socket))} -H 'Content-Type: application/json' -d @- "
        "http://localhost/v1/hooks/claude-code"
    )
    for _ in range(count):
        calls.take(call(command, payload(chance, "PreToolUse")))
