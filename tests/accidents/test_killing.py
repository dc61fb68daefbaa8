"""Accidents K1 to K5 and K9: the wrong process was killed, the right one survived unseen. Each with the naive way."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from headcount.core.values.process import ProcessFacts
from headcount.daemon.ending.signal_process import forbidden
from headcount.system.processes.linux import LinuxProcesses
from tests.rig.agents.callers import Answer, Errand, Request, detached
from tests.rig.agents.callers import child as child_of
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import Make, seated
from tests.rig.leftovers.leave_processes import left_by


def ask(daemon: Daemon, path: str, body: dict[str, Any]) -> Answer:
    errand = Errand(daemon.home / "errands", daemon.socket, [Request("POST", path, body)])
    (answer,) = detached(errand)
    return answer


def listed(daemon: Daemon) -> set[int]:
    return {row["pid"] for row in daemon.get("/v1/leftovers")["leftovers"]}


def died(daemon: Daemon, claude: Agent, id: str) -> None:
    claude.kill()
    eventually(lambda: daemon.sessions(id=id, liveness="ended"))


def by_text(pattern: str) -> set[int]:
    """Whom a kill by text match would have hit."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if pattern.encode() in line:
            found.add(int(name))
    return found


def test_K1_two_processes_on_one_conversation_are_seen_at_once_and_neither_is_ended(
    daemon: Daemon, agent: Make
) -> None:
    one = agent()
    seated(daemon, one)
    two = agent()  # only now: who was found running is as old as its process
    two.conversation = one.conversation
    two.hook(daemon.mailbox, "SessionStart", source="resume")
    rows = eventually(
        lambda: (
            (rows := daemon.sessions(conversation=one.conversation, liveness="alive"))
            and all(row["alarms"] for row in rows)
            and len(rows) == 2
            and rows
        )
    )
    alarms = {row["pid"]: row["alarms"][0] for row in rows}
    assert f"conversation also open in {two.pid}" in alarms[one.pid]
    assert f"conversation also open in {one.pid}" in alarms[two.pid]
    pairs = daemon.get("/v1/leftovers?kind=second-writer")["leftovers"]
    assert [row["facts"]["pids"] for row in pairs if two.pid in row["facts"]["pids"]] == [[one.pid, two.pid]]
    assert one.process.poll() is None and two.process.poll() is None
    by_conversation = {row["conversation"]: row["pid"] for row in rows}
    assert len(by_conversation) == 1, "a table of one process for each conversation shows only one of them"
    died(daemon, two, next(row["id"] for row in rows if row["pid"] == two.pid))
    eventually(lambda: not daemon.session(pid=one.pid)["alarms"])


def test_K2_reaping_ends_what_one_session_left_and_not_what_looks_the_same(
    daemon: Daemon, agent: Make
) -> None:
    claude, other = agent(), agent()
    id = seated(daemon, claude)["id"]
    seated(daemon, other)
    with left_by(claude) as mine, left_by(other) as same_program:
        died(daemon, claude, id)
        eventually(lambda: mine.pid in listed(daemon))
        assert {mine.pid, same_program.pid} <= by_text("left.py"), "a text match would have hit both"
        answer = ask(daemon, "/v1/leftovers/reap", {"yes": True, "sessions": [id]})
        assert [each["pid"] for each in answer.data["results"]] == [mine.pid]
        assert mine.has_ended() and not same_program.has_ended()


def test_K3_whoever_traps_sigterm_is_reported_and_not_archived(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    claude.run("trap '' TERM; true")
    id = seated(daemon, claude)["id"]
    began = time.time()
    os.kill(claude.pid, signal.SIGTERM)  # the naive way: send it, and call the session closed
    answer = ask(daemon, f"/v1/sessions/{id}/close", {})
    assert not answer.data["closed"] and answer.data["results"][0]["outcome"] == "survived"
    row = daemon.session(id=id)
    assert (row["liveness"], row["archived_at"]) == ("alive", None) and time.time() > began
    assert ask(daemon, f"/v1/sessions/{id}/close", {"kill_after": 0.1}).data["closed"]


async def test_K4_neither_an_ancestor_of_the_daemon_nor_one_of_the_caller_is_ended() -> None:
    """Every process above this one, as the rule sees it when this one is the daemon, and when it is the caller."""
    import asyncio

    from headcount.system.processes.ancestry import ancestors

    processes = LinuxProcesses(asyncio.get_running_loop())
    try:
        above = [facts.identity for facts in ancestors(processes, os.getpid())]
        assert len(above) > 1
        for each in above:
            assert forbidden(each, above, ()) and forbidden(each, (), above)
        parent = processes.look(os.getppid())
        assert isinstance(parent, ProcessFacts)
        assert forbidden(parent.identity, (), ()) is None, "without the rule it would be ended"
    finally:
        processes.close()


def test_K5_the_children_of_a_killed_agent_are_attributed_and_listed(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with (
        left_by(claude) as one,
        left_by(claude, how="setsid") as two,
        left_by(claude, how="double fork") as three,
    ):
        left = {one.pid, two.pid, three.pid}
        died(daemon, claude, id)
        rows = eventually(
            lambda: (
                (rows := daemon.get(f"/v1/leftovers?session={id}&kind=process")["leftovers"])
                and {row["pid"] for row in rows} == left
                and rows
            )
        )
        assert all(row["memory_bytes"] > 0 and row["evidence"] for row in rows)
        parents = {int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in left}
        assert claude.pid not in parents, "by their parent, nobody would know whose they are"


def test_K9_claims_fall_by_the_death_and_not_before(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    claude.run("trap '' TERM; true")
    id = seated(daemon, claude)["id"]
    wish = Request("POST", "/v1/claims", {"item": "task:K9"})
    assert child_of(claude, Errand(claude.cwd, daemon.socket, [wish]))[0].data["granted"]
    ask(daemon, f"/v1/sessions/{id}/close", {})
    assert daemon.session(id=id)["claims"] == ["task:K9"]
    ask(daemon, f"/v1/sessions/{id}/close", {"kill_after": 0.1})
    assert daemon.session(id=id)["claims"] == []
    events = daemon.get("/v1/history?type=claim.released&type=session.ended")["events"]
    mine = [each["type"] for each in events if (each.get("session") or {}).get("id") == id]
    assert mine == ["session.ended", "claim.released"]
