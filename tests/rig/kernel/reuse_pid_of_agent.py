"""Run as the first process of a pid namespace: a daemon, an agent, and another agent that gets its pid.

Rules of this file
  1. Every round remembers an agent, ends it while the daemon is away, gives its pid to another agent, and
     starts the daemon again.
  2. Beside the daemon's word stand the naive ones: the pid answers; pid and start are the same. For the
     second the remembered start is made equal, as it is by itself when both start within one tick.
  3. It prints one JSON object and nothing else. The test that started it judges.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.change_stored_times import change
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.naive_ways import naive


def agent_at(pid: int, directory: Path) -> Agent:
    """No other process takes pids meanwhile: the daemon, whose threads have numbers too, is stopped."""
    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
        last.write(str(pid - 1))
    made = Agent(directory)
    assert made.pid == pid, made.pid
    return made


def one_round(daemon: Daemon, directory: Path, same_tick: bool) -> dict[str, Any]:
    first = Agent(directory)
    pid = first.pid
    first.hook(daemon.mailbox, "SessionStart", source="startup")
    old = eventually(lambda: daemon.sessions(conversation=first.conversation, liveness="alive"))[0]
    started = naive.start_ticks(pid)
    daemon.kill()
    first.close()
    second = agent_at(pid, directory)
    if same_tick:
        started = naive.start_ticks(pid)
        change(daemon.home, old["id"], lambda row: row["process"].update(started=started))
    daemon.ready()
    assert started is not None
    rows = {row["id"]: row for row in daemon.sessions()}
    second.hook(daemon.mailbox, "SessionStart", source="startup")
    new = eventually(lambda: daemon.sessions(conversation=second.conversation, liveness="alive"))[0]
    answer = {
        "ours": rows[old["id"]]["liveness"],
        "away": (rows[old["id"]]["ended"] or {}).get("away"),
        "other_session": new["id"] != old["id"] and new["pid"] == pid,
        "pid": naive.is_alive_by_kill_zero(pid),
        "pid_and_start": naive.is_alive_by_pid_and_start(pid, started),
    }
    second.close()
    eventually(lambda: daemon.sessions(id=new["id"], liveness="ended"))
    return answer


def main(home: Path, rounds: int, same_tick: bool) -> list[dict[str, Any]]:
    daemon = Daemon(home / "headcount").ready()
    try:
        return [one_round(daemon, home / "agents", same_tick) for _ in range(rounds)]
    finally:
        daemon.stop()


if __name__ == "__main__":
    os.setpgid(0, 0)
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "same-tick")))
