"""The command that resumes: only for an id of the agent's own form, since it reaches an argv."""

import pytest

from headcount.agents.catalog import AGENTS

GOOD = "8acb4678-1111-4222-8333-0123456789ab"


def test_a_conversation_is_resumed_by_the_agents_own_command() -> None:
    assert AGENTS["claude-code"].resume(GOOD) == ("claude", "--resume", GOOD)


@pytest.mark.parametrize(
    "id", ["", "--help", "-p", "x; rm -rf ~", GOOD + "\n", GOOD.upper(), "../" + GOOD, "$(id)", "é" * 8]
)
@pytest.mark.parametrize("agent", AGENTS)
def test_no_other_text_becomes_a_command(agent: str, id: str) -> None:
    assert AGENTS[agent].resume(id) is None
