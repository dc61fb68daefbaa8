"""Claude Code's hooks: which file, which events. Running sessions read their settings again within seconds.

Not here: the installing (agents/installing/json_hooks.py), what each event is for (events.py).
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.claude_code.asking import QUESTIONS
from headcount.agents.claude_code.events import OBSERVED
from headcount.agents.claude_code.registry import Sessions
from headcount.agents.claude_code.reports import NAME
from headcount.agents.installing.json_hooks import JsonHooks


def _roots(env: Mapping[str, str], home: Path) -> list[Path]:
    return Sessions().roots(env, home)


HOOKS = JsonHooks(
    agent=NAME,
    programs=("claude",),
    file="settings.json",
    observed=OBSERVED,
    find_roots=_roots,
    questions=QUESTIONS,
)
