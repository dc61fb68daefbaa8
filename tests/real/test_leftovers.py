"""What the real CLI leaves when it is killed, and two of it on one conversation."""

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

from headcount.present.time_text import parse
from tests.rig.agents.callers import Errand, Request, detached
from tests.rig.daemon.real_daemon import eventually
from tests.rig.real_agents.cli_with_daemon import Stage, note, processes_of

SERVING = {"command": "sh -c 'sleep 600; true'", "run_in_background": True, "description": "serving"}
STUBBORN = "sh -c 'trap : USR1; trap \"\" TERM; sleep 600; true'"


def marked(scene: Stage, pid: int) -> set[int]:
    """All live processes with that pid in their environment: naive, but exact in this isolated HOME."""
    found = set()
    for each in processes_of(scene.claude):
        try:
            environment = Path(f"/proc/{each}/environ").read_bytes().split(b"\0")
            ended = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            continue
        if f"CLAUDE_PID={pid}".encode() in environment and not ended:
            found.add(each)
    return found


def trapped(pids: set[int]) -> set[int]:
    """Of these, who ignores SIGTERM by now: a shell that was only just started has not come to its trap."""
    found = set()
    for each in pids:
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{each}/status").read_text()
            ignored = int(status.partition("SigIgn:")[2].split()[0], 16)
            if ignored >> (signal.SIGTERM - 1) & 1:
                found.add(each)
    return found


def listed(scene: Stage, id: str) -> set[int]:
    rows = scene.daemon.get(f"/v1/leftovers?session={id}&kind=process")["leftovers"]
    return {row["pid"] for row in rows}


def reap(scene: Stage, **wish: Any) -> dict[int, str]:
    request = Request("POST", "/v1/leftovers/reap", {"yes": True, **wish})
    (answer,) = detached(Errand(scene.daemon.home / "errands", scene.daemon.socket, [request]))
    assert answer.status == 200, answer
    return {each["pid"]: each["outcome"] for each in answer.data["results"]}


def test_what_a_killed_cli_leaves_is_attributed_and_reaped_and_nothing_else_is(hooked: Stage) -> None:
    bystander, _ = hooked.open()
    tui, row = hooked.open()
    try:
        hooked.ask(tui, {"use": ["Bash", SERVING]}, {"bash": STUBBORN}, {"say": "finished"})
        hooked.settles(tui.pid, activity="working")
        eventually(lambda: trapped(marked(hooked, tui.pid)))
        left = eventually(lambda: len(marked(hooked, tui.pid)) >= 4 and marked(hooked, tui.pid))
        os.kill(tui.pid, signal.SIGKILL)
        began = time.time()
        eventually(lambda: listed(hooked, row["id"]) >= left)
        note("SIGKILL: all it left attributed after", time.time() - began)
        assert listed(hooked, row["id"]) == marked(hooked, tui.pid)
        ended = reap(hooked, sessions=[row["id"]])
        assert set(ended) >= left and not set(ended) & {bystander.pid}
        survivors = {pid for pid, outcome in ended.items() if outcome == "survived"}
        assert survivors and survivors <= marked(hooked, tui.pid), "it trapped SIGTERM"
        again = reap(hooked, sessions=[row["id"]], kill_after=0.2)
        assert survivors <= set(again) and not marked(hooked, tui.pid)
        assert bystander.is_running
    finally:
        tui.close()
        bystander.close()


def test_two_of_one_conversation_are_an_alarm_and_their_branches_are_named(hooked: Stage) -> None:
    first, row = hooked.open()
    second = None
    try:
        hooked.turn(first, {"say": "one"})
        began = time.time()
        second = hooked.claude.open_tui("--resume", row["conversation"])
        both = eventually(
            lambda: [each for each in hooked.rows(conversation=row["conversation"]) if each["alarms"]]
        )
        note("second --resume: alarm after its terminal was opened", time.time() - began)
        both = eventually(
            lambda: (
                (rows := hooked.rows(conversation=row["conversation"], liveness="alive"))
                and all(each["alarms"] for each in rows)
                and len(rows) == 2
                and rows
            )
        )
        assert {each["pid"] for each in both} == {first.pid, second.pid}
        told = hooked.daemon.get(f"/v1/history?session={both[1]['id']}")["events"]
        moments = {each["type"]: parse(each["at"]) for each in reversed(told)}
        note(
            "second --resume: alarm after it was first heard of",
            moments["alarm.raised"] - moments["session.started"],
        )
        assert f"conversation also open in {second.pid}" in both[0]["alarms"][0]
        hooked.turn(second, {"say": "two"})
        hooked.turn(first, {"say": "three"})
        leftover = eventually(
            lambda: next(
                (each for each in pairs(hooked) if len(each["facts"].get("branches", ())) >= 2), None
            )
        )
        assert leftover["facts"]["older"] == row["id"]
        assert first.is_running and second.is_running
        second.close()
        eventually(lambda: not hooked.current(first.pid)["alarms"])
    finally:
        first.close()
        if second is not None and second.is_running:
            second.close()


def pairs(scene: Stage) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = scene.daemon.get("/v1/leftovers?kind=second-writer")["leftovers"]
    return rows
