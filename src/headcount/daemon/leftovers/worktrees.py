"""Worktrees that were left: a checkout in which an ended session worked, with work that is nowhere else.

Rules
  1. Reported, never deleted (K7). Also not when it is clean: that is for whoever made it.
  2. One in which another session is at work is that one's, not a leftover. Of several that died in it the first is
     told.
  3. What git could not tell, and what hangs, is not known, and nothing follows: neither found nor gone. Every
     checkout is looked at by itself, with a limit (bounded_thread.py).

Not here: git (system/git/repository.py, system/git/unsaved_work.py), when they are looked for (collect.py).
"""

import asyncio
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeVar

from headcount.bounded_thread import BoundedThreads, Late
from headcount.core.values.leftover import Find, Leftover, LeftoverId, LeftoverKind
from headcount.core.values.session import Session, SessionId
from headcount.system.git.repository import read_repo
from headcount.system.git.unsaved_work import Work, read_work
from headcount.times import CHECKOUT_WITHIN, WORKTREE_WITHIN

AT_ONCE = 4  # of git: a machine that many agents die on is busy

K = TypeVar("K")
T = TypeVar("T")


async def tops_of(looks: BoundedThreads, directories: Iterable[str | None]) -> dict[str, str]:
    """The checkout that each of those directories is in, where it is in one."""
    found = await looks.each(_top, sorted({each for each in directories if each}), WORKTREE_WITHIN)
    return {directory: top for directory, top in found.items() if top is not None}


async def left_by(
    looks: BoundedThreads, sessions: Iterable[Session], busy: set[str]
) -> dict[SessionId, Find]:
    ended = list(sessions)
    tops = await tops_of(looks, (each.cwd for each in ended))
    first: dict[str, Session] = {}
    for session in ended:
        top = tops.get(session.cwd or "")
        if top is not None and top not in busy:
            first.setdefault(top, session)
    works = await _each_by_itself(looks, {top: partial(read_work, top) for top in first})
    return {
        first[top].id: _find(top, work, f"the session worked in {first[top].cwd}")
        for top, work in works.items()
        if work is not None and not work.is_nothing
    }


async def now(
    looks: BoundedThreads, known: Iterable[Leftover], busy: set[str]
) -> dict[LeftoverId, str | Find | None]:
    """Why each is no leftover any more, or what it is now; None, or left out: nothing can be told."""
    return await _each_by_itself(looks, {each.id: partial(why_gone, each, busy) for each in known})


def why_gone(leftover: Leftover, busy: set[str]) -> str | Find | None:
    """For a thread."""
    top = str(leftover.facts.get("path"))
    try:
        os.stat(top)  # noqa: PTH116
    except FileNotFoundError:
        return "the directory is gone"
    except (OSError, ValueError):
        return None  # it is not for us to look at now
    if top in busy:
        return "a session works in it"
    work = read_work(top)
    if work is None:
        return None
    return "all of it is committed and pushed" if work.is_nothing else _find(top, work)


async def _each_by_itself(looks: BoundedThreads, asked: dict[K, Callable[[], T]]) -> dict[K, T]:
    turn = asyncio.Semaphore(AT_ONCE)
    found: dict[K, T] = {}

    async def ask(name: K, look: Callable[[], T]) -> None:
        async with turn:
            try:
                found[name] = await looks.ask(look, CHECKOUT_WITHIN)
            except Late:
                return

    await asyncio.gather(*(ask(name, look) for name, look in asked.items()))
    return found


def _top(directory: str) -> str | None:
    repo = read_repo(directory)
    return os.path.realpath(repo.top) if repo is not None else None


def _find(top: str, work: Work, *evidence: str) -> Find:
    parts = [f"{work.uncommitted} uncommitted"] if work.uncommitted else []
    parts += [f"{work.unpushed} unpushed"] if work.unpushed else []
    facts: dict[str, object] = {
        "path": top,
        "branch": work.branch,
        "uncommitted": work.uncommitted,
        "unpushed": work.unpushed,
    }
    return Find(LeftoverKind.WORKTREE, top, f"{_short(top)}, {', '.join(parts)}", evidence, facts=facts)


def _short(path: str) -> str:
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path == home or path.startswith(home + "/") else path
