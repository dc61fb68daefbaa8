"""Worktrees: which checked-out directory a report came from, and the real path of what it edits.

Rules
  1. People's file systems may hang: they are looked at with a limit (bounded_thread.py). What could not be read
     in time is not known, which is not "no repository", and is not asked for again for a while.
  2. A labelled path (daemon/identity/host_paths.py) is in no repository and is left as it is.
  3. Read once a directory, and again after WORKTREE_FRESH: a branch is switched now and then.

Not here: git's files (system/git/repository.py), what two in one worktree mean (core/collisions.py).
"""

import os
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from headcount.bounded_thread import BoundedThreads
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import Report, Worktree
from headcount.daemon.identity.host_paths import HostPaths
from headcount.system.clock import Clock
from headcount.system.git.repository import Repo, read_repo
from headcount.system.mount_namespaces import is_ours
from headcount.times import WORKTREE_FRESH, WORKTREE_WITHIN

KNOWN_MOST = 2_000

Found = tuple[dict[str, Repo | None], dict[str, str]]


class EditedPaths:
    def __init__(self, clock: Clock, looks: BoundedThreads, spaces: HostPaths) -> None:
        self.spaces = spaces
        self._clock = clock
        self._looks = looks
        self._known: dict[str, tuple[float, Repo | None]] = {}
        self._hung: dict[str, float] = {}  # when those were asked that did not answer

    async def resolved(
        self, reports: Sequence[Report], sender: ProcessIdentity | None = None
    ) -> list[Report]:
        """The reports with their worktree, and with the real path of what they edit. `sender` sent them, where
        they are bound to no process."""
        reports = [await self.spaces.placed(each, sender) for each in reports]
        directories = {each.details.cwd for each in reports if each.details.cwd and _tells(each)}
        paths = {path for each in reports for path in (each.edits, each.would_edit) if path and is_ours(path)}
        if not directories and not paths:
            return list(reports)
        repos, real = await self._look(directories, paths)
        return [_resolved(each, repos, real) if _tells(each) else each for each in reports]

    async def repos(self, directories: Iterable[str]) -> dict[str, Repo | None]:
        """Without those that could not be read in time."""
        found, _ = await self._look(set(directories), set())
        return found

    async def read_again(self, directories: Iterable[str]) -> dict[str, Repo | None]:
        """As they are now, whatever was read before; without those that could not be read in time."""
        for each in (wanted := set(directories)):
            self._known.pop(each, None)
        return await self.repos(wanted)

    async def real_path(self, path: str, named_by: ProcessIdentity | None) -> str:
        named = (await self.spaces.named_by(named_by, [path]))[path]
        if not is_ours(named):
            return named
        _, real = await self._look(set(), {named})
        return real.get(named, os.path.normpath(named))

    async def _look(self, directories: set[str], paths: set[str]) -> Found:
        now = self._clock.boottime()
        known = {
            each: self._known[each][1]
            for each in directories
            if each in self._known and now - self._known[each][0] < WORKTREE_FRESH
        }
        if not paths and len(known) == len(directories):
            return known, {}
        self._hung = {each: at for each, at in self._hung.items() if now - at < WORKTREE_FRESH}
        missing = directories - known.keys() - self._hung.keys()
        repos = await self._looks.each(_read, sorted(missing), WORKTREE_WITHIN)
        real = await self._looks.each(_real, sorted(paths), WORKTREE_WITHIN)
        self._hung |= dict.fromkeys(missing - repos.keys(), now)
        for directory, repo in repos.items():
            self._known[directory] = (now, repo)
        while len(self._known) > KNOWN_MOST:
            del self._known[next(iter(self._known))]
        return known | repos, real


def _read(directory: str) -> Repo | None:
    return read_repo(directory)


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return os.path.normpath(path)


def _tells(report: Report) -> bool:
    return report.says is not None or report.edits is not None or report.would_edit is not None


def _resolved(report: Report, repos: dict[str, Repo | None], real: dict[str, str]) -> Report:
    repo = repos.get(report.details.cwd or "")
    edits, would_edit = (
        real.get(path, os.path.normpath(path)) if path and is_ours(path) else path
        for path in (report.edits, report.would_edit)
    )
    if repo is None and report.worktree is None and (edits, would_edit) == (report.edits, report.would_edit):
        return report
    worktree = Worktree(repo.top, repo.branch, repo.name) if repo else None
    return replace(report, edits=edits, would_edit=would_edit, worktree=worktree)
