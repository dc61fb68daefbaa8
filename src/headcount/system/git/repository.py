"""Which repository and worktree a directory is in, and on which branch, read from git's own files.

Rules
  1. No git process is run: two or three small reads per directory.
  2. A worktree counts as its repository: `web@i18n`, also if its directory is called web-i18n.
  3. The paths are foreign: only regular files are opened, a few kilobytes are read, and an error means "no
     repository".

Not here: what the directory means (a directory is never identity).
"""

import os
import stat
from typing import NamedTuple

READ_MOST = 4_096
SHORT_HASH = 7


class Repo(NamedTuple):
    common: str  # the .git directory that all worktrees share
    name: str
    branch: str | None
    top: str  # the directory that was checked out
    is_linked: bool = False  # a worktree beside the repository's own


def read_repo(directory: str) -> Repo | None:
    """The repository that holds the directory; None: none, or it cannot be read."""
    if not directory.startswith("/"):
        return None
    top = directory.rstrip("/")
    while top:
        try:
            mode = os.stat(f"{top}/.git").st_mode  # noqa: PTH116
        except (OSError, ValueError):
            top = top.rpartition("/")[0]
            continue
        return _in_directory(top) if stat.S_ISDIR(mode) else _in_worktree(top)
    return None


def _in_directory(top: str) -> Repo:
    return Repo(os.path.realpath(f"{top}/.git"), _base(top), _branch(f"{top}/.git"), top)


def _in_worktree(top: str) -> Repo | None:
    line = _read(f"{top}/.git").partition("\n")[0]
    if not line.startswith("gitdir: "):
        return None
    own = os.path.normpath(os.path.join(top, line[len("gitdir: ") :]))  # noqa: PTH118
    shared, worktrees, _ = own.rpartition("/worktrees/")
    if not worktrees:  # a submodule: a repository of its own
        return Repo(os.path.realpath(own), _base(top), _branch(own), top)
    owner = shared.removesuffix("/.git") if shared.endswith("/.git") else shared.removesuffix(".git")
    return Repo(os.path.realpath(shared), _base(owner), _branch(own), top, is_linked=True)


def _branch(git: str) -> str | None:
    head = _read(f"{git}/HEAD").strip()
    if head.startswith("ref: "):
        return head[len("ref: ") :].removeprefix("refs/heads/")
    return head[:SHORT_HASH] or None


def _read(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return ""
            return os.read(fd, READ_MOST).decode("utf-8", "replace")
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return ""


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or "/"
