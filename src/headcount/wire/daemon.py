"""Messages about the daemon itself: health, status, and the outcome of a notification test.

Rules
  1. Field names are only ever added, absent facts are null (as in wire/sessions.py).

Not here: collecting the status (daemon/api/status.py).
"""

from typing import Any

import msgspec


class ChannelOutcome(msgspec.Struct, kw_only=True):
    channel: str  # desktop, command
    ok: bool
    because: str | None  # with ok=false: why it did not arrive


class NotifyTest(msgspec.Struct, kw_only=True):
    channels: list[ChannelOutcome]  # empty: none is set
    config: str  # the file in which they are set
    drift: str | None = None  # that file was changed since it was read


class Health(msgspec.Struct, kw_only=True):
    ok: bool
    version: str
    pid: int


class Status(msgspec.Struct, kw_only=True):
    pid: int
    version: str
    build: str  # changes with the code of the installation that runs
    uptime_s: float
    started_at: str
    socket: str
    mailbox: str
    url: str | None
    sessions: int  # not ended
    counts: dict[str, int]  # by activity, of the living
    agents: dict[str, int]  # living sessions by agent
    processes: str  # the adapter: linux, portable
    watched: int
    polled: int  # of those, how many must be polled because no descriptor was left
    polled_directories: (
        int  # looked at once a second, because no inotify watch was left, or there is no inotify
    )
    store: dict[str, Any]
    warnings: list[str]
    unknown_events: dict[str, int]
    rebooted: int = 0  # how many a reboot ended that no person was shown yet
