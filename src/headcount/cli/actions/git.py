"""Git's hooks of one repository: put the guard in, take it out, leave others' hooks alone.

Rules of this file
  1. A hook that is not ours is never touched: the line to add by hand is told instead.
  2. A guard whose program is gone lets git go on (or not, when it was installed strict): an uninstall that
     was forgotten must not lock a repository.

Not here: what the hooks ask (commands/guard.py), what git is about to do (git_intent.py).
"""

import os
import shlex
import shutil
import sys
from enum import Enum
from pathlib import Path

MARK = "# headcount guard: made by `headcount guard git --install`, taken out by --uninstall"
HOOKS = ("pre-commit", "pre-push")


class Outcome(Enum):
    WRITTEN = "written"
    LOOSENED = "written; it was strict, and is no longer (to have it so: --install --strict)"
    THERE = "already there"
    REMOVED = "removed"
    ABSENT = "not there"
    FOREIGN = "has a hook of its own, untouched"


def script(hook: str, *, strict: bool) -> str:
    words = [*program(), "guard", "git", hook, *(["--strict"] if strict else [])]
    found = f"[ -x {shlex.quote(words[0])} ]"
    otherwise = "echo 'headcount is not there, and its guard is strict' >&2; exit 1" if strict else "exit 0"
    return f'#!/bin/sh\n{MARK}\n{found} || {{ {otherwise}; }}\nexec {shlex.join(words)} "$@"\n'


def program() -> list[str]:
    """The command that runs us: the installed one, or this Python."""
    own = Path(sys.argv[0])
    if own.name == "headcount" and own.is_file() and os.access(own, os.X_OK):
        return [str(own.resolve())]
    found = shutil.which("headcount")
    return [found] if found and own.name != "__main__.py" else [sys.executable, "-P", "-m", "headcount"]


def install(directory: Path, *, strict: bool) -> dict[str, Outcome]:
    directory.mkdir(parents=True, exist_ok=True)
    return {hook: _put(directory / hook, script(hook, strict=strict)) for hook in HOOKS}


def weakens(directory: Path, *, strict: bool) -> bool:
    """Whether an install would point a guard that is there to another program, or make a strict one lax."""
    there = {hook: _text(directory / hook) or "" for hook in HOOKS}
    return any(
        MARK in text and text not in (script(hook, strict=strict), script(hook, strict=False))
        for hook, text in there.items()
    )


def uninstall(directory: Path) -> dict[str, Outcome]:
    return {hook: _take(directory / hook) for hook in HOOKS}


def _put(place: Path, text: str) -> Outcome:
    there = _text(place)
    if there == text:
        return Outcome.THERE
    if there is not None and MARK not in there:
        return Outcome.FOREIGN
    beside = place.with_name(f".{place.name}.headcount")
    beside.write_text(text, "utf-8")
    beside.chmod(0o755)
    beside.replace(place)
    return Outcome.LOOSENED if _is_strict(there or "") and not _is_strict(text) else Outcome.WRITTEN


def _is_strict(ours: str) -> bool:
    return ours.endswith(' --strict "$@"\n')


def _take(place: Path) -> Outcome:
    there = _text(place)
    if there is None:
        return Outcome.ABSENT
    if MARK not in there:
        return Outcome.FOREIGN
    place.unlink()
    return Outcome.REMOVED


def _text(place: Path) -> str | None:
    """None: there is none. A link that leads nowhere is somebody's."""
    try:
        return place.read_text("utf-8", "replace")
    except FileNotFoundError:
        return "" if place.is_symlink() else None
