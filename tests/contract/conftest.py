"""The worlds in which the process port is tried: the real ones and the fake."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from headcount import times
from tests.rig.worlds import WORLDS, World


@pytest.fixture(params=WORLDS)
async def world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr(times, "POLL_EVERY", 0.03)
    made = WORLDS[request.param](asyncio.get_running_loop())
    yield made
    made.close()
