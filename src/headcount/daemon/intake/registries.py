"""Registries: the agents' own lists of their live sessions, read on change.

Rules
  1. A file is a hint; the process it names decides. Nothing is concluded from a missing file.
  2. Nothing is ever written or deleted there.
  3. A directory that does not exist yet, or no longer, is waited for, not polled.

Not here: what a file says (agents/), what follows (core/sessions/apply_report.py).
"""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from headcount.agents.interface import Agent, Registry
from headcount.core.values.process import ProcessFacts
from headcount.daemon.engine.loop import Loop
from headcount.daemon.identity.host_paths import HostPaths
from headcount.daemon.identity.reporting_process import Anchors
from headcount.daemon.intake.unknown_events import UnknownEvents
from headcount.system.files import (
    IN_CLOSE_WRITE,
    IN_IGNORED,
    IN_MOVED_TO,
    FileEvent,
    FileEvents,
    await_directory,
)
from headcount.system.processes.interface import Processes

log = logging.getLogger("headcount.registries")


class Registries:
    def __init__(
        self,
        loop: Loop,
        processes: Processes,
        anchors: Anchors,
        files: FileEvents,
        drift: UnknownEvents,
        spaces: HostPaths,
    ) -> None:
        self._loop = loop
        self._processes = processes
        self._anchors = anchors
        self._files = files
        self._drift = drift
        self._spaces = spaces
        self._uid = os.getuid()
        self.directories: list[Path] = []
        self._registries: dict[Path, Registry] = {}

    def open(self, agent: Agent, env: Mapping[str, str], home: Path, more: tuple[str, ...] = ()) -> None:
        registry = agent.registry
        if registry is None:
            return
        roots = [*registry.roots(env, home), *(Path(each).expanduser() for each in more)]
        for root in dict.fromkeys(roots):
            self._arm(registry, registry.directory(root))

    def places(self) -> list[tuple[Registry, Path]]:
        return [(self._registries[directory], directory) for directory in self.directories]

    def _arm(self, registry: Registry, directory: Path) -> None:
        if not directory.is_dir():
            await_directory(self._files, directory, lambda: self._arm(registry, directory))
            return
        self.directories.append(directory)
        self._registries[directory] = registry
        self._files.watch(
            directory,
            IN_CLOSE_WRITE | IN_MOVED_TO,
            lambda events: self._changed(registry, directory, events),
        )
        self._read_all(registry, directory)

    def _changed(self, registry: Registry, directory: Path, events: list[FileEvent]) -> None:
        if any(event.mask & IN_IGNORED for event in events):  # it was removed; it may be made again
            self.directories.remove(directory)
            self._arm(registry, directory)
            return
        if any(event.name is None for event in events):
            self._read_all(registry, directory)
            return
        for name in dict.fromkeys(event.name for event in events if event.name is not None):
            self._read(registry, directory / name)

    def _read_all(self, registry: Registry, directory: Path) -> None:
        try:
            names = sorted(os.listdir(directory))
        except OSError as error:
            log.warning("%s cannot be listed: %s", directory, error.strerror)
            return
        for name in names:
            self._read(registry, directory / name)

    def _read(self, registry: Registry, path: Path) -> None:
        if not registry.is_entry_name(path.name):
            return
        entry = registry.read(path)
        if entry is None:
            return
        for strange in entry.unknown:
            self._drift.count(strange)
        if not entry.is_session:
            return
        facts = self._processes.look(entry.pid)
        if not isinstance(facts, ProcessFacts) or facts.uid != self._uid or not registry.names(entry, facts):
            self._loop.counts["stale_records"] += 1
            return
        anchor = self._anchors.bound(facts, "registry")
        self._spaces.put(registry.record(entry, anchor))
