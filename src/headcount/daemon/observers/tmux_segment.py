"""The segment: the glance, pushed to tmux when it changes, so that no status bar forks a program each second.

Rules
  1. Only when asked for (`notify.tmux_segment`), only on change, in a thread with deadlines, one push at a time.
  2. At the end it is emptied: a bar without a daemon must not show yesterday.

Not here: the characters (present/summary.py), tmux (system/tmux).
"""

import asyncio
import os
from collections import Counter
from collections.abc import Sequence

from headcount.core.state.world import World
from headcount.core.values.events import Event
from headcount.daemon.engine.call_observers import EVERY
from headcount.daemon.views.session_row import visible
from headcount.present.summary import glance
from headcount.system import tmux
from headcount.system.clock import Clock
from headcount.times import SEGMENT_AFTER


class TmuxSegment:
    wants = EVERY

    def __init__(self, clock: Clock, *, wanted: bool) -> None:
        self._clock = clock
        self._wanted = wanted
        self._shown: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._pushing: asyncio.Task[None] | None = None
        self._world: World | None = None

    def noticed(self, events: Sequence[Event], world: World) -> None:
        self._world = world
        if self._wanted and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SEGMENT_AFTER, self._due)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._pushing is not None:
            await asyncio.wait([self._pushing])
        if self._shown:
            await asyncio.to_thread(tmux.push, os.environ, "")

    def _due(self) -> None:
        self._timer = None
        if self._pushing is not None and not self._pushing.done():
            self._timer = asyncio.get_running_loop().call_later(SEGMENT_AFTER, self._due)
            return
        assert self._world is not None
        shown = visible(self._world.sessions.values(), self._clock.now(), ended=False)
        text = glance(Counter(each.activity.doing.value for each in shown))
        if text != self._shown:
            self._shown = text
            self._pushing = asyncio.create_task(asyncio.to_thread(tmux.push, os.environ, text))
