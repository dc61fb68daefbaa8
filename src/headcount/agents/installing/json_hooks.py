"""Install our hook lines in an agent's JSON settings, and remove them.

Rules
  1. A file that cannot be understood is refused, untouched, with the line and the reason (G8, H9).
  2. Uninstalling restores the previous file byte for byte if it is unchanged since our install;
     otherwise it removes only our entries.
  3. The agents differ only in what `JsonHooks` holds: the file, the events, the unit of time.

Not here: the edit of the text (hook_entries.py), carrying it out (file_change.py), files (settings_file.py).
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field

from headcount.agents.installing import hook_entries, hook_line_asks_daemon, hook_line_mailbox, settings_file
from headcount.agents.installing.file_change import FileChange, HookState, Installed, refusal_of, written
from headcount.agents.installing.hook_line_asks_daemon import AS_IT_IS, Asking, Questions
from headcount.agents.installing.hook_line_mailbox import Unquotable
from headcount.agents.installing.json_edit import Invalid
from headcount.agents.installing.settings_file import OriginalFile, Refusal
from headcount.agents.kit.hook_events import HookEvent, Use
from headcount.times import HOOK_WITHIN

BOM = b"\xef\xbb\xbf"

Roots = Callable[[Mapping[str, str], Path], list[Path]]


def _no_questions() -> Questions:
    return {}


class JsonHooks(Struct, frozen=True):
    agent: str
    programs: tuple[str, ...]
    file: str  # below a root: "settings.json"
    observed: tuple[HookEvent, ...]
    find_roots: Roots
    within: int = HOOK_WITHIN  # in the agent's own unit
    questions: Questions = field(default_factory=_no_questions)
    inactive: Callable[[Path, str], str] | None = None
    """Given a root and the settings' text: why the agent does not run our entries, and the next step."""

    def roots(self, env: Mapping[str, str], home: Path) -> list[Path]:
        return self.find_roots(env, home)

    def settings_of(self, root: Path) -> Path:
        return root / self.file

    def wanted(self, mailbox: Path) -> dict[str, str]:
        """The line for every event that is observed."""
        return {
            event.name: hook_line_mailbox.line(mailbox, only_while_listening=event.use is Use.LISTENING)
            for event in self.observed
        }

    # --- in and out ----------------------------------------------------------------------------------

    def install(
        self, root: Path, mailbox: Path, state: Path, asking: Asking = AS_IT_IS
    ) -> FileChange | Refusal:
        """Try the lines, then plan and write; start over if the agent wrote its settings meanwhile."""
        try:
            trouble = hook_line_mailbox.why_not(mailbox)
            for kind in sorted(asking.add & self.questions.keys()):
                trouble = trouble or hook_line_asks_daemon.why_not(kind, self.agent)
        except (OSError, Unquotable) as error:
            trouble = str(error)
        if trouble is not None:
            return Refusal(self.settings_of(root), f"the hook line does not work here: {trouble}")
        return written(lambda: self.plan_install(root, mailbox, state, asking))

    def uninstall(self, root: Path, state: Path) -> FileChange | Refusal:
        return written(lambda: self.plan_uninstall(root, state))

    def plan_install(
        self, root: Path, mailbox: Path, state: Path, asking: Asking = AS_IT_IS
    ) -> FileChange | Refusal:
        settings = self.settings_of(root)
        before = settings_file.read(settings)
        if isinstance(before, Refusal):
            return before
        try:
            text, prefix = _text(before)
            # removing a question installs nothing
            lines = self.wanted(mailbox) if not asking.drop or hook_entries.found(text) else {}
            asks = asking.lines(_asked(text), self.questions, self.agent)
            made = hook_entries.merged(text, lines, asks, self.within)
            after = prefix + made.encode()
            remembered = self._to_remember(root, before, after, state)
        except (Invalid, hook_entries.NotMergeable, UnicodeDecodeError, Unquotable) as error:
            return refusal_of(settings, error)
        there = _all_lines(text)
        ours = {(event, hook_entries.OBSERVE): command for event, command in lines.items()}
        ours |= {(each.event, each.kind): each.command for each in asks}
        return FileChange(
            settings=settings,
            before=before,
            after=before if before is not None and made == text else after,
            memory=self._memory(settings, state),
            remembered=remembered,
            added=sum(key not in there for key in ours),
            renewed=sum(key in there and there[key] != [command] for key, command in ours.items()),
            removed=sum(key not in ours for key in there),
            repoints=any(
                not _leads(kind, each, mailbox, asking)
                for (_, kind), lines in there.items()
                for each in lines
            ),
            note=self.inactive(root, made) if self.inactive is not None and lines else "",
        )

    def plan_uninstall(self, root: Path, state: Path) -> FileChange | Refusal:
        settings = self.settings_of(root)
        before = settings_file.read(settings)
        if isinstance(before, Refusal):
            return before
        memory = self._memory(settings, state)
        known = settings_file.recall(memory)
        try:
            text, prefix = _text(before)
            ours = len(_all_lines(text))
            if before is None:
                after = None
            elif known is not None and known.written == settings_file.fingerprint(before):
                after = known.original
            else:
                after = _cleaned(
                    text, prefix, before, made_by_us=known is not None and known.original is None
                )
        except (Invalid, hook_entries.NotMergeable, UnicodeDecodeError) as error:
            return refusal_of(settings, error)
        return FileChange(settings, before, after, memory, None, removed=ours)

    def standing(self, root: Path, mailbox: Path) -> HookState:
        settings, lines = self.settings_of(root), self.wanted(mailbox)
        before = settings_file.read(settings)
        if isinstance(before, Refusal):
            return HookState(settings, Installed.UNREADABLE, 0, len(lines), before.why)
        try:
            text, _ = _text(before)
            hook_entries.without(text)
        except (Invalid, hook_entries.NotMergeable, UnicodeDecodeError) as error:
            refusal = refusal_of(settings, error)
            where = f"line {refusal.line}, column {refusal.column}: " if refusal.line else ""
            return HookState(settings, Installed.UNREADABLE, 0, len(lines), where + refusal.why)
        there = hook_entries.found(text)
        note = "all hooks are switched off in these settings" if hook_entries.is_switched_off(text) else ""
        inactive = self.inactive(root, text) if self.inactive is not None and there else ""
        return HookState(
            settings, _state(there, lines), len(there), len(lines), note, tuple(_asked(text)), inactive
        )

    # --- what an uninstall restores --------------------------------------------------------------------

    def _to_remember(self, root: Path, before: bytes | None, after: bytes, state: Path) -> OriginalFile:
        """What an uninstall should restore: the remembered content, or, if the file was changed since, its present
        content without our entries."""
        settings, fingerprint = self.settings_of(root), settings_file.fingerprint(after)
        if before is None:
            return OriginalFile(None, fingerprint, made_directory=not root.exists())
        known = settings_file.recall(self._memory(settings, state))
        if known is not None and known.written == settings_file.fingerprint(before):
            return OriginalFile(known.original, fingerprint, known.made_directory)
        text, prefix = _text(before)
        made_by_us = known is not None and known.original is None
        original = _cleaned(text, prefix, before, made_by_us=made_by_us)
        return OriginalFile(original, fingerprint, known is not None and known.made_directory)

    def _memory(self, settings: Path, state: Path) -> Path:
        return settings_file.memory_path(state, self.agent, settings)


def _all_lines(text: str) -> dict[tuple[str, str], list[str]]:
    """Our lines of every kind: event and kind -> lines."""
    return {
        (event, kind): lines
        for kind in hook_entries.KINDS
        for event, lines in hook_entries.found(text, kind).items()
    }


def _leads(kind: str, command: str, mailbox: Path, asking: Asking) -> bool:
    """Whether an installed line points to our mailbox or socket."""
    if kind == hook_entries.OBSERVE:
        return hook_line_mailbox.leads_to(command, mailbox)
    return asking.socket is None or hook_line_asks_daemon.leads_to(command, asking.socket)


def _asked(text: str) -> dict[str, str]:
    """The installed opt-in questions: kind -> line."""
    return {
        kind: lines[0] for (_, kind), lines in _all_lines(text).items() if kind in hook_line_asks_daemon.KINDS
    }


def _state(there: dict[str, list[str]], lines: dict[str, str]) -> Installed:
    if not there:
        return Installed.ABSENT
    if any(there[event] != [lines.get(event)] for event in there):
        return Installed.OUTDATED
    return Installed.INSTALLED if len(there) == len(lines) else Installed.PARTIAL


def _cleaned(text: str, prefix: bytes, before: bytes, *, made_by_us: bool) -> bytes | None:
    clean = hook_entries.without(text)
    if made_by_us and clean.split() in (["{}"], ["{", "}"]):
        return None
    return before if clean == text else prefix + clean.encode()


def _text(content: bytes | None) -> tuple[str, bytes]:
    """The text of the file, and its byte order mark if it has one."""
    if content is None:
        return "", b""
    prefix = BOM if content.startswith(BOM) else b""
    return content[len(prefix) :].decode("utf-8"), prefix
