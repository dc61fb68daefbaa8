"""Forks: the branches of a conversation that has two writers, read when either of them did something.

Rules
  1. Only for conversations with a second writer, only on change, only the tail, only in a thread.
  2. What is read becomes a fact of that leftover; nothing of the text is kept.

Not here: what a transcript's lines are (agents/), that there are two writers (core/leftovers/conversation_open_twice.py).
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from headcount.agents.interface import Agent
from headcount.core.leftovers.conversation_open_twice import writers
from headcount.core.state.world import World
from headcount.core.values.events import Event
from headcount.core.values.leftover import Find, Left, Leftover, LeftoverId, LeftoverKind
from headcount.daemon.engine.call_observers import EVERY, Part
from headcount.daemon.engine.loop import Loop
from headcount.system.clock import Clock
from headcount.times import GLIMPSE_AFTER

log = logging.getLogger("headcount.forks")


class TranscriptForks(Part):
    wants = EVERY

    def __init__(self, agents: Mapping[str, Agent], loop: Loop, clock: Clock) -> None:
        self._agents = agents
        self._loop = loop
        self._clock = clock
        self._due: dict[LeftoverId, asyncio.TimerHandle] = {}
        self._reading: set[asyncio.Task[None]] = set()

    def noticed(self, events: Sequence[Event], world: World) -> None:
        pairs = [each for each in world.remains.there() if each.kind is LeftoverKind.SECOND_WRITER]
        if not pairs:
            return
        touched = {event.session for event in events}
        for leftover in pairs:
            if touched.intersection(writers(leftover)):
                self._want(leftover.id)

    def close(self) -> None:
        for timer in self._due.values():
            timer.cancel()
        for task in self._reading:
            task.cancel()

    def _want(self, id: LeftoverId) -> None:
        if id not in self._due:
            self._due[id] = asyncio.get_running_loop().call_later(GLIMPSE_AFTER, self._start, id)

    def _start(self, id: LeftoverId) -> None:
        self._due.pop(id, None)
        leftover = self._loop.world.remains.rows.get(id)
        if leftover is not None and leftover.is_there:
            task = asyncio.create_task(self._look(leftover))
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def _look(self, leftover: Leftover) -> None:
        world = self._loop.world
        both = [world.sessions[id] for id in writers(leftover) if id in world.sessions]
        if len(both) < 2:
            return
        facts: dict[str, object] = {"heard_last": max(both, key=lambda each: each.last_event_at).id}
        transcript = next((each.transcript for each in both if each.transcript), None)
        conversation = both[0].conversation
        if transcript is not None and conversation is not None:
            try:
                read = self._agents[both[0].agent].branches
                facts["branches"] = await asyncio.to_thread(read, Path(transcript), conversation)
            except Exception:
                log.exception("a transcript's branches could not be read")
        if any(leftover.facts.get(name) != value for name, value in facts.items()):
            find = Find(leftover.kind, both[0].id, leftover.what, leftover.evidence, leftover.process, facts)
            self._loop.put(Left(leftover.session, (find,), self._clock.now()))
