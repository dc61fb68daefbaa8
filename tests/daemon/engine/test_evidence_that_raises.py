"""Evidence on which our own code fails: set aside alone, in few tries, however full the batch is."""

import asyncio
from typing import Any

import pytest

from headcount.core import liveness_proofs
from headcount.daemon.engine.loop import BATCH_MOST, NotWeighed
from tests.rig.core_values import T0, report
from tests.rig.daemon.loop_without_daemon import lone_loop

TRIES_MOST = 40  # a batch of a thousand is halved ten times for each piece


@pytest.mark.parametrize("bad", [(0,), (BATCH_MOST - 1,), (0, 1), (511, 512), ()])
async def test_only_what_cannot_be_weighed_is_set_aside(
    bad: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, decide = 0, liveness_proofs.decide

    def counted(*given: Any) -> Any:
        nonlocal tries
        tries += 1
        return decide(*given)

    monkeypatch.setattr(liveness_proofs, "decide", counted)
    told = lone_loop()
    strange: Any = "a kind that nobody decides"
    answers = [
        told.submit(strange if nth in bad else report(at=T0 + nth, conversation="one"))
        for nth in range(BATCH_MOST)
    ]
    running = asyncio.create_task(told.run())
    try:
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
    finally:
        running.cancel()
    assert [nth for nth, outcome in enumerate(outcomes) if isinstance(outcome, NotWeighed)] == list(bad)
    assert len({outcome for outcome in outcomes if isinstance(outcome, str)}) == 1
    assert tries <= TRIES_MOST
