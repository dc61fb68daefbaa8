"""The journal's place, for parts of the daemon that are tried alone: it keeps what it is told, and can refuse."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from headcount.core.state.world import World
from headcount.core.values.process import BootAndNamespace


class WitnessLoop:
    def __init__(self, place: BootAndNamespace) -> None:
        self.world = World(place)
        self.counts: Counter[str] = Counter()
        self.told: list[Any] = []
        self.then: Callable[[Any], None] = lambda evidence: None  # as soon as it is stored

    def submit(self, evidence: Any) -> "asyncio.Future[None]":
        done = asyncio.get_running_loop().create_future()
        self.told.append(evidence)
        self.then(evidence)
        done.set_result(None)
        return done

    async def keep(self, evidence: Any) -> None:
        await self.submit(evidence)

    ask = keep
    put = submit
