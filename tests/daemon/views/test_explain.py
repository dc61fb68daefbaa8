"""What would change a belief is named by what the agent really has."""

import pytest
from msgspec.structs import replace

from headcount.core.values.report import Turn
from headcount.daemon.views.explain import explain
from tests.rig.core_values import Scene, bound, process, report


@pytest.mark.parametrize(
    ("agent", "word"),
    [
        ("claude-code", "Esc (by its registry)"),
        ("gemini", "Esc (by its transcript)"),
        ("codex", "Esc (by its transcript)"),
        ("opencode", None),
        ("unheard-of", None),
    ],
)
def test_esc_is_said_to_be_seen_by_what_the_agent_has(agent: str, word: str | None) -> None:
    scene = Scene()
    scene.hear(replace(report("A", says=Turn.PROMPTED), agent=agent, anchor=bound(process(100))))
    words = explain(scene.only(), scene.world, scene.only().last_event_at, None).would_change
    assert [each for each in words if "Esc" in each or "{" in each] == ([word] if word else [])
