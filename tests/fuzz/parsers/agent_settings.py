"""Other tools' settings, edited as text: what is not ours stays byte for byte, and an uninstall gives back what was there.

Rules of this file
  1. The reader is as strict as JSON is: it agrees with another one on what is a document, and on its value.
  2. Every foreign member and every foreign entry stands after an edit as the same text, in the same order.
"""

import json
import math
import tomllib
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Any

from msgspec.structs import replace

from headcount.agents.claude_code.hooks import HOOKS as ALL_HOOKS
from headcount.agents.installing import hook_entries, mcp_server
from headcount.agents.installing.file_change import FileChange, written
from headcount.agents.installing.json_edit import Invalid, Node, parse
from headcount.agents.installing.mcp_server import Server
from headcount.agents.installing.settings_file import Refusal
from tests.fuzz.parsers.transcripts import place
from tests.fuzz.target import Target

FEW = ("Stop", "PreToolUse")  # of many: every edit reads all of it again
HOOKS = replace(ALL_HOOKS, observed=tuple(each for each in ALL_HOOKS.observed if each.name in FEW))
MAILBOX = Path("/home/dev/.local/state/headcount/mailbox")
LINES = HOOKS.wanted(MAILBOX)
SERVER = Server("/usr/bin/headcount", ("mcp",), {"HEADCOUNT_HOME": "/home/dev/h"})
REFUSALS = (Invalid, hook_entries.NotMergeable)


# --- reading ---------------------------------------------------------------------------------------


def check_text(data: bytes) -> None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    other = _other_reader(text)
    try:
        node = parse(text)
    except Invalid as invalid:
        assert other is REFUSED, f"another reader takes it: {invalid.reason}"
        assert invalid.line >= 1 and invalid.column >= 1 and invalid.line <= text.count("\n") + 1
        return
    assert other is not REFUSED, "another reader refuses it"
    assert _same(node.value, other), "two readers see different values"


REFUSED = object()


class _Twice(ValueError):
    pass


def _other_reader(text: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise _Twice
        return dict(pairs)

    def no_constant(_: str) -> Any:
        raise ValueError

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=no_constant, parse_int=_number)
    except (ValueError, RecursionError):
        return REFUSED


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float(digits)


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))


# --- hooks -----------------------------------------------------------------------------------------


def check_hooks(data: bytes) -> None:
    try:
        text = data.decode()
        made = hook_entries.merged(text, LINES)
    except (UnicodeDecodeError, *REFUSALS):
        is_refused_everywhere(data)
        return
    assert hook_entries.merged(made, LINES) == made, "doing it twice is doing it once"
    assert set(LINES) <= set(hook_entries.found(made))
    is_kept(text, made)
    bare = hook_entries.without(made)
    assert hook_entries.found(bare) == {}
    is_kept(made, bare)
    is_given_back(data)


def is_kept(before: str, after: str) -> None:
    """All that is not ours, as it was written."""
    there, here = foreign(before), foreign(after)
    assert here == there, (
        f"changed: {next(((a, b) for a, b in zip(there, here, strict=False) if a != b), (there, here))}"
    )


def foreign(text: str) -> list[tuple[str, str]]:
    root = parse(text if text.strip() else "{}")
    found = [(key, text[node.start : node.end]) for key, _, node in root.members if key != "hooks"]
    hooks = root.member("hooks")
    for event, _, groups in hooks.members if hooks is not None else ():
        for group in groups.items:
            found += [(event, each) for each in _foreign_handlers(text, group)]
    return found


def _foreign_handlers(text: str, group: Node) -> list[str]:
    handlers = group.member("hooks")
    if handlers is None or not isinstance(handlers.value, list):
        return [text[group.start : group.end]]
    return [
        text[each.start : each.end]
        for each in handlers.items
        if not (isinstance(each.value, dict) and hook_entries.kind_of(each.value.get("command")))
    ]


def is_given_back(data: bytes) -> None:
    """Through the files: installed, and uninstalled, it is what it was."""
    root, state = place() / "settings", place() / "state"
    root.mkdir(exist_ok=True)
    path = root / HOOKS.file
    path.write_bytes(data)
    installed = written(lambda: HOOKS.plan_install(root, MAILBOX, state))
    assert isinstance(installed, FileChange), installed
    had_ours = bool(installed.renewed or installed.removed) or hook_entries.found(data.decode())
    gone = HOOKS.uninstall(root, state)
    assert isinstance(gone, FileChange), gone
    assert had_ours or path.read_bytes() == data, "an uninstall gives back what was there, byte for byte"


def is_refused_everywhere(data: bytes) -> None:
    """What is refused is refused as a file too, untouched."""
    root, state = place() / "refused", place() / "state"
    root.mkdir(exist_ok=True)
    path = root / HOOKS.file
    path.write_bytes(data)
    plan = HOOKS.plan_install(root, MAILBOX, state)
    assert isinstance(plan, Refusal) or data.startswith(b"\xef\xbb\xbf"), plan
    HOOKS.plan_uninstall(root, state)
    HOOKS.standing(root, MAILBOX)
    assert path.read_bytes() == data


# --- MCP servers -----------------------------------------------------------------------------------


def check_servers(data: bytes) -> None:
    is_read("gemini", data)


def check_toml(data: bytes) -> None:
    is_read("codex", data)


def is_read(agent: str, data: bytes) -> None:
    """Whatever stands there: our entry, none, or a reason in words, and the file is as it was."""
    (target,) = mcp_server.targets({}, place() / "servers", agent)
    target.path.parent.mkdir(parents=True, exist_ok=True)
    target.path.write_bytes(data)
    assert mcp_server.standing(target)
    mcp_server.repoints(target, SERVER)
    assert isinstance(mcp_server.change(target, SERVER, dry=True), mcp_server.Done | Refusal)
    assert target.path.read_bytes() == data


# --- the plain way ---------------------------------------------------------------------------------


def naive_text(data: bytes) -> None:
    other = _other_reader(data.decode("utf-8", "replace"))
    try:
        found = json.loads(data)  # takes NaN, and the second of two keys
    except (ValueError, RecursionError):
        found = REFUSED
    assert (found is REFUSED) == (other is REFUSED)


def naive_hooks(data: bytes) -> None:
    """Loaded, changed, printed again."""
    try:
        text = data.decode()
        settings = json.loads(text)
        parse(text)
    except (ValueError, RecursionError, Invalid):
        return
    if isinstance(settings, dict) and "hooks" not in settings:
        is_kept(text, json.dumps({**settings, "hooks": {}}, indent=2))


def naive_servers(data: bytes) -> None:
    """Loaded as if every settings file were of the right shape."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return
    document.get("mcpServers", {}).get("headcount")


def naive_toml(data: bytes) -> None:
    try:
        document = tomllib.loads(data.decode("utf-8", "replace"))
    except TOMLDecodeError:
        return
    document.get("mcp_servers", {}).get("headcount")


def documents() -> list[bytes]:
    ours = hook_entries.merged('{\n  "model": "x"\n}\n', LINES)
    theirs = (
        '{ "permissions": {"allow": ["Bash(npm test)"]},\n\t"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", '
        '"command": "say done"}]}], "PreToolUse": []},\r\n  "x": 1.0e5, "text": "\\u00e9\\/" }'
    )
    servers = '{"mcpServers": {"other": {"command": "x", "args": []}}, "theme": "dark"}'
    return [
        b"{}", b"{ }\n", b'{"a": 1}', b"[]", b"null", theirs.encode(), ours.encode(), b"\xef\xbb\xbf{}", b"// c\n{}", servers.encode(),
        b'{"hooks": null}', b'{"hooks": {"Stop": {}}}', b'{"hooks": {"Stop": [1, {"hooks": 5}, {"hooks": [null]}]}}', b'{"a": 1, "a": 2}',
    ]  # fmt: skip


def tables() -> list[bytes]:
    return [
        b'model = "gpt"\n', b"[mcp_servers.other]\ncommand = 'x'\n", b"mcp_servers = { a = 1 }\n", b"[a]\nb = [1, 2,\n3]\n",
        b'[mcp_servers.headcount]\ncommand = "headcount"\nargs = ["mcp"]\n', b"[[mcp_servers]]\n", b"mcp_servers = 1", b"x = '''",
    ]  # fmt: skip


TARGETS = (
    Target("json-text", check_text, naive_text, documents),
    Target("settings-hooks", check_hooks, naive_hooks, documents, slow=True),
    Target("settings-servers", check_servers, naive_servers, documents),
    Target("settings-toml", check_toml, naive_toml, tables),
)
