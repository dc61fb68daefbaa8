"""The wide table: what `ps --wide` adds to each row.

Rules of this file
  1. A figure that the agent's files do not give is a dash; a column that is nothing but dashes is left out.
  2. The context is a share where its size is known, else a count: no size is guessed from a model's name.

Not here: the columns that everybody sees (present/table.py), where a figure comes from (`show`).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from headcount.cli.sanitize import clean

THOUSAND = 1_000
MILLION = 1_000_000

Raw = Mapping[str, Any]


def context(raw: Raw) -> str:
    """`66%`, or `132k` where nobody says of how much."""
    used, window = raw.get("context_tokens"), raw.get("context_window")
    if not isinstance(used, int):
        return ""
    return f"{100 * used // window}%" if isinstance(window, int) and window > 0 else amount(used)


def tokens(raw: Raw) -> str:
    """`94k in, 140 out`."""
    spent = raw.get("tokens")
    if not isinstance(spent, dict):
        return ""
    return f"{amount(spent.get('input'))} in, {amount(spent.get('output'))} out"


def cost(raw: Raw) -> str:
    usd = raw.get("cost_usd")
    return f"${usd:.2f}" if isinstance(usd, int | float) else ""


def amount(count: object) -> str:
    """950, 13k, 1.2M."""
    if not isinstance(count, int):
        return "?"
    if count < THOUSAND:
        return str(count)
    if count < MILLION:
        return f"{count // THOUSAND}k"
    return f"{count / MILLION:.1f}M"


def _plain(name: str) -> Callable[[Raw], str]:
    return lambda raw: clean(raw.get(name))


COLUMNS: dict[str, Callable[[Raw], str]] = {
    "ROLE": _plain("role"),
    "GROUPS": lambda raw: ", ".join(clean(group) for group in raw.get("groups") or ()),
    "MODEL": _plain("model"),
    "CONTEXT": context,
    "TOKENS": tokens,
    "COST": cost,
    "WORKTREE": _plain("worktree"),
    "MODE": _plain("permission_mode"),
    "ENTRY": _plain("entrypoint"),
    "PARENT": lambda raw: clean(raw.get("parent"))[:4],
    "VERSION": _plain("version"),
}


def columns_of(sessions: Iterable[Raw]) -> dict[str, dict[str, str]]:
    """By title, each session's text by its id."""
    listed = list(sessions)
    drawn = {title: {clean(raw.get("id")): text(raw) for raw in listed} for title, text in COLUMNS.items()}
    return {title: texts for title, texts in drawn.items() if any(texts.values())}
