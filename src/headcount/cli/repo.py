"""Repositories as people see them: `api@main`, and whether two directories are in the same one.

Rules of this file
  1. Each directory is read once.

Not here: reading (system/git_repository.py), what the directory means (a directory is never identity).
"""

from headcount.system.git_repository import Repo, read_repo

_known: dict[str, Repo | None] = {}


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
