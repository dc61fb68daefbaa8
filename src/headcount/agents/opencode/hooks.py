"""Our plugin in OpenCode: one file of our own beside the user's, written and removed.

Rules
  1. The file is ours if it starts with our header. Another file of that name is refused, untouched (G8).
  2. Uninstalling removes exactly that file, and its directory if we made it.
  3. OpenCode loads plugins when it starts: a running one reports nothing until then, and the plan says so.

Not here: what the plugin does (plugin.js), its events (reports.py), carrying a plan out
(agents/installing/file_change.py).
"""

import json
from collections.abc import Mapping
from pathlib import Path

from headcount.agents.installing import settings_file
from headcount.agents.installing.file_change import FileChange, HookState, Installed, written
from headcount.agents.installing.hook_line_asks_daemon import AS_IT_IS, Asking
from headcount.agents.installing.settings_file import OriginalFile, Refusal
from headcount.agents.opencode import NAME
from headcount.agents.opencode.reports import EVENTS

FILE = Path("plugin") / "headcount.js"
MARK = b"// headcount: "
PLACE = '"@MAILBOX@"'
RESTART = "active when OpenCode restarts"
FOREIGN = "a file of that name is there and is not ours"


class PluginFile:
    programs = ("opencode",)

    def roots(self, env: Mapping[str, str], home: Path) -> list[Path]:
        given = env.get("OPENCODE_CONFIG_DIR")
        usual = Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
        return [Path(given), usual] if given else [usual]

    def install(
        self, root: Path, mailbox: Path, state: Path, asking: Asking = AS_IT_IS
    ) -> FileChange | Refusal:
        return written(lambda: self.plan_install(root, mailbox, state, asking))

    def uninstall(self, root: Path, state: Path) -> FileChange | Refusal:
        return written(lambda: self.plan_uninstall(root, state))

    def plan_install(
        self, root: Path, mailbox: Path, state: Path, asking: Asking = AS_IT_IS
    ) -> FileChange | Refusal:
        place = root / FILE
        before = settings_file.read(place)
        if isinstance(before, Refusal):
            return before
        if not _is_ours(before):
            return Refusal(place, FOREIGN)
        if not mailbox.is_absolute():
            return Refusal(place, "the mailbox's path must be absolute")
        after = plugin(mailbox)
        memory = settings_file.memory_path(state, NAME, place)
        known = settings_file.recall(memory)
        made = not place.parent.exists() if before is None else known is not None and known.made_directory
        return FileChange(
            settings=place,
            before=before,
            after=after,
            memory=memory,
            remembered=OriginalFile(None, settings_file.fingerprint(after), made),
            added=len(EVENTS) if before is None else 0,
            renewed=len(EVENTS) if before is not None and before != after else 0,
            repoints=before is not None and _quoted(mailbox) not in before,
            note=RESTART if before != after else "",
        )

    def plan_uninstall(self, root: Path, state: Path) -> FileChange | Refusal:
        place = root / FILE
        before = settings_file.read(place)
        if isinstance(before, Refusal):
            return before
        if before is not None and not _is_ours(before):
            before = None  # another tool's file: ours is not installed
        memory = settings_file.memory_path(state, NAME, place)
        return FileChange(place, before, None, memory, None, removed=len(EVENTS) if before is not None else 0)

    def standing(self, root: Path, mailbox: Path) -> HookState:
        place, wanted = root / FILE, len(EVENTS)
        before = settings_file.read(place)
        if isinstance(before, Refusal):
            return HookState(place, Installed.UNREADABLE, 0, wanted, before.why)
        if before is None:
            return HookState(place, Installed.ABSENT, 0, wanted)
        if not _is_ours(before):
            return HookState(place, Installed.UNREADABLE, 0, wanted, FOREIGN)
        state = Installed.INSTALLED if before == plugin(mailbox) else Installed.OUTDATED
        return HookState(place, state, wanted, wanted)


def plugin(mailbox: Path) -> bytes:
    """The plugin's text, writing to that mailbox."""
    source = Path(__file__).with_name("plugin.js").read_text(encoding="utf-8")
    return source.encode().replace(PLACE.encode(), _quoted(mailbox))


def _quoted(mailbox: Path) -> bytes:
    return json.dumps(str(mailbox)).encode()


def _is_ours(content: bytes | None) -> bool:
    """Whether the file is ours; a missing file counts as ours."""
    return content is None or content.startswith(MARK)


HOOKS = PluginFile()
