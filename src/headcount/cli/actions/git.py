"""Git, as the guard and the tables need it: hooks, what is about to change, and repositories.

Three parts: install and remove the guard in a repository's hooks; find which paths a commit touches and which branches a
commit or push moves; show a repository as people see it (`api@main`) and compare two directories.

Rules
  1. A hook that is not ours is never touched: the user is told which line to add by hand.
  2. If the guard's program is missing, git goes on (or stops, if the guard was installed with --strict): a forgotten
     uninstall must not lock a repository.
  3. Git is asked, with the environment that it gave its hook: a commit may use an index of its own.
  4. Paths are separated by NUL bytes: they may contain anything else.
  5. Each directory is read once.

Not here: what the hooks ask (commands/guard.py), who has claimed what (the daemon), reading a repository
  (system/git/repository.py).
"""

import os
import shlex
import shutil
import subprocess
import sys
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from headcount.system.git.repository import Repo, read_repo

MARK = "# headcount guard: made by `headcount guard git --install`, taken out by --uninstall"
HOOKS = ("pre-commit", "pre-push")

HEADS = "refs/heads/"

_known: dict[str, Repo | None] = {}


class GitHookChange(Enum):
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


def install(directory: Path, *, strict: bool) -> dict[str, GitHookChange]:
    directory.mkdir(parents=True, exist_ok=True)
    return {hook: _put(directory / hook, script(hook, strict=strict)) for hook in HOOKS}


def weakens(directory: Path, *, strict: bool) -> bool:
    """Whether an install would point a guard that is there to another program, or make a strict one lax."""
    there = {hook: _text(directory / hook) or "" for hook in HOOKS}
    return any(
        MARK in text and text not in (script(hook, strict=strict), script(hook, strict=False))
        for hook, text in there.items()
    )


def uninstall(directory: Path) -> dict[str, GitHookChange]:
    return {hook: _take(directory / hook) for hook in HOOKS}


def _put(place: Path, text: str) -> GitHookChange:
    there = _text(place)
    if there == text:
        return GitHookChange.THERE
    if there is not None and MARK not in there:
        return GitHookChange.FOREIGN
    beside = place.with_name(f".{place.name}.headcount")
    beside.write_text(text, "utf-8")
    beside.chmod(0o755)
    beside.replace(place)
    return (
        GitHookChange.LOOSENED if _is_strict(there or "") and not _is_strict(text) else GitHookChange.WRITTEN
    )


def _is_strict(ours: str) -> bool:
    return ours.endswith(' --strict "$@"\n')


def _take(place: Path) -> GitHookChange:
    there = _text(place)
    if there is None:
        return GitHookChange.ABSENT
    if MARK not in there:
        return GitHookChange.FOREIGN
    place.unlink()
    return GitHookChange.REMOVED


def _text(place: Path) -> str | None:
    """None: there is none. A link that leads nowhere is somebody's."""
    try:
        return place.read_text("utf-8", "replace")
    except FileNotFoundError:
        return "" if place.is_symlink() else None


class NoGit(Exception):
    """Not a repository, or git cannot be run."""


class Intent(NamedTuple):
    paths: list[str]  # absolute, links followed
    items: list[str]  # branches, as items


def of_commit() -> Intent:
    top = git("rev-parse", "--show-toplevel").rstrip("\n")
    names = git("diff", "--cached", "--name-only", "--no-renames", "-z").split("\0")
    paths = [_real(top, name) for name in names if name]
    return Intent(paths, [branch_item(top, current) for current in [_current()] if current])


def of_push(lines: str) -> Intent:
    """From what git tells a pre-push hook: local ref, local id, remote ref, remote id, a line each."""
    top = git("rev-parse", "--show-toplevel").rstrip("\n")
    branches: dict[str, None] = {}
    for line in lines.splitlines():
        for ref in line.split()[::2]:
            if ref.startswith(HEADS):
                branches[ref.removeprefix(HEADS)] = None
    return Intent([], [branch_item(top, branch) for branch in branches])


def branch_item(top: str, branch: str) -> str:
    """`branch:api#main`; all worktrees of a repository have its one name."""
    repo = find_repo(top)
    return f"branch:{repo.name if repo else top.rpartition('/')[2]}#{branch}"


def hooks_directory() -> str:
    """Where this repository's hooks are, as it is configured."""
    return os.path.abspath(git("rev-parse", "--git-path", "hooks").rstrip("\n"))  # noqa: PTH100


def git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], capture_output=True, check=False)
    except OSError as error:
        raise NoGit(f"git cannot be run: {error.strerror}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NoGit(said[0] if said else f"git {words[0]} failed")
    return os.fsdecode(done.stdout)


def _current() -> str | None:
    try:
        return git("symbolic-ref", "--quiet", "--short", "HEAD").rstrip("\n") or None
    except NoGit:
        return None  # a detached head is no branch


def _real(top: str, name: str) -> str:
    """A link that is committed is itself what changes; the directories above it are followed."""
    directory, _, last = f"{top}/{name}".rpartition("/")
    return f"{os.path.realpath(directory)}/{last}"


def find_repo(directory: str) -> Repo | None:
    """The repository that holds the directory; None: none, or it cannot be read."""
    if directory not in _known:
        _known[directory] = read_repo(directory)
    return _known[directory]


def label(directory: str | None) -> str:
    """`api@main`, or the directory's own name, or `-`."""
    if not directory:
        return "-"
    repo = find_repo(directory)
    if repo is None:
        return directory.rstrip("/").rpartition("/")[2] or "/"
    return f"{repo.name}@{repo.branch}" if repo.branch else repo.name


def is_within(directory: str | None, here: str) -> bool:
    """Whether a directory is in the repository that we stand in; without one: in this directory."""
    if not directory:
        return False
    ours = find_repo(here)
    if ours is None:
        return directory == here or directory.startswith(here.rstrip("/") + "/")
    theirs = find_repo(directory)
    return theirs is not None and theirs.common == ours.common
