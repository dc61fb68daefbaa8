"""The messages of notifications.

Rules of this file
  1. The rules of messages.py: fields are only ever added, absent facts are null. No address, no secret.
"""

import msgspec


class ChannelOutcome(msgspec.Struct, kw_only=True):
    channel: str  # desktop, webhook, command
    ok: bool
    because: str | None  # with ok=false: why it did not arrive


class NotifyTest(msgspec.Struct, kw_only=True):
    channels: list[ChannelOutcome]  # empty: none is set
    config: str  # the file in which they are set
    drift: str | None = None  # that file was changed since it was read
