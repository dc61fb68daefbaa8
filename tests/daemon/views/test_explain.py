"""What `explain` says: what would change a belief, and the stable code of each reason."""

import pytest
from msgspec.structs import replace

from headcount.core.values.report import Anchor, Turn
from headcount.core.values.verdict import Proof, Verdict, alive, dead, unknown
from headcount.daemon.views.explain import explain
from tests.rig.core_values import T0, Scene, bound, death, process, record, report


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


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (alive("watched by the kernel"), "alive"),
        (dead(Proof.REPLACED, "its pid belongs to another process"), "replaced"),
        (unknown("it lives in another pid namespace", "other-namespace"), "other-namespace"),
        (unknown("not permitted to look"), "unknown"),
    ],
)
def test_the_code_of_liveness_is_the_kernels_reason(verdict: Verdict, code: str) -> None:
    scene = Scene()
    scene.hear(report("A", says=Turn.ASKED, anchor=bound(process())))
    told = explain(scene.only(), scene.world, T0, verdict)
    assert (told.liveness.code, told.liveness.evidence[0].code) == (code, code)
    assert (told.activity.code, told.binding.code) == ("turn-asked", "bound")


def test_the_codes_of_an_ended_session_and_of_one_without_a_process() -> None:
    scene = Scene()
    scene.hear(record(process(), T0 + 1, status="busy"))
    assert explain(scene.only(), scene.world, T0, None).activity.code == "status-busy"
    scene.hear(death(process(), T0 + 2, signal=9))
    assert explain(scene.only(), scene.world, T0, None).liveness.code == "killed"
    other = Scene()
    refused = Anchor(by="header", why="pid 1 is never an agent", code="never-an-agent")
    other.hear(report("A", anchor=refused))
    told = explain(other.only(), other.world, T0, None)
    assert (told.liveness.code, told.activity.code) == ("no-process", "turn-tool")
    assert (told.binding.code, told.binding.evidence[0].code) == ("never-an-agent", "never-an-agent")
