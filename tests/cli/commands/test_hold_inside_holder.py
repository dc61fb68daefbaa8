"""`hold` inside an agent that has the item already: its command works under that claim, which stays."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import inside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")


def test_what_the_agent_held_before_it_holds_afterwards(daemon: Daemon, agent: Callable[..., Agent]) -> None:
    holder = agent()
    settled(holder, daemon, session_title="auth-refactor")
    assert inside(holder, daemon, "claim", "task:AUTH-12").code == 0
    before = daemon.get("/v1/claims")["claims"]
    ran = inside(holder, daemon, "hold", "task:AUTH-12", "--", "echo", "ran")
    assert (ran.code, ran.out.strip()) == (0, "ran")
    assert daemon.get("/v1/claims")["claims"] == before
