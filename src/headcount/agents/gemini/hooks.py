"""Gemini CLI's hooks: which file, which events. A running session reads its settings when it starts.

Rules of this file
  1. Its time limits are in milliseconds.

Not here: the installing (agents/installing/json_hooks.py), what each event is for (events.py).
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.gemini.events import OBSERVED
from headcount.agents.gemini.reports import NAME
from headcount.agents.installing.json_hooks import JsonHooks
from headcount.times import HOOK_WITHIN

MILLI = 1000


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    """`GEMINI_CLI_HOME` stands in the place of the home directory."""
    given = env.get("GEMINI_CLI_HOME")
    return [(Path(given) if given else home) / ".gemini"]


HOOKS = JsonHooks(
    agent=NAME,
    programs=("gemini",),
    file="settings.json",
    observed=OBSERVED,
    find_roots=roots,
    within=HOOK_WITHIN * MILLI,
)
