"""What a dead agent left behind: found by its tree and by its marks, and by nothing else."""

import os
import shlex
import signal
from typing import Any

from tests.rig.agents.callers import Errand, Request, marks
from tests.rig.agents.callers import child as child_of
from tests.rig.agents.stand_in import Agent, program
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import Make, seated
from tests.rig.leftovers.leave_processes import Left, left_by


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
        row = eventually(  # it may have been seen below the agent before its marks were read
            lambda: next(
                (row for row in there(daemon, pid=child.pid) if "CLAUDE_PID" in str(row["evidence"])), None
            )
        )
        assert (row["kind"], row["session"]) == ("process", id)
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
    return counted(daemon, "descendant_looks")


# --- never ---------------------------------------------------------------------------------------------


def test_what_only_looks_related_is_no_leftover(daemon: Daemon, agent: Make) -> None:
    """Same directory, same program, same terminal, same group, the same conversation in another variable: the naive
    ways of others would take each of them."""
    claude, other = agent(), agent()
    id = seated(daemon, claude)["id"]
    seated(daemon, other)
    with (
        left_by(other, marked=False, OLD_SESSION=claude.conversation) as bystander,
        left_by(claude, marked=True) as child,
    ):
        end(claude, daemon, id)
        eventually(lambda: there(daemon, pid=child.pid))
        assert os.readlink(f"/proc/{bystander.pid}/cwd") == os.readlink(f"/proc/{child.pid}/cwd")
        assert os.readlink(f"/proc/{bystander.pid}/exe") == os.readlink(f"/proc/{child.pid}/exe")
        assert leftovers(daemon, pid=bystander.pid) == []


def test_marks_of_another_time_are_nobodys(daemon: Daemon, agent: Make) -> None:
    """It carries the right conversation and a pid that is not its agent's, or the pid alone."""
    claude = agent()
    id = seated(daemon, claude)["id"]
    wrong = {"CLAUDE_CODE_SESSION_ID": claude.conversation, "CLAUDE_PID": str(os.getpid())}
    alone = {"CLAUDE_PID": str(claude.pid)}
    with (
        left_by(claude, marked=True) as child,
        left_by(claude, marked=False, how="double fork", **wrong) as one,
        left_by(claude, marked=False, how="double fork", **alone) as two,
    ):
        end(claude, daemon, id)
        eventually(lambda: there(daemon, pid=child.pid))
        assert not pids(leftovers(daemon)) & {one.pid, two.pid}


def test_a_process_that_came_after_the_death_is_not_the_dead_ones(daemon: Daemon, agent: Make) -> None:
    claude, later = agent(), agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude, marked=True) as child:
        end(claude, daemon, id)
        eventually(lambda: there(daemon, pid=child.pid))
        marks = {"CLAUDE_CODE_SESSION_ID": claude.conversation, "CLAUDE_PID": str(claude.pid)}
        with left_by(later, marked=False, how="double fork", **marks) as late:
            daemon.restart()
            eventually(lambda: there(daemon, pid=child.pid))
            settled(daemon)
            assert leftovers(daemon, pid=late.pid) == []


def test_a_nested_agent_and_its_children_are_nobodys_leftovers(daemon: Daemon, agent: Make) -> None:
    """A nested `claude` is the outer one's child and carries its marks; it is a session of its own."""
    claude = agent()
    id = seated(daemon, claude)["id"]
    inner = nested(claude)
    try:
        with left_by(claude, marked=True) as child:
            claude.hook(daemon.mailbox, "PreToolUse", tool_name="Bash", tool_input={"command": "x"})
            end(claude, daemon, id)
            eventually(lambda: there(daemon, pid=child.pid))
            assert not pids(leftovers(daemon, kind="process")) & set(inner)
    finally:
        close_nested(inner)


# --- over restarts -------------------------------------------------------------------------------------


def test_a_death_while_headcount_was_away_is_searched_for_at_the_next_start(
    daemon: Daemon, agent: Make
) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude, marked=True, how="setsid") as child:
        daemon.kill()
        claude.kill()
        daemon.ready()
        row = eventually(lambda: there(daemon, pid=child.pid))[0]
        assert row["session"] == id
        found = daemon.get(f"/v1/history?session={id}&type=leftover.found")["events"]
        assert [event["leftover"]["pid"] for event in found] == [child.pid]
        assert not child.has_ended()


def test_a_start_warns_once_of_each_orphan_and_ends_nobody(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude, marked=True) as child:
        end(claude, daemon, id)
        eventually(lambda: there(daemon, pid=child.pid))
        for _ in range(2):
            daemon.restart()
            settled(daemon)
        assert [row["pid"] for row in there(daemon, session=id)] == [child.pid]
        found = daemon.get(f"/v1/history?session={id}&type=leftover.found")["events"]
        assert len(found) == 1 and not child.has_ended()


def test_an_orphan_of_an_agent_that_nobody_remembers_is_listed_at_the_start(
    daemon: Daemon, agent: Make
) -> None:
    daemon.kill()
    claude = agent()
    with left_by(claude, marked=True, how="setsid") as child:
        claude.kill()
        daemon.ready()
        row = eventually(lambda: there(daemon, pid=child.pid))[0]
        assert (row["session"], row["facts"]["conversation"]) == (None, claude.conversation)


def test_one_that_ended_while_headcount_was_away_is_gone(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude, marked=True) as child:
        end(claude, daemon, id)
        eventually(lambda: there(daemon, pid=child.pid))
        daemon.kill()
        child.end()
        eventually(child.has_ended)
        daemon.ready()
        assert there(daemon, pid=child.pid) == []
        assert leftovers(daemon, pid=child.pid)[0]["gone_at"]


# --- what is told --------------------------------------------------------------------------------------


def test_a_leftover_is_called_by_its_program_and_script_and_never_by_its_arguments(
    daemon: Daemon, agent: Make
) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude, marked=True) as child:
        end(claude, daemon, id)
        row = eventually(lambda: there(daemon, pid=child.pid))[0]
        assert row["what"].endswith(" left.py") and "/" not in row["what"]
        assert row["ports"] == []


# --- claims --------------------------------------------------------------------------------------------


def test_the_next_holder_is_told_what_still_runs(daemon: Daemon, agent: Make) -> None:
    claude, heir = agent(), agent()
    id = seated(daemon, claude)["id"]
    seated(daemon, heir)
    assert claim(daemon, claude).data["granted"]
    with left_by(claude, marked=True) as child:
        end(claude, daemon, id)
        eventually(lambda: there(daemon, pid=child.pid))
        assert claim(daemon, heir).data["still_running"] == [child.pid]


def test_an_item_stays_closed_until_the_tree_is_empty(daemon: Daemon, agent: Make) -> None:
    claude, heir = agent(), agent()
    id = seated(daemon, claude)["id"]
    seated(daemon, heir)
    assert claim(daemon, claude, until_empty=True).data["granted"]
    with left_by(claude, marked=True) as child:
        end(claude, daemon, id)
        refused = claim(daemon, heir)
        assert (refused.status, refused.data["code"]) == (409, "still-running")
        child.end()
        eventually(lambda: claim(daemon, heir).data["granted"])


def test_a_program_that_holds_for_itself_is_told_that_nobody_can_search_for_what_it_leaves(
    daemon: Daemon, agent: Make
) -> None:
    claude = agent()
    seated(daemon, claude)
    refused = claim(daemon, claude, own=True, until_empty=True)
    assert (refused.status, refused.code) == (400, "not-searched-for")
    said = refused.data["error"]
    assert "own" in said["message"] and "headcount launch" in said["hint"]
    assert daemon.get("/v1/claims")["claims"] == []
    outside = daemon.call("POST", "/v1/claims", {"item": "task:X", "own": True, "until_empty": True})
    assert (outside.status, outside.data["error"]["code"]) == (400, "not-searched-for")
    assert claim(daemon, claude, own=True).data["granted"]  # by itself each of the two is granted
    assert eventually(lambda: claim(daemon, claude, until_empty=True).data["granted"])


def claim(daemon: Daemon, agent: Agent, **more: Any) -> Any:
    body = {"item": "task:X", **more}
    (answer,) = child_of(agent, Errand(agent.cwd, daemon.socket, [Request("POST", "/v1/claims", body)]))
    return answer


# --- tools of this file --------------------------------------------------------------------------------


def settled(daemon: Daemon) -> None:
    """The search of this start is over."""
    eventually(lambda: counted(daemon, "leftover_searches") > 0)


def nested(claude: Agent) -> list[int]:
    """An agent inside the agent, with the outer one's marks, and its child."""
    inner = program(claude.cwd / "nested")
    ready = claude.cwd / "nested.ready"
    words = " ".join(f"{name}={value}" for name, value in marks(claude).items())
    body = f"sleep 1000 & echo $$ $! >{ready}.new; mv {ready}.new {ready}; wait"
    line = f"echo {shlex.quote(body)} | env {words} {shlex.quote(str(inner))} -s >/dev/null 2>&1 &"
    assert claude.process.stdin is not None
    claude.process.stdin.write(line + "\n")
    claude.process.stdin.flush()
    eventually(ready.exists)
    return [int(word) for word in ready.read_text().split()]


def close_nested(pids: list[int]) -> None:
    for pid in reversed(pids):
        fd = os.pidfd_open(pid)
        signal.pidfd_send_signal(fd, signal.SIGKILL)
        os.close(fd)


def counted(daemon: Daemon, name: str) -> int:
    text = str(daemon.call("GET", "/metrics").data)
    line = next(each for each in text.splitlines() if each.startswith(f"headcount_{name}_total"))
    return int(float(line.split()[1]))
