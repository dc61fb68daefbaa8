"""Codex's hooks: which file they go into, and whether Codex runs them.

Rules
  1. Codex runs a hook only after the user trusted it, and otherwise skips it silently. Its config.toml holds a hash of
     each trusted entry. We read that to report which hooks run, and never write it.
  2. Its time limits are in seconds, at most 3 for SessionEnd and Interrupt: more makes it print a warning.

Not here: the events (reports.py), installing (agents/installing/json_hooks.py).
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from headcount.agents.codex import NAME, open_conversations
from headcount.agents.codex.reports import EVENTS
from headcount.agents.installing import hook_line_mailbox
from headcount.agents.installing.json_hooks import JsonHooks
from headcount.times import CODEX_HOOK_WITHIN

FILE = "hooks.json"
REVIEW = "run /hooks in Codex"
LARGEST = 1024 * 1024


def _roots(env: Mapping[str, str], home: Path) -> list[Path]:
    return [open_conversations.root(env, home)]


def inactive(root: Path, text: str) -> str:
    """Why Codex does not run our entries, and the next step; empty: it runs all of them."""
    known = _trusted(root)
    if known is None:
        return f"inactive until trusted: {REVIEW} (config.toml cannot be read)"
    entries = list(_ours(root, text))
    trusted = sum(known.get(key) == fingerprint for key, fingerprint in entries)
    if trusted == len(entries):
        return ""
    if trusted:
        return f"{len(entries) - trusted} of {len(entries)} inactive until trusted: {REVIEW}"
    return f"inactive until trusted: {REVIEW}"


def _ours(root: Path, text: str) -> Iterator[tuple[str, str]]:
    """Key and fingerprint of each of our entries, computed as Codex does."""
    try:
        groups_of = json.loads(text)["hooks"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for event, groups in groups_of.items():
        for at, group in enumerate(groups):
            for index, handler in enumerate(group["hooks"]):
                if hook_line_mailbox.is_ours(handler.get("command")):
                    yield f"{root / FILE}:{_snake(event)}:{at}:{index}", fingerprint(event, group, handler)


def fingerprint(event: str, group: Mapping[str, object], handler: Mapping[str, object]) -> str:
    """Codex's fingerprint of an entry: sha256 of its sorted, compact JSON."""
    entry: dict[str, object] = {"event_name": _snake(event), "hooks": [{"async": False, **handler}]}
    if "matcher" in group:
        entry["matcher"] = group["matcher"]
    made = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(made.encode("utf-8", "replace")).hexdigest()


def _trusted(root: Path) -> dict[str, str] | None:
    """What the user trusted: key -> fingerprint; None: it cannot be read."""
    try:
        path = root / "config.toml"
        if path.stat().st_size > LARGEST:
            return None
        state = tomllib.loads(path.read_text("utf-8")).get("hooks", {}).get("state", {})
        return {key: each["trusted_hash"] for key, each in state.items() if _is_trusted(each)}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, RecursionError):
        return None


def _is_trusted(entry: object) -> bool:
    return isinstance(entry, dict) and "trusted_hash" in entry and entry.get("enabled") is not False


def _snake(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()


HOOKS = JsonHooks(
    agent=NAME,
    programs=("codex",),
    file=FILE,
    observed=EVENTS.installed,
    find_roots=_roots,
    within=CODEX_HOOK_WITHIN,
    inactive=inactive,
)
