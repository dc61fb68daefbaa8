"""One change in another tool's file, planned and carried out: what every installer of hooks shares.

Rules
  1. Planning only reads. A plan holds what is there and what would be there; carrying it out writes exactly that.
  2. What was there is remembered before anything is written: a crash in between loses nothing (G8).
  3. If the file changed meanwhile, planning starts over, a few times; then the file is left alone.

Not here: what is put into a file (json_hooks.py, opencode/), reading and writing it (settings_file.py).
"""

from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from headcount.agents.installing import settings_file
from headcount.agents.installing.hook_line_asks_daemon import AS_IT_IS, Asking
from headcount.agents.installing.json_edit import Invalid
from headcount.agents.installing.settings_file import OriginalFile, Refusal

TRIES = 3  # agents also write these files, e.g. when the user allows a tool permanently


class FileChange(Struct, frozen=True):
    settings: Path
    before: bytes | None  # None: there is no file
    after: bytes | None  # None: there will be no file
    memory: Path
    remembered: OriginalFile | None  # what to remember; None: to forget
    added: int = 0
    renewed: int = 0
    removed: int = 0
    repoints: bool = (
        False  # an existing entry of ours points to another state directory: only the operator may change it
    )
    note: str = ""  # what the user still has to do: "inactive until trusted: run /hooks in Codex"

    @property
    def changes(self) -> bool:
        return self.before != self.after


class Installed(Enum):
    INSTALLED = "installed"
    PARTIAL = "partial"  # some events are missing
    OUTDATED = "outdated"  # an earlier line, or one of another mailbox
    ABSENT = "absent"
    UNREADABLE = "unreadable"


class HookState(Struct, frozen=True):
    settings: Path
    state: Installed
    events: int
    wanted: int
    note: str = ""
    asks: tuple[str, ...] = ()  # the opt-in questions that are installed: guard, context
    inactive: str = ""  # it is written, but the agent does not run it: why, and the next step


class HookFiles(Protocol):
    """Installs our hooks in an agent's files and removes them. `mailbox` is always that agent's own directory
    (hook_line_mailbox.directory_of); `state` is where the previous content is remembered."""

    @property
    def programs(self) -> tuple[str, ...]:
        """The commands that users type. If one is on PATH, the agent is installed."""
        ...

    def roots(self, env: Mapping[str, str], home: Path) -> list[Path]:
        """The agent's configuration directories; there may be several, and they need not exist."""
        ...

    def plan_install(
        self, root: Path, mailbox: Path, state: Path, asking: Asking = AS_IT_IS
    ) -> FileChange | Refusal: ...

    def plan_uninstall(self, root: Path, state: Path) -> FileChange | Refusal: ...

    def install(
        self, root: Path, mailbox: Path, state: Path, asking: Asking = AS_IT_IS
    ) -> FileChange | Refusal:
        """Try the lines first, then plan and write."""
        ...

    def uninstall(self, root: Path, state: Path) -> FileChange | Refusal: ...

    def standing(self, root: Path, mailbox: Path) -> HookState: ...


def carry_out(plan: FileChange) -> Refusal | None:
    """Write what was planned. What was there is remembered first."""
    if plan.changes:
        if plan.remembered is not None:
            try:
                settings_file.remember(plan.memory, plan.remembered, plan.settings)
            except OSError as error:
                return Refusal(
                    plan.settings, f"its present content cannot be saved for uninstall ({error.strerror})"
                )
        refusal = settings_file.replace(plan.settings, plan.before, plan.after)
        if refusal is not None:
            return refusal
    if plan.remembered is None:
        _forget(plan)
    return None


def written(planned: Callable[[], FileChange | Refusal]) -> FileChange | Refusal:
    """Plan and carry out; start over if the agent wrote the file meanwhile."""
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


def refusal_of(path: Path, error: Exception) -> Refusal:
    """Why a file that cannot be understood is left alone, and where in it."""
    if isinstance(error, Invalid):
        return Refusal(path, error.reason, error.line, error.column)
    if isinstance(error, UnicodeDecodeError):
        return Refusal(path, f"not UTF-8 at byte {error.start}")
    return Refusal(path, str(error))


def diff(plan: FileChange) -> str:
    """What carrying it out would change, as a unified diff."""
    import difflib  # lazy import: only for showing a plan, which the daemon never does

    sides = [
        (side or b"").decode("utf-8", "replace").splitlines(keepends=True)
        for side in (plan.before, plan.after)
    ]
    names = [str(plan.settings) if side is not None else "/dev/null" for side in (plan.before, plan.after)]
    made = difflib.unified_diff(sides[0], sides[1], names[0], names[1])
    return "".join(row if row.endswith("\n") else row + "\n\\ No newline at end of file\n" for row in made)


def _forget(plan: FileChange) -> None:
    known = settings_file.recall(plan.memory)
    settings_file.forget(plan.memory)
    if known is not None and known.made_directory and plan.after is None:
        try:
            plan.settings.parent.rmdir()
        except OSError:
            return  # not empty: other files are there by now
