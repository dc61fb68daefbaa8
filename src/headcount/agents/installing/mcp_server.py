"""Register our MCP server with the agents, and remove it.

Rules
  1. We never write an agent's settings for this. The agent's own `mcp add` and `mcp remove` do. OpenCode has no
     `mcp remove`, and its `mcp add` asks questions in older versions: its user gets the text to paste.
  2. The result is checked: afterwards the agent's settings must hold exactly the requested entry.
  3. An entry called `headcount` that starts something else is not ours: it is neither replaced nor removed.
  4. Without --agent, only agents that were used on this machine are changed.

Not here: hooks in the same files (json_hooks.py), the server itself (mcp/).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path, PurePath

from msgspec import Struct, field

from headcount.agents.installing import settings_file
from headcount.agents.installing.settings_file import Refusal
from headcount.paths import Places
from headcount.times import OTHER_PROGRAM_WITHIN

NAME = "headcount"
CLAUDE, CODEX, OPENCODE, GEMINI = AGENTS = ("claude-code", "codex", "opencode", "gemini")
EXTRA = (
    "in the checkout, as you installed it: pip install '.[mcp]', or: uv tool install '.[mcp]', "
    "or: pipx install --force '.[mcp]'"
)
PASSED_ON = ("HEADCOUNT_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
COMPARED = ("command", "args", "env", "environment")  # agents add fields of their own
COMMENTS = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
LAST_COMMAS = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)
SAID_MOST = 300  # characters of an agent's error message


class Server(Struct, frozen=True):
    """The command that an agent starts. Agents pass on little of their environment, so the variables we need are listed."""

    command: str
    args: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)


class Target(Struct, frozen=True):
    """One agent: the program that adds servers, and the settings in which they are found."""

    agent: str
    program: str  # empty: it has no command for this
    path: Path
    section: str

    def entry(self) -> object:
        """Our entry in the settings; None: there is none; a Refusal: the settings cannot be read."""
        content = settings_file.read(self.path)
        if not isinstance(content, bytes):
            return content
        try:
            text = content.decode()
            is_toml = self.path.suffix == ".toml"
            document = tomllib.loads(text) if is_toml else json.loads(_without_comments(text))
            return document.get(self.section, {}).get(NAME)
        except (ValueError, RecursionError, AttributeError) as error:
            return Refusal(self.path, f"unreadable: {error}")

    def wanted(self, server: Server) -> dict[str, object]:
        if self.agent == OPENCODE:
            named = {"environment": server.env} if server.env else {}
            return {"type": "local", "command": [server.command, *server.args], "enabled": True, **named}
        return {
            "command": server.command,
            "args": list(server.args),
            **({"env": server.env} if server.env else {}),
        }

    def words(self, server: Server | None) -> tuple[str, ...]:
        """The agent's own command that adds the server, or removes it if `server` is None."""
        scope = () if self.agent == CODEX else ("--scope", "user")
        if server is None:
            return (self.program, "mcp", "remove", *scope, NAME)
        if self.agent == CLAUDE:  # its `add` reads every word after --env as one more variable
            return (self.program, "mcp", "add-json", *scope, NAME, json.dumps(self.wanted(server)))
        env = [word for name, value in server.env.items() for word in ("--env", f"{name}={value}")]
        if self.agent == CODEX:
            return (self.program, "mcp", "add", NAME, *env, "--", server.command, *server.args)
        return (self.program, "mcp", "add", *scope, *env, NAME, server.command, "--", *server.args)

    def by_hand(self, server: Server | None) -> str:
        """Instructions for editing the settings by hand."""
        if server is None:
            return f'remove "{NAME}" from "{self.section}" in {self.path}'
        if self.path.suffix != ".toml":
            return f"add to {self.path}:\n{json.dumps({self.section: {NAME: self.wanted(server)}}, indent=2)}"
        rows = [f"{name} = {_toml(value)}" for name, value in self.wanted(server).items()]
        return "\n".join([f"add to {self.path}:", f"[{self.section}.{NAME}]", *rows])


class Done(Struct, frozen=True):
    path: Path
    changed: bool
    command: tuple[str, ...] = ()  # the agent's own command for it
    by_hand: str = ""
    ran: bool = True  # False: the user has to do it


def is_possible() -> bool:
    """Whether the SDK is installed; our own package of that name is below `headcount`."""
    return find_spec("mcp") is not None


def this_server(env: Mapping[str, str]) -> Server:
    """This very installation, by absolute paths: an agent's PATH is not this shell's."""
    passed = {name: value for name in PASSED_ON if (value := env.get(name))}
    if "HEADCOUNT_HOME" in passed:
        passed["HEADCOUNT_HOME"] = str(Places.from_environ(env).home)
    script = Path(sys.executable).with_name("headcount")
    if script.exists():
        return Server(str(script), ("mcp",), passed)
    return Server(sys.executable, ("-P", "-m", "headcount", "mcp"), passed)


def targets(env: Mapping[str, str], home: Path, agent: str | None = None) -> list[Target]:
    """That agent, or all that were used here."""
    config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    known = [
        Target(CLAUDE, "claude", Path(env.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json", "mcpServers"),
        Target(CODEX, "codex", Path(env.get("CODEX_HOME") or home / ".codex") / "config.toml", "mcp_servers"),
        Target(OPENCODE, "", config / "opencode" / "opencode.json", "mcp"),
        Target(GEMINI, "gemini", home / ".gemini" / "settings.json", "mcpServers"),
    ]
    return [each for each in known if (each.agent == agent if agent else _is_there(each))]


def _is_there(target: Target) -> bool:
    return target.path.exists() if target.agent == CLAUDE else target.path.parent.is_dir()


def standing(target: Target) -> str:
    """`installed`, `absent`, or why that is unknown."""
    there = target.entry()
    return there.why if isinstance(there, Refusal) else "absent" if there is None else "installed"


def repoints(target: Target, server: Server) -> bool:
    """Whether an entry exists that points to another state directory or another installation."""
    there = target.entry()
    return isinstance(there, dict) and not _is_same(there, target.wanted(server))


def change(target: Target, server: Server | None, *, dry: bool) -> Done | Refusal:
    """Add the server, or remove it if `server` is None."""
    there, wanted = target.entry(), target.wanted(server) if server else None
    if isinstance(there, Refusal):
        return there
    if _is_same(there, wanted):
        return Done(target.path, changed=False)
    if there is not None and not _is_ours(there):
        return Refusal(target.path, f'its server "{NAME}" starts something else; rename or remove that first')
    by_hand = target.by_hand(server)
    if not target.program or (target.agent == GEMINI and _cuts_values(server)):
        return Done(target.path, changed=True, by_hand=by_hand, ran=False)
    words = target.words(server)
    if dry or shutil.which(target.program) is None:
        return Done(target.path, changed=True, command=words, by_hand=by_hand, ran=False)
    if (
        target.agent == CLAUDE and there is not None and wanted is not None
    ):  # `add` does not overwrite an entry
        _run(target.words(None))
    trouble = _run(words)
    if trouble is None and not _is_same(target.entry(), wanted):
        trouble = "it reported success, and its settings do not show it"
    if trouble is not None:
        gone = " Its earlier entry was removed." if there is not None and target.entry() is None else ""
        return Refusal(target.path, f"`{' '.join(words[:3])}` failed: {trouble}.{gone}")
    return Done(target.path, changed=True, command=words)


def _cuts_values(server: Server | None) -> bool:
    """Whether a value would be cut: Gemini's `mcp add -e NAME=VALUE` keeps only what precedes a second `=`."""
    return server is not None and any("=" in value for value in server.env.values())


def _is_same(there: object, wanted: object) -> bool:
    if isinstance(there, dict) and isinstance(wanted, dict):
        return all((there.get(name) or None) == (wanted.get(name) or None) for name in COMPARED)
    return there == wanted


def _is_ours(there: object) -> bool:
    """Whether it starts `headcount mcp`, of any installation."""
    if not isinstance(there, dict):
        return False
    parts = (there.get("command"), there.get("args"))
    words = [str(word) for part in parts for word in (part if isinstance(part, list) else [part or ""])]
    words = [word for word in words if word]
    return words[-1:] == ["mcp"] and any(PurePath(word).name.startswith(NAME) for word in words)


def _run(words: tuple[str, ...]) -> str | None:
    """What went wrong; None: nothing."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE_CODE_")}
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=OTHER_PROGRAM_WITHIN, cwd="/", env={**env, "NO_COLOR": "1"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = " ".join((done.stderr or done.stdout).split())
    return None if done.returncode == 0 else said[-SAID_MOST:] or f"exit {done.returncode}"


def _without_comments(text: str) -> str:
    """JSON with comments and commas after the last element, as agents accept it, as plain JSON."""
    plain = LAST_COMMAS.sub(lambda found: found[1] or "", COMMENTS.sub(lambda found: found[1] or "", text))
    return plain if plain.strip() else "{}"


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's escapes are TOML's too
