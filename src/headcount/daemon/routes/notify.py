"""Notifications, tried out: one notice by every channel, and what came of each."""

from headcount.daemon.api.route import Call
from headcount.wire.daemon import ChannelOutcome, NotifyTest


async def try_channels(call: Call) -> NotifyTest:
    found = await call.service.notifier.test()
    return NotifyTest(
        channels=[ChannelOutcome(channel=name, ok=why is None, because=why) for name, why in found],
        config=call.service.places.config,
        drift=call.service.settings_drift(),
    )
