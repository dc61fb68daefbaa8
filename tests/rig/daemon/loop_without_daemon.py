"""The daemon's loop without a daemon: a world, the test's store, and no listener."""

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
    pytest.fail(f"no process should be proved again, but {process.pid} was")


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
