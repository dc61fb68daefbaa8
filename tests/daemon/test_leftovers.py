"""What a dead agent left behind: found by its tree and by its marks, and by nothing else."""

from typing import Any

from tests.rig.agent import Agent
from tests.rig.daemon import Daemon, eventually
from tests.rig.left import Left, left_by
from tests.rig.scenes import Make, seated


def leftovers(daemon: Daemon, **wanted: Any) -> list[dict[str, Any]]:
    rows = daemon.get("/v1/leftovers?all=1")["leftovers"]
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def there(daemon: Daemon, **wanted: Any) -> list[dict[str, Any]]:
    return leftovers(daemon, gone_at=None, **wanted)


def pids(rows: list[dict[str, Any]]) -> set[int]:
    return {row["pid"] for row in rows}


def end(agent: Agent, daemon: Daemon, id: str) -> None:
    agent.kill()
    eventually(lambda: daemon.sessions(id=id, liveness="ended"))


def test_a_process_with_the_marks_of_a_dead_agent_is_its_leftover(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude, marked=True) as child:
        end(claude, daemon, id)
        row = eventually(lambda: there(daemon, pid=child.pid))[0]
        assert (row["kind"], row["session"]) == ("process", id)
        assert any("CLAUDE_PID" in each for each in row["evidence"])
        assert row["memory_bytes"] > 0 and row["age_s"] >= 0
        child.end()
        eventually(lambda: leftovers(daemon, pid=child.pid)[0]["gone_at"])


def test_a_child_that_was_seen_below_the_agent_is_its_leftover_without_any_mark(
    daemon: Daemon, agent: Make
) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude, marked=False) as child:
        eventually(lambda: seen_below(daemon, claude, child))
        end(claude, daemon, id)
        row = eventually(lambda: there(daemon, pid=child.pid))[0]
        assert (row["session"], row["evidence"][0][:11]) == (id, "child seen ")


def seen_below(daemon: Daemon, claude: Agent, child: Left) -> bool:
    """A tool's hook makes the daemon look; how often it looked is counted."""
    before = looks(daemon)
    claude.hook(daemon.mailbox, "PreToolUse", tool_name="Bash", tool_input={"command": "x"})
    eventually(lambda: looks(daemon) >= before + 1)
    return True


def looks(daemon: Daemon) -> int:
    text = daemon.call("GET", "/metrics").data
    line = next(
        each for each in str(text).splitlines() if each.startswith("headcount_descendant_looks_total")
    )
    return int(float(line.split()[1]))
