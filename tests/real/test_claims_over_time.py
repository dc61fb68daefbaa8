"""A claim of the real CLI stays through `/clear` and a compaction, for its holder is the process; and ends with it."""

import shlex

import pytest

from tests.real.test_identity_over_time import swap
from tests.rig.agents.commands_inside import command
from tests.rig.daemon.real_daemon import eventually
from tests.rig.real_agents.cli_with_daemon import Stage

pytestmark = pytest.mark.real


def claiming(scene: Stage, *words: str) -> dict[str, str]:
    """A step in which the shell tool runs headcount, in the scene's home."""
    env = {
        name: scene.daemon.env[name] for name in ("HEADCOUNT_HOME", "PYTHONPATH") if name in scene.daemon.env
    }
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in env.items())
    return {"bash": f"{settings} {shlex.join(command(*words))}"}


def held(scene: Stage) -> list[tuple[str, int, int]]:
    rows = scene.daemon.get("/v1/claims")["claims"]
    return [(row["item"], row["fence"], row["holder"]["pid"]) for row in rows]


def test_a_clear_keeps_the_claim_and_the_new_conversation_may_release_it(hooked: Stage) -> None:
    tui, _ = hooked.open()
    with tui:
        hooked.turn(tui, claiming(hooked, "claim", "task:A"), {"say": "claimed"})
        before = held(hooked)
        assert [(item, pid) for item, _, pid in before] == [("task:A", tui.pid)]
        swap(hooked, tui, "/clear")
        assert held(hooked) == before
        hooked.turn(tui, claiming(hooked, "claim", "task:A"), {"say": "again"})
        assert held(hooked) == before  # the same fence: it was its own
        hooked.turn(tui, claiming(hooked, "release", "task:A"), {"say": "released"})
        assert held(hooked) == []


def test_a_compaction_keeps_the_claim_and_the_end_of_the_process_frees_it(hooked: Stage) -> None:
    tui, _ = hooked.open()
    with tui:
        hooked.turn(tui, claiming(hooked, "claim", "task:A"), {"say": "claimed"})
        before = held(hooked)
        assert [(item, pid) for item, _, pid in before] == [("task:A", tui.pid)]
        since = hooked.feed.mark()
        tui.type("/compact")
        hooked.wait_row(since=since, pid=tui.pid, activity="working", doing="compacting")
        hooked.settles(tui.pid, doing=None)
        tui.wait_still()
        assert held(hooked) == before
    eventually(lambda: held(hooked) == [])
