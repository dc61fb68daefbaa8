"""Our plugin in OpenCode: one file of our own beside the user's, put there and taken away.

All that our plugin tells of OpenCode, and why.

Rules
  1. The file is ours when it begins as ours do. One of that name that does not is refused, untouched (G8).
  2. Uninstalling takes exactly that file, and its directory if we made it.
  3. OpenCode loads plugins when it starts: a running one tells nothing until then, and the plan says so.
  4. One table: the plugin's events by their names in OpenCode. The translation, the status of the install and
     the docs read it.
  5. What is told always is rare; what comes with every tool is told only while somebody listens.

Not here: what the plugin does (plugin.js), carrying it out (agents/installing/file_change.py); the plugin
  (plugin.js), what an event means (reports.py).
"""

import json
from collections.abc import Mapping
from pathlib import Path

from headcount.agents.installing import settings_file
from headcount.agents.installing.file_change import Installed, Plan, Standing, written
from headcount.agents.installing.query_line import AS_IT_IS, Asking
from headcount.agents.installing.settings_file import Refusal, Remembered
from headcount.agents.kit.hook_events import HookEvent, Use
from headcount.agents.opencode import NAME

_ROWS = (
    HookEvent("session.created", Use.ALWAYS, "a conversation opens, or a subagent's beside it"),
    HookEvent(
        "session.updated", Use.ALWAYS, "only the first of a conversation that this process did not create"
    ),
    HookEvent("session.deleted", Use.ALWAYS, "its user deleted the conversation"),
    HookEvent("session.compacted", Use.ALWAYS, "the conversation was made shorter; work goes on"),
    HookEvent("session.status", Use.ALWAYS, "busy or retry, when that changes"),
    HookEvent("session.idle", Use.ALWAYS, "a turn ended; once a turn, and not after an error"),
    HookEvent("session.error", Use.ALWAYS, "a turn ended by an error, a limit, or its user"),
    HookEvent("chat.message", Use.ALWAYS, "a turn begins; which model"),
    HookEvent("permission.asked", Use.ALWAYS, "it waits on its user"),
    HookEvent("permission.replied", Use.ALWAYS, "its user answered"),
    HookEvent("question.asked", Use.ALWAYS, "it waits on its user"),
    HookEvent("question.replied", Use.ALWAYS, "its user answered"),
    HookEvent("question.rejected", Use.ALWAYS, "its user would not answer"),
    HookEvent("tool.execute.before", Use.LISTENING, "what it is doing now"),
    HookEvent("tool.execute.after", Use.LISTENING, "the tool ended"),
)

EVENTS: dict[str, HookEvent] = {row.name: row for row in _ROWS}

FIELDS = frozenset({
    "event", "session", "subagent", "directory", "at", "database", "agent", "status", "rejected", "error", "code",
    "tool", "args", "reply", "header", "options", "questions", "model",
})  # fmt: skip
"""What the plugin of this version writes. Another version's may write more; that is counted."""


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

    def install(self, root: Path, mailbox: Path, state: Path, asking: Asking = AS_IT_IS) -> Plan | Refusal:
        return written(lambda: self.plan_install(root, mailbox, state, asking))

    def uninstall(self, root: Path, state: Path) -> Plan | Refusal:
        return written(lambda: self.plan_uninstall(root, state))

    def plan_install(
        self, root: Path, mailbox: Path, state: Path, asking: Asking = AS_IT_IS
    ) -> Plan | Refusal:
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
        return Plan(
            settings=place,
            before=before,
            after=after,
            memory=memory,
            remembered=Remembered(None, settings_file.fingerprint(after), made),
            added=len(EVENTS) if before is None else 0,
            renewed=len(EVENTS) if before is not None and before != after else 0,
            repoints=before is not None and _quoted(mailbox) not in before,
            note=RESTART if before != after else "",
        )

    def plan_uninstall(self, root: Path, state: Path) -> Plan | Refusal:
        place = root / FILE
        before = settings_file.read(place)
        if isinstance(before, Refusal):
            return before
        if before is not None and not _is_ours(before):
            before = None  # somebody else's: nothing of ours is there
        memory = settings_file.memory_path(state, NAME, place)
        return Plan(place, before, None, memory, None, removed=len(EVENTS) if before is not None else 0)

    def standing(self, root: Path, mailbox: Path) -> Standing:
        place, wanted = root / FILE, len(EVENTS)
        before = settings_file.read(place)
        if isinstance(before, Refusal):
            return Standing(place, Installed.UNREADABLE, 0, wanted, before.why)
        if before is None:
            return Standing(place, Installed.ABSENT, 0, wanted)
        if not _is_ours(before):
            return Standing(place, Installed.UNREADABLE, 0, wanted, FOREIGN)
        state = Installed.INSTALLED if before == plugin(mailbox) else Installed.OUTDATED
        return Standing(place, state, wanted, wanted)


def plugin(mailbox: Path) -> bytes:
    """The plugin that drops into that mailbox."""
    source = Path(__file__).with_name("plugin.js").read_text(encoding="utf-8")
    return source.encode().replace(PLACE.encode(), _quoted(mailbox))


def _quoted(mailbox: Path) -> bytes:
    return json.dumps(str(mailbox)).encode()


def _is_ours(content: bytes | None) -> bool:
    """Nothing is also nobody else's."""
    return content is None or content.startswith(MARK)


HOOKS = PluginFile()
