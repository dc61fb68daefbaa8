"""The daemon's loop without a daemon: a world, a store of the test's, and nobody who listens."""

from collections.abc import Callable
from typing import Any

import pytest

from headcount.core.state.world import World
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.verdict import Verdict
from headcount.daemon.engine.loop import Loop
from headcount.system.clock import SystemClock
from tests.rig.core_values import HERE


class Nothing:
    """A store that takes everything and keeps nothing."""

    async def commit(self, *_: object) -> None:
        return


def nobody_is_asked(process: ProcessIdentity) -> Verdict:
    pytest.fail(f"it turns on nobody, and {process.pid} was asked")


def lone_loop(
    store: Any = None,
    world: World | None = None,
    prove: Callable[[ProcessIdentity], Verdict] = nobody_is_asked,
) -> Loop:
    return Loop(
        World(HERE) if world is None else world,
        Nothing() if store is None else store,
        SystemClock(),
        start_effects=lambda effects: None,
        tell=lambda events, world: None,
        prove=prove,
    )
