"""Spaces: each path that a caller, a report or a record names, as a path of this host or labelled.

Rules
  1. A path goes through here before it is compared, looked at or stored. What it is says system/mount_namespaces.py.
  2. A file system may hang: it is asked with a limit. A process whose files hung is labelled without a look for a while, and
     what a reporting process sees is kept as long. What a caller sees is asked each time.
  3. A report that is read after its process ended has the host's paths, unless its session is known to work elsewhere: then
     they are dropped. Those of a report that is provably from another pid namespace are labelled.

Not here: what follows from a labelled path. Nothing does: no repository, no claim, no collision but with its own kind.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from headcount.bounded_thread import BoundedThreads
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import Record, Report
from headcount.daemon.engine.loop import Loop
from headcount.system.clock import Clock
from headcount.system.mount_namespaces import UNSEEN, has_mounts, is_ours, label_of, real_path
from headcount.times import WORKTREE_FRESH, WORKTREE_WITHIN

KNOWN_MOST = 2_000

T = TypeVar("T", Report, Record)


class HostPaths:
    def __init__(self, loop: Loop, looks: BoundedThreads, clock: Clock) -> None:
        self._loop = loop
        self._looks = looks
        self._clock = clock
        self._hung: dict[ProcessIdentity, float] = {}
        self._labels: dict[ProcessIdentity, tuple[float, str]] = {}
        self._placing: set[asyncio.Task[None]] = set()

    async def real_path(self, process: ProcessIdentity | None, path: str, within: float) -> str:
        """Links followed; `Late` when that takes longer."""
        return await self._looks.ask(partial(real_path, process, path), within)

    async def cwd_of(self, process: ProcessIdentity | None, cwd: str | None) -> str | None:
        return (await self.named_by(process, [cwd]))[cwd] if cwd else None

    async def named_by(self, process: ProcessIdentity | None, paths: Iterable[str]) -> dict[str, str]:
        """What each is for a caller. Those of one who sees our files are as they were written."""
        label = UNSEEN if has_mounts() else ""
        if process is not None:
            with suppress(OSError):
                label = label_of(process)
        return await self._named(process, label, set(paths))

    async def placed(self, heard: T, sender: ProcessIdentity | None = None) -> T:
        """With its paths as they are here. `sender` names them where it is bound to no process."""
        process = heard.anchor.process if heard.anchor.alive else sender
        label = self._label(heard, process)
        if label == "":
            return heard
        details, paths = heard.details, {heard.details.cwd}
        if isinstance(heard, Report):  # a record's transcript was found on this host, by the record's place
            paths |= {details.transcript, heard.edits, heard.would_edit}
        found = {} if label is None else await self._named(process, label, {path for path in paths if path})
        details = replace(details, cwd=found.get(details.cwd or ""))
        if not isinstance(heard, Report):
            return replace(heard, details=details)
        written = found.get(details.transcript or "", "")
        details = replace(details, transcript=written if is_ours(written) else None)
        edits, would_edit = found.get(heard.edits or ""), found.get(heard.would_edit or "")
        return replace(heard, details=details, edits=edits, would_edit=would_edit)

    def put(self, record: Record) -> None:
        """Into the loop: at once, unless a file system has to be asked."""
        if self._label(record, record.anchor.process) == "":
            self._loop.put(record)
            return
        task = asyncio.create_task(self._put(record))
        self._placing.add(task)
        task.add_done_callback(self._placing.discard)

    async def _put(self, record: Record) -> None:
        self._loop.put(await self.placed(record))

    def _label(self, heard: Report | Record, process: ProcessIdentity | None) -> str | None:
        """Empty: its paths are the host's. None: they are not known."""
        if process is not None:
            try:
                return self._kept(process)
            except ProcessLookupError:
                pass  # it has just ended
            except OSError:
                return None
        if heard.anchor.elsewhere:
            return UNSEEN if has_mounts() else ""
        ids = self._loop.world.by_conversation.get((heard.agent, heard.conversation), ())
        known = [self._loop.world.sessions[id].cwd for id in ids]
        return None if known and known[-1] and not is_ours(known[-1]) else ""

    def _kept(self, process: ProcessIdentity) -> str:
        now = self._clock.boottime()
        at, label = self._labels.get(process, (-WORKTREE_FRESH, ""))
        if now - at >= WORKTREE_FRESH:
            if len(self._labels) >= KNOWN_MOST:
                self._labels.clear()
            label = label_of(process)
            self._labels[process] = (now, label)
        return label

    async def _named(self, process: ProcessIdentity | None, label: str, paths: set[str]) -> dict[str, str]:
        if not label:
            return {path: path for path in paths}
        found: dict[str, str] = {}
        now = self._clock.boottime()
        self._hung = {each: at for each, at in self._hung.items() if now - at < WORKTREE_FRESH}
        if process is not None and process not in self._hung:
            found = await self._looks.each(partial(real_path, process), sorted(paths), WORKTREE_WITHIN)
            if len(found) < len(paths):
                self._hung[process] = now
        return {path: at if is_ours(at := found.get(path, "")) else f"{label}:{path}" for path in paths}
