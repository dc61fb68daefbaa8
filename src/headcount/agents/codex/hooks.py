"""Codex's hooks: which file, which events, and whether Codex runs them.

All hook events of Codex, and what we do with each.

Rules
  1. Codex runs a hook only once its user has trusted it, silently skipping it otherwise. What it trusted
     stands in its config.toml: a hash of each entry. We read it and say exactly; we never write it.
  2. Its time limits are seconds, at most 3 for SessionEnd and Interrupt: more makes it print a warning.
  3. One table. The installer, the translation and the docs read it; nobody else lists events.
  4. Dropped always: what a session cannot be understood without, at most a few a turn. Dropped only while
     somebody listens: whatever comes with every tool, so that an abandoned install cannot fill the disk.

Not here: the installing (agents/installing/json_hooks.py), what each event is for (hooks.py); what an event
  means (reports.py).
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headcount.agents.codex import NAME, open_conversations
from headcount.agents.installing import mailbox_line
from headcount.agents.installing.json_hooks import JsonHooks
from headcount.agents.kit.hook_events import HookEvent, Use
from headcount.times import CODEX_HOOK_WITHIN

_ROWS = (
    HookEvent("SessionStart", Use.ALWAYS, "a conversation opens; in the terminal at its first prompt"),
    HookEvent("UserPromptSubmit", Use.ALWAYS, "a turn begins"),
    HookEvent("Stop", Use.ALWAYS, "a turn ended well; a failed turn has no hook, the rollout tells it"),
    HookEvent("Interrupt", Use.ALWAYS, "its user stopped the turn, also at an approval"),
    HookEvent("SessionEnd", Use.ALWAYS, "the conversation was closed in its process"),
    HookEvent("PreToolUse", Use.LISTENING, "what it is doing now"),
    HookEvent("PostToolUse", Use.LISTENING, "the tool ended; an approval asked for it was given"),
    HookEvent("PermissionRequest", Use.LISTENING, "it waits on its user; the rollout does not show this"),
    HookEvent("SubagentStart", Use.LISTENING, "work beside the main turn began"),
    HookEvent("SubagentStop", Use.LISTENING, "work beside the main turn ended"),
    HookEvent("PreCompact", Use.LISTENING, "a compaction runs"),
    HookEvent("PostCompact", Use.LISTENING, "the compaction is over"),
    HookEvent("PreModelRequest", Use.IGNORED, "comes before every request to the model; says nothing new"),
)

EVENTS: dict[str, HookEvent] = {row.name: row for row in _ROWS}
OBSERVED: tuple[HookEvent, ...] = tuple(row for row in _ROWS if row.is_observed)

FIELDS = frozenset({
    "session_id", "turn_id", "transcript_path", "cwd", "hook_event_name", "model", "permission_mode", "source",
    "prompt", "tool_name", "tool_input", "tool_use_id", "tool_response", "stop_hook_active",
    "last_assistant_message", "reason", "agent_id", "agent_type", "agent_transcript_path", "trigger",
})  # fmt: skip
"""Every field that some event is known to carry. What is not here is counted, so that `doctor` shows a new CLI."""


FILE = "hooks.json"
REVIEW = "run /hooks in Codex"
LARGEST = 1024 * 1024


def _roots(env: Mapping[str, str], home: Path) -> list[Path]:
    return [open_conversations.root(env, home)]


def inactive(root: Path, text: str) -> str:
    """Why Codex does not run what stands in our file, and the next step; empty: it runs all of it."""
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
    """Key and fingerprint, as Codex counts them, of each of our entries."""
    try:
        groups_of = json.loads(text)["hooks"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for event, groups in groups_of.items():
        for at, group in enumerate(groups):
            for index, handler in enumerate(group["hooks"]):
                if mailbox_line.is_ours(handler.get("command")):
                    yield f"{root / FILE}:{_snake(event)}:{at}:{index}", fingerprint(event, group, handler)


def fingerprint(event: str, group: Mapping[str, Any], handler: Mapping[str, Any]) -> str:
    """Codex's own: sha256 of the one entry as sorted, compact JSON."""
    entry: dict[str, Any] = {"event_name": _snake(event), "hooks": [{"async": False, **handler}]}
    if "matcher" in group:
        entry["matcher"] = group["matcher"]
    made = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(made.encode("utf-8", "replace")).hexdigest()


def _trusted(root: Path) -> dict[str, str] | None:
    """What its user trusted: key -> fingerprint; None: that cannot be read."""
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


def _is_trusted(entry: Any) -> bool:
    return isinstance(entry, dict) and "trusted_hash" in entry and entry.get("enabled") is not False


def _snake(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()


HOOKS = JsonHooks(
    agent=NAME,
    programs=("codex",),
    file=FILE,
    observed=OBSERVED,
    find_roots=_roots,
    within=CODEX_HOOK_WITHIN,
    inactive=inactive,
)
