"""Gemini CLI's hooks: which file they go into.

Rules
  1. A session reads its settings once, when it starts.
  2. Time limits are in milliseconds.

Not here: the events (reports.py), installing (agents/installing/json_hooks.py).
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.gemini import NAME
from headcount.agents.gemini.reports import EVENTS
from headcount.agents.installing.json_hooks import JsonHooks
from headcount.times import HOOK_WITHIN

MILLI = 1000


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    """`GEMINI_CLI_HOME` replaces the home directory."""
    given = env.get("GEMINI_CLI_HOME")
    return [(Path(given) if given else home) / ".gemini"]


HOOKS = JsonHooks(
    agent=NAME,
    programs=("gemini",),
    file="settings.json",
    observed=EVENTS.installed,
    find_roots=roots,
    within=HOOK_WITHIN * MILLI,
)
