"""An observer that raises hurts nobody: the daemon goes on, the effects of the batch start, and `status` says so."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon import altered
from tests.rig.daemon.real_daemon import Daemon, eventually

OBSERVERS = [
    "headcount.daemon.engine.broadcast:Broadcast.noticed",
    "headcount.daemon.observers.transcripts:TranscriptWatch.noticed",
    "headcount.daemon.fleet.membership:Fleet.noticed",
]


@pytest.mark.parametrize("broken", OBSERVERS)
def test_an_observer_that_raises_ends_nothing_and_the_effects_of_its_batch_start(
    tmp_path: Path, agent: Callable[..., Agent], broken: str
) -> None:
    daemon = Daemon(tmp_path / "headcount", **altered.environment(broken=broken))
    daemon.start(altered.WRAPPER)
    try:
        claude = agent()
        for _ in range(3):
            claude.hook(daemon.mailbox, "SessionStart", source="startup")
        row = daemon.session(conversation=claude.conversation)
        assert (row["pid"], row["liveness"]) == (claude.pid, "alive")
        claude.kill(9)  # told only if the effect of the first batch, watching its process, was started
        ended = eventually(lambda: daemon.sessions(conversation=claude.conversation, liveness="ended"))[0]
        assert ended["ended"]["signal"] == 9
        status = daemon.get("/v1/status")
        name = broken.partition(":")[2].partition(".")[0]
        (warning,) = [each for each in status["warnings"] if each.startswith(name)]
        assert "(ValueError)" in warning and " 1 times" not in warning
        assert daemon.log().count(f"the observer {name} failed") == 1, (
            "one line for the condition, not one per batch"
        )
    finally:
        daemon.stop()
