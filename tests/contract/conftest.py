"""The worlds in which the ports are tried: for processes the real ones and the fake, for file events all ways."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from headcount import times
from headcount.system.files import FileEvents
from tests.rig.kernel.file_watchers import IMPLEMENTATIONS
from tests.rig.kernel.real_and_fake_processes import WORLDS, World


@pytest.fixture(params=WORLDS)
async def world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr(times, "POLL_EVERY", 0.03)
    made = WORLDS[request.param](asyncio.get_running_loop())
    yield made
    made.close()


@pytest.fixture(params=IMPLEMENTATIONS)
async def events(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[FileEvents]:
    monkeypatch.setattr(times, "POLL_EVERY", 0.02)
    made: FileEvents = request.param(asyncio.get_running_loop())
    yield made
    made.close()
