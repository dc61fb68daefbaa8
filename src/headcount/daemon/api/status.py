"""`status`: the daemon about itself, and everything that limits what it can know now.

Rules
  1. Answers come from the committed world only.
  2. Each warning says what is missing because of it, or the next step.

Not here: doctor's findings about the installation (cli/doctor/).
"""

import os
import shutil
from collections import Counter
from pathlib import Path

from headcount import __version__, build_and_namespaces
from headcount.agents.catalog import AGENTS
from headcount.agents.plugin_guard import Guarded
from headcount.core.sessions.start import UNPROVEN_MOST
from headcount.daemon.components import Components
from headcount.daemon.config import removed_in
from headcount.daemon.intake.ask_adapters import Adapters
from headcount.daemon.intake.mailbox import SIZE_MOST
from headcount.daemon.intake.mailbox_format import REPORTS_MOST
from headcount.daemon.views.session_row import ended_untold, time_text, visible
from headcount.wire.daemon import Status

DISK_LOW = 64 * 1024 * 1024
FILES_LOW = 100  # each report is one for a moment, and agents by the dozen report at once


def status(parts: Components) -> Status:
    now = parts.clock.now()
    shown = visible(parts.loop.world.sessions.values(), now, ended=False)
    return Status(
        pid=os.getpid(),
        version=__version__,
        build=build_and_namespaces.ours().build,
        uptime_s=round(parts.clock.boottime() - parts.began, 3),
        started_at=time_text(parts.started_at),
        socket=parts.places.socket,
        mailbox=parts.places.mailbox,
        url=parts.pages.url,
        sessions=len(shown),
        counts=dict(Counter(each.activity.doing.value for each in shown)),
        agents=dict(Counter(each.agent for each in shown)),
        processes=parts.processes.name,
        watched=parts.processes.watched(),
        polled=parts.processes.polled(),
        polled_directories=parts.files.polled(),
        store={
            "path": parts.places.database,
            "bytes": parts.store.size(),
            "seq": parts.loop.world.seq,
            "fault": parts.loop.fault,
            "set_aside": str(parts.set_aside) if parts.set_aside else None,
        },
        warnings=warnings(parts),
        unknown_events=dict(parts.drift.unknown),
        rebooted=len(ended_untold(parts.loop.world)),
    )


def warnings(parts: Components) -> list[str]:
    found = []
    if parts.set_aside is not None:
        found.append(
            f"the store was damaged and is set aside as {parts.set_aside}; history before it is there"
        )
    if (loss := parts.loop.world.book.loss) is not None:
        found.append(
            f"no claim is granted, since a store was lost ({loss}); accept it: headcount claims --accept-loss"
        )
    if parts.loop.fault is not None:
        found.append(f"nothing can be stored now: {parts.loop.fault}")
    if parts.loop.counts["bugs"]:
        found.append(
            f"{parts.loop.counts['bugs']} pieces of evidence could not be weighed; see {parts.places.log}"
        )
    found += parts.observers.warnings()
    found += mailbox_warnings(parts.mailboxes.counts(), parts.loop.counts)
    if parts.looks.hanging:
        found.append(
            f"a file system does not answer: {parts.looks.hanging} looks at it hang; claims of paths there are refused"
        )
    if parts.processes.is_short():
        found.append(
            f"few descriptors are left: {parts.processes.polled()} of {parts.processes.watched()} processes are"
            " looked at every second, not watched"
        )
    if (drift := settings_drift(parts)) is not None:
        found.append(drift)
    found += removed_in(Path(parts.places.config))
    if parts.pages.url is not None and not parts.pages.knows_callers:
        found.append(
            "this kernel does not say which user connects to the page's port: the page's credential alone decides"
        )
    found += adapter_warnings(parts.adapters)
    if parts.fleet.fault is not None:
        found.append(parts.fleet.fault)
    if shutil.disk_usage(parts.places.state).free < DISK_LOW:
        found.append("the disk of the store is nearly full")
    if _files_left(parts.places.state) < FILES_LOW:
        found.append("the disk of the store has no room for more files: hooks cannot drop their reports")
    return found


def settings_drift(parts: Components) -> str | None:
    return parts.config.drift(Path(parts.places.config), os.environ)


def _files_left(directory: str) -> float:
    """How many more files the disk takes; some file systems set no bound, and say 0 of 0."""
    disk = os.statvfs(directory)
    return disk.f_favail if disk.f_files else float("inf")


def mailbox_warnings(mailbox: Counter[str], core: Counter[str]) -> list[str]:
    """What was dropped because it was over a bound."""
    found = []
    if mailbox["over_limit"]:
        found.append(
            f"{mailbox['over_limit']} mailbox files had more than {REPORTS_MOST} reports or {SIZE_MOST >> 20} MB:"
            f" the rest, {mailbox['dropped_bytes']} bytes, was dropped unread"
        )
    if core["unproven_refused"]:
        found.append(
            f"{core['unproven_refused']} reports of new sessions without a process were dropped: at most {UNPROVEN_MOST}"
            " such sessions are kept"
        )
    return found


def adapter_warnings(adapters: Adapters) -> list[str]:
    """Agents of which not everything can be known now, and why."""
    found = [f"the adapter {each.name} is not used: {each.why}" for each in AGENTS.broken]
    found += [
        f"the adapter of {name} {why}; what it would find is missing" for name, why in adapters.faults.items()
    ]
    guarded = (each for each in AGENTS.values() if isinstance(each, Guarded) and each.fault)
    return found + [f"the adapter of {each.name} failed in {each.fault}" for each in guarded]
