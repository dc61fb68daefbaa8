"""Telling the agents of our MCP server, and taking it back.

Rules of this file
  1. Claude Code keeps its servers in a file that it rewrites all the time, so its own command changes it. The others
     have a settings file, which is merged as hooks are: remembered first, replaced whole, given back (G8).
  2. Only agents that are there: one whose directory is missing is left out unless it is asked for by name.
  3. A file that cannot be understood is refused, untouched, with the reason.

Not here: the entry's text (mcp_entry.py), carrying a change out (file_change.py), files (settings_file.py).
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Any

from msgspec import Struct

from headcount.agents import mcp_entry
from headcount.agents.installing import settings_file
from headcount.agents.installing.file_change import Plan, carry_out, refusal_of
from headcount.agents.installing.json_edit import Invalid
from headcount.agents.installing.settings_file import Refusal, Remembered
from headcount.agents.mcp_entry import NotMergeable, Server
from headcount.times import OTHER_PROGRAM_WITHIN

CLAUDE = "claude-code"


class Target(Struct, frozen=True):
    """Where one agent keeps its servers."""

    agent: str
    path: Path
    section: str  # empty: TOML

    def put(self, text: str, server: Server) -> str:
        if not self.section:
            return mcp_entry.put_toml(text, server)
        return mcp_entry.put_json(text, self.section, self.wanted(server))

    def wanted(self, server: Server) -> dict[str, Any]:
        return server.opencode() if self.agent == "opencode" else server.usual()

    def take(self, text: str) -> str:
        return mcp_entry.take_json(text, self.section) if self.section else mcp_entry.take_toml(text)

    def find(self, text: str) -> object:
        return mcp_entry.find_json(text, self.section) if self.section else mcp_entry.find_toml(text)


class Done(Struct, frozen=True):
    agent: str
    path: Path
    changed: bool
    before: bytes | None = None
    after: bytes | None = None
    command: tuple[str, ...] = ()  # the agent's own command that does it
    ran: bool = True  # False: it is for a person to run


def targets(env: Mapping[str, str], home: Path) -> dict[str, Target]:
    config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    claude = Path(env.get("CLAUDE_CONFIG_DIR") or home)
    codex = Path(env.get("CODEX_HOME") or home / ".codex")
    return {
        CLAUDE: Target(CLAUDE, claude / ".claude.json", "mcpServers"),
        "codex": Target("codex", codex / "config.toml", ""),
        "opencode": Target("opencode", config / "opencode" / "opencode.json", "mcp"),
        "gemini": Target("gemini", home / ".gemini" / "settings.json", "mcpServers"),
    }


def is_there(target: Target) -> bool:
    """Whether that agent has been used here."""
    return target.path.exists() if target.agent == CLAUDE else target.path.parent.is_dir()


def standing(target: Target) -> str:
    """installed, absent, or why it cannot be told."""
    content = settings_file.read(target.path)
    if isinstance(content, Refusal):
        return content.why
    try:
        return "installed" if target.find((content or b"").decode()) is not None else "absent"
    except (Invalid, NotMergeable, TOMLDecodeError, UnicodeDecodeError, AttributeError) as error:
        return f"unreadable: {refusal_of(target.path, error).why}"


def repoints(target: Target, server: Server) -> bool:
    """Whether an entry of ours is there and leads elsewhere: to another home or another installation."""
    there = _found(target)
    return there is not None and not _is_ours(there, target.wanted(server))


def install(target: Target, server: Server, state: Path, *, dry: bool) -> Done | Refusal:
    if target.agent == CLAUDE:
        value = json.dumps(server.usual())
        words = ("mcp", "add-json", "--scope", "user", mcp_entry.NAME, value)
        return _by_claude(target, words, server.usual(), dry=dry)
    return _changed(target, server, state, dry=dry)


def uninstall(target: Target, state: Path, *, dry: bool) -> Done | Refusal:
    if target.agent == CLAUDE:
        return _by_claude(target, ("mcp", "remove", "--scope", "user", mcp_entry.NAME), None, dry=dry)
    return _changed(target, None, state, dry=dry)


def _by_claude(target: Target, words: tuple[str, ...], wanted: object, *, dry: bool) -> Done | Refusal:
    """By Claude Code's own command, if there is one and anything is to do."""
    there = _found(target)
    program = shutil.which("claude")
    command = (program or "claude", *words)
    if _is_ours(there, wanted):
        return Done(target.agent, target.path, changed=False)
    if dry or program is None:
        return Done(target.agent, target.path, changed=True, command=("claude", *words), ran=False)
    if there is not None and wanted is not None:  # it adds nothing over an entry of that name
        _run((program, "mcp", "remove", "--scope", "user", mcp_entry.NAME))
    trouble = _run(command)
    if trouble is None and not _is_ours(_found(target), wanted):
        trouble = "it said that it is done, and its settings do not show it"
    if trouble is not None:
        return Refusal(target.path, f"claude mcp failed: {trouble}")
    return Done(target.agent, target.path, changed=True, command=("claude", *words))


def _is_ours(there: object, wanted: object) -> bool:
    """It adds fields of its own to an entry."""
    if isinstance(there, dict) and isinstance(wanted, dict):
        return all((there.get(name) or None) == (value or None) for name, value in wanted.items())
    return there == wanted


def _found(target: Target) -> object:
    content = settings_file.read(target.path)
    try:
        return target.find(content.decode()) if isinstance(content, bytes) else None
    except (Invalid, NotMergeable, TOMLDecodeError, UnicodeDecodeError, AttributeError):
        return None


def _run(command: tuple[str, ...]) -> str | None:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=OTHER_PROGRAM_WITHIN, cwd="/",
            env={name: value for name, value in os.environ.items() if not name.startswith("CLAUDE_CODE_")},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = (done.stderr or done.stdout).strip().splitlines()
    return None if done.returncode == 0 else (said[-1] if said else f"exit {done.returncode}")


def _changed(target: Target, server: Server | None, state: Path, *, dry: bool) -> Done | Refusal:
    before = settings_file.read(target.path)
    if isinstance(before, Refusal):
        return before
    memory = settings_file.memory_path(state, f"mcp-{target.agent}", target.path)
    known = settings_file.recall(memory)
    try:
        after = _after(target, server, before, known)
    except (Invalid, NotMergeable, TOMLDecodeError, UnicodeDecodeError) as error:
        return refusal_of(target.path, error)
    done = Done(target.agent, target.path, before != after, before, after)
    if dry or not done.changed:
        return done
    plan = Plan(target.path, before, after, memory, _remembered(target, server, before, after, known))
    return carry_out(plan) or done


def _after(
    target: Target, server: Server | None, before: bytes | None, known: Remembered | None
) -> bytes | None:
    if server is not None:
        text = (before or b"").decode()
        made = target.put(text, server)
        return before if before is not None and made == text else made.encode()
    if before is None:
        return None
    if known is not None and known.written == settings_file.fingerprint(before):
        return known.original
    cleaned = target.take(before.decode())
    only_ours = known is not None and known.original is None and cleaned.split() in ([], ["{}"], ["{", "}"])
    return None if only_ours else cleaned.encode()


def _remembered(
    target: Target, server: Server | None, before: bytes | None, after: bytes | None, known: Remembered | None
) -> Remembered | None:
    """What an uninstall should give back; None: this is the uninstall."""
    if server is None or after is None:
        return None
    untouched = (
        before is not None and known is not None and known.written == settings_file.fingerprint(before)
    )
    original = known.original if untouched and known is not None else before
    made = known.made_directory if known is not None else not target.path.parent.exists()
    return Remembered(original, settings_file.fingerprint(after), made)
