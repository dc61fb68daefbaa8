"""Installing our hooks into Claude Code's settings, and taking them out again.

Rules of this file
  1. Planning only reads. A plan holds what is there and what would be there; carrying it out writes exactly that.
  2. A file that cannot be understood is refused, untouched, with the line and the reason (G8, H9).
  3. Uninstalling gives back what was there before, byte for byte, if nobody else changed the file since;
     if somebody did, only our entries are taken out.

Not here: the edit of the text (hooks_text.py), reading and writing files (agents/settings_file.py).
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from headcount.agents import ask_line, settings_file
from headcount.agents.claude_code import hooks_text
from headcount.agents.claude_code.asking import AS_IT_IS, Asking
from headcount.agents.claude_code.events import OBSERVED, Use
from headcount.agents.claude_code.translate import NAME
from headcount.agents.drop_line import Unquotable, line, why_not
from headcount.agents.json_text import Invalid
from headcount.agents.settings_file import Refusal, Remembered

BOM = b"\xef\xbb\xbf"
TRIES = 3  # the agent itself writes this file, when its user allows a tool for good


@dataclass(frozen=True, slots=True)
class Plan:
    settings: Path
    before: bytes | None  # None: there is no file
    after: bytes | None  # None: there will be no file
    memory: Path
    remembered: Remembered | None  # what to remember; None: to forget
    added: int = 0
    renewed: int = 0
    removed: int = 0

    @property
    def changes(self) -> bool:
        return self.before != self.after


class Installed(Enum):
    INSTALLED = "installed"
    PARTIAL = "partial"  # some events are missing
    OUTDATED = "outdated"  # an earlier line, or one of another mailbox
    ABSENT = "absent"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Standing:
    settings: Path
    state: Installed
    events: int
    wanted: int
    note: str = ""
    asks: tuple[str, ...] = ()  # the opt-in questions that are installed: guard, context


def settings_of(root: Path) -> Path:
    return root / "settings.json"


def wanted(mailbox: Path) -> dict[str, str]:
    """The line for every event that is observed."""
    return {row.name: line(mailbox, only_while_listening=row.use is Use.LISTENING) for row in OBSERVED}


def plan_install(root: Path, mailbox: Path, state: Path, asking: Asking = AS_IT_IS) -> Plan | Refusal:
    settings = settings_of(root)
    before = settings_file.read(settings)
    if isinstance(before, Refusal):
        return before
    try:
        text, prefix = _text(before)
        # taking a question out installs nothing
        lines = wanted(mailbox) if not asking.drop or hooks_text.found(text) else {}
        asks = asking.lines(_asked(text))
        made = hooks_text.merged(text, lines, asks)
        after = prefix + made.encode()
        remembered = _to_remember(root, before, after, state)
    except (Invalid, hooks_text.NotMergeable, UnicodeDecodeError, Unquotable) as error:
        return _refusal(settings, error)
    there = _all_lines(text)
    ours = {(event, hooks_text.OBSERVE): command for event, command in lines.items()}
    ours |= {(each.event, each.kind): each.command for each in asks}
    return Plan(
        settings=settings,
        before=before,
        after=before if before is not None and made == text else after,
        memory=_memory(settings, state),
        remembered=remembered,
        added=sum(key not in there for key in ours),
        renewed=sum(key in there and there[key] != [command] for key, command in ours.items()),
        removed=sum(key not in ours for key in there),
    )


def _all_lines(text: str) -> dict[tuple[str, str], list[str]]:
    """Our lines of every kind: event and kind -> lines."""
    return {
        (event, kind): lines
        for kind in hooks_text.KINDS
        for event, lines in hooks_text.found(text, kind).items()
    }


def _asked(text: str) -> dict[str, str]:
    """The opt-in questions that are there: kind -> line."""
    return {kind: lines[0] for (_, kind), lines in _all_lines(text).items() if kind in ask_line.KINDS}


def plan_uninstall(root: Path, state: Path) -> Plan | Refusal:
    settings = settings_of(root)
    before = settings_file.read(settings)
    if isinstance(before, Refusal):
        return before
    memory = _memory(settings, state)
    known = settings_file.recall(memory)
    try:
        text, prefix = _text(before)
        ours = len(_all_lines(text))
        if before is None:
            after = None
        elif known is not None and known.written == settings_file.fingerprint(before):
            after = known.original
        else:
            after = _cleaned(text, prefix, before, made_by_us=known is not None and known.original is None)
    except (Invalid, hooks_text.NotMergeable, UnicodeDecodeError) as error:
        return _refusal(settings, error)
    return Plan(settings, before, after, memory, None, removed=ours)


def carry_out(plan: Plan) -> Refusal | None:
    """Write what was planned. What was there is remembered first: a crash in between loses nothing."""
    if plan.changes:
        if plan.remembered is not None:
            try:
                settings_file.remember(plan.memory, plan.remembered, plan.settings)
            except OSError as error:
                return Refusal(plan.settings, f"what is there cannot be remembered ({error.strerror})")
        refusal = settings_file.replace(plan.settings, plan.before, plan.after)
        if refusal is not None:
            return refusal
    if plan.remembered is None:
        _forget(plan)
    return None


def install(root: Path, mailbox: Path, state: Path, asking: Asking = AS_IT_IS) -> Plan | Refusal:
    """Try the lines, then plan and write; again when the agent wrote its settings at the same moment."""
    try:
        trouble = why_not(mailbox)
        for kind in sorted(asking.add):
            trouble = trouble or ask_line.why_not(kind, NAME)
    except (OSError, Unquotable) as error:
        trouble = str(error)
    if trouble is not None:
        return Refusal(settings_of(root), f"the hook line does not work here: {trouble}")
    return _written(lambda: plan_install(root, mailbox, state, asking))


def uninstall(root: Path, state: Path) -> Plan | Refusal:
    return _written(lambda: plan_uninstall(root, state))


def _written(planned: Callable[[], Plan | Refusal]) -> Plan | Refusal:
    for left in reversed(range(TRIES)):
        plan = planned()
        if isinstance(plan, Refusal):
            return plan
        refusal = carry_out(plan)
        if refusal is None:
            return plan
        if not left:
            return refusal
    raise AssertionError("at least one try is made")


def standing(root: Path, mailbox: Path) -> Standing:
    settings, lines = settings_of(root), wanted(mailbox)
    before = settings_file.read(settings)
    if isinstance(before, Refusal):
        return Standing(settings, Installed.UNREADABLE, 0, len(lines), before.why)
    try:
        text, _ = _text(before)
        hooks_text.without(text)
    except (Invalid, hooks_text.NotMergeable, UnicodeDecodeError) as error:
        refusal = _refusal(settings, error)
        where = f"line {refusal.line}, column {refusal.column}: " if refusal.line else ""
        return Standing(settings, Installed.UNREADABLE, 0, len(lines), where + refusal.why)
    there = hooks_text.found(text)
    note = "all hooks are switched off in these settings" if hooks_text.is_switched_off(text) else ""
    return Standing(settings, _state(there, lines), len(there), len(lines), note, tuple(_asked(text)))


def diff(plan: Plan) -> str:
    """What carrying it out would change, as a unified diff."""
    sides = [
        (side or b"").decode("utf-8", "replace").splitlines(keepends=True)
        for side in (plan.before, plan.after)
    ]
    names = [str(plan.settings) if side is not None else "/dev/null" for side in (plan.before, plan.after)]
    made = difflib.unified_diff(sides[0], sides[1], names[0], names[1])
    return "".join(row if row.endswith("\n") else row + "\n\\ No newline at end of file\n" for row in made)


def _state(there: dict[str, list[str]], lines: dict[str, str]) -> Installed:
    if not there:
        return Installed.ABSENT
    if any(there[event] != [lines.get(event)] for event in there):
        return Installed.OUTDATED
    return Installed.INSTALLED if len(there) == len(lines) else Installed.PARTIAL


def _to_remember(root: Path, before: bytes | None, after: bytes, state: Path) -> Remembered:
    """What an uninstall should give back: what we remember, or, if somebody changed the file since, what is
    there now without our entries."""
    settings, written = settings_of(root), settings_file.fingerprint(after)
    if before is None:
        return Remembered(None, written, made_directory=not root.exists())
    known = settings_file.recall(_memory(settings, state))
    if known is not None and known.written == settings_file.fingerprint(before):
        return Remembered(known.original, written, known.made_directory)
    text, prefix = _text(before)
    made_by_us = known is not None and known.original is None
    original = _cleaned(text, prefix, before, made_by_us=made_by_us)
    return Remembered(original, written, known is not None and known.made_directory)


def _cleaned(text: str, prefix: bytes, before: bytes, *, made_by_us: bool) -> bytes | None:
    clean = hooks_text.without(text)
    if made_by_us and clean.split() in (["{}"], ["{", "}"]):
        return None
    return before if clean == text else prefix + clean.encode()


def _text(content: bytes | None) -> tuple[str, bytes]:
    """The text of the file, and the mark that some editors put before it."""
    if content is None:
        return "", b""
    prefix = BOM if content.startswith(BOM) else b""
    return content[len(prefix) :].decode("utf-8"), prefix


def _memory(settings: Path, state: Path) -> Path:
    return settings_file.memory_path(state, NAME, settings)


def _forget(plan: Plan) -> None:
    known = settings_file.recall(plan.memory)
    settings_file.forget(plan.memory)
    if known is not None and known.made_directory and plan.after is None:
        try:
            plan.settings.parent.rmdir()
        except OSError:
            return  # somebody keeps something there by now


def _refusal(settings: Path, error: Exception) -> Refusal:
    if isinstance(error, Invalid):
        return Refusal(settings, error.reason, error.line, error.column)
    if isinstance(error, UnicodeDecodeError):
        return Refusal(settings, f"not UTF-8 at byte {error.start}")
    return Refusal(settings, str(error))
