"""What git is about to do: which paths a commit touches, which branches a commit or push moves.

Rules of this file
  1. Git is asked, with the environment that it gave its hook: a commit may use an index of its own.
  2. Names are taken between NUL bytes: a path may hold anything else.

Not here: who has claimed any of it (the daemon).
"""

import os
import subprocess
from typing import NamedTuple

from headcount.cli.repo import find_repo

HEADS = "refs/heads/"


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
