"""Worktrees that were left: a checkout in which an ended session worked, with work that is nowhere else.

Rules of this file
  1. Reported, never deleted (K7). Also not when it is clean: that is for whoever made it.
  2. One in which another session is at work is that one's, not a leftover.
  3. What git could not tell is not known, and nothing follows.

Not here: git (system/git.py, system/git_work.py), when they are looked for (aftermath.py).
"""

import os
from collections.abc import Iterable
from pathlib import Path

from headcount.core.leftover import Find, Kind, Leftover
from headcount.core.session import Session
from headcount.system.git import read_repo
from headcount.system.git_work import Work, read_work


def tops_of(directories: Iterable[str | None]) -> set[str]:
    """The checkouts that those directories are in. For a thread."""
    repos = (read_repo(each) for each in set(directories) if each)
    return {os.path.realpath(repo.top) for repo in repos if repo is not None}


def left_by(session: Session, busy: set[str]) -> Find | None:
    repo = read_repo(session.cwd) if session.cwd else None
    if repo is None or os.path.realpath(repo.top) in busy:
        return None
    top = os.path.realpath(repo.top)
    work = read_work(top)
    if work is None or work.is_nothing:
        return None
    return _find(top, work, f"the session worked in {session.cwd}")


def why_gone(leftover: Leftover, busy: set[str]) -> str | Find | None:
    """Why it is no leftover any more, or what it is now; None: nothing can be told."""
    top = str(leftover.facts.get("path"))
    if not Path(top).exists():
        return "the directory is gone"
    if top in busy:
        return "a session works in it"
    work = read_work(top)
    if work is None:
        return None
    return "all of it is committed and pushed" if work.is_nothing else _find(top, work)


def _find(top: str, work: Work, *evidence: str) -> Find:
    parts = [f"{work.uncommitted} uncommitted"] if work.uncommitted else []
    parts += [f"{work.unpushed} unpushed"] if work.unpushed else []
    facts = {
        "path": top,
        "branch": work.branch,
        "uncommitted": work.uncommitted,
        "unpushed": work.unpushed,
    }
    return Find(Kind.WORKTREE, top, f"{_short(top)}, {', '.join(parts)}", evidence, facts=facts)


def _short(path: str) -> str:
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path == home or path.startswith(home + "/") else path
