"""Spaces: each path that a caller, a report or a record names, as a path of this host or labelled.

Rules of this file
  1. A path goes through here before it is compared, looked at or stored: claims, working directories, edits, guards.
     What it is for the process that names it says system/spaces.py.
  2. A file system may hang: it is asked with a limit. A process whose files hung is labelled without a look for a while.
     What a reporting process sees is kept as long; a caller's is asked each time.
  3. A report that is read after its process ended has the host's paths, unless its session is known to work elsewhere:
     then its paths are dropped. If it was written just now by a process that is not here, it comes from another pid
     namespace, and its paths are labelled.

Not here: what follows from a labelled path. Nothing does: no repository, no claim, no collision but with its own kind.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from headcount.core.identity import ProcessIdentity
from headcount.core.report import Found, Record, Report
from headcount.daemon.loop import Loop
from headcount.system.clock import Clock
from headcount.system.looking import Looks
from headcount.system.spaces import UNSEEN, has_mounts, is_ours, label_of, real_path
from headcount.times import SETTLE_WITHIN, WORKTREE_FRESH, WORKTREE_WITHIN

KNOWN_MOST = 2_000

T = TypeVar("T", Report, Record, Found)


class Spaces:
    def __init__(self, loop: Loop, looks: Looks, clock: Clock) -> None:
        self._loop = loop
        self._looks = looks
        self._clock = clock
        self._hung: dict[ProcessIdentity, float] = {}
        self._labels: dict[ProcessIdentity, tuple[float, str]] = {}
        self._placing: set[asyncio.Task[None]] = set()

    async def real_path(self, process: ProcessIdentity | None, path: str, within: float) -> str:
        """Links followed; `Hung` when that takes longer."""
        return await self._looks.ask(partial(real_path, process, path), within)

    async def named_by(self, process: ProcessIdentity | None, paths: Iterable[str]) -> dict[str, str]:
        """What each is for a caller. Those of one who sees our files are as they were written."""
        label = UNSEEN if has_mounts() else ""
        if process is not None:
            with suppress(ProcessLookupError):
                label = label_of(process)
        return await self._named(process, label, paths)

    async def placed(self, heard: T, sender: ProcessIdentity | None = None) -> T:
        """With its paths as they are here. `sender` names them where it is bound to no process."""
        process = _process(heard) or sender
        label = self._label(heard, process)
        if label == "":
            return heard
        named: dict[str, str] = {}
        if label is not None:
            named = await self._named(process, label, _paths(heard))
        return _with_paths(heard, named)

    def put(self, record: Record) -> None:
        """Into the loop: at once, unless a file system has to be asked."""
        if self._label(record, _process(record)) == "":
            self._loop.put(record)
            return
        task = asyncio.create_task(self._put(record))
        self._placing.add(task)
        task.add_done_callback(self._placing.discard)

    async def _put(self, record: Record) -> None:
        self._loop.put(await self.placed(record))

    def _label(self, heard: Report | Record | Found, process: ProcessIdentity | None) -> str | None:
        """Empty: its paths are the host's. None: they are not known."""
        if process is not None:
            with suppress(ProcessLookupError):
                return self._label_of(process)
        if isinstance(heard, Found):
            return None
        now = self._clock.now()
        if heard.anchor.not_here and now - heard.at < SETTLE_WITHIN and not getattr(heard, "leaving", None):
            return UNSEEN if has_mounts() else ""
        ids = self._loop.world.by_conversation.get((heard.agent, heard.conversation), ())
        known = [self._loop.world.sessions[id].cwd for id in ids]
        return None if known and known[-1] and not is_ours(known[-1]) else ""

    def _label_of(self, process: ProcessIdentity) -> str:
        now = self._clock.boottime()
        at, label = self._labels.get(process, (-WORKTREE_FRESH, ""))
        if now - at >= WORKTREE_FRESH:
            if len(self._labels) >= KNOWN_MOST:
                self._labels.clear()
            label = label_of(process)
            self._labels[process] = (now, label)
        return label

    async def _named(
        self, process: ProcessIdentity | None, label: str, paths: Iterable[str]
    ) -> dict[str, str]:
        wanted, found = set(paths), {}
        if not label:
            return {path: path for path in wanted}
        now = self._clock.boottime()
        self._hung = {each: at for each, at in self._hung.items() if now - at < WORKTREE_FRESH}
        if process is not None and process not in self._hung:
            found = await self._looks.each(partial(real_path, process), sorted(wanted), WORKTREE_WITHIN)
            if len(found) < len(wanted):
                self._hung[process] = now
        return {
            path: known if (known := found.get(path)) and is_ours(known) else f"{label}:{path}"
            for path in wanted
        }


def _process(heard: Report | Record | Found) -> ProcessIdentity | None:
    if isinstance(heard, Found):
        return heard.process
    return heard.anchor.process if heard.anchor.alive else None


def _paths(heard: Report | Record | Found) -> set[str]:
    if isinstance(heard, Found):
        return {heard.cwd} if heard.cwd else set()
    found = {heard.details.cwd}
    if isinstance(heard, Report):
        found |= {heard.details.transcript, heard.edits, heard.would_edit}
    return {path for path in found if path}


def _with_paths(heard: T, named: dict[str, str]) -> T:
    if isinstance(heard, Found):
        return replace(heard, cwd=named.get(heard.cwd or ""))
    details = replace(heard.details, cwd=named.get(heard.details.cwd or ""))
    if isinstance(heard, Record):  # its transcript was found on this host, by the record's own place
        return replace(heard, details=details)
    written = named.get(details.transcript or "", "")
    details = replace(details, transcript=written if is_ours(written) else None)
    edits, would_edit = named.get(heard.edits or ""), named.get(heard.would_edit or "")
    return replace(heard, details=details, edits=edits, would_edit=would_edit)
