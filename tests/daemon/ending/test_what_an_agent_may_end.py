"""What an agent may end: the sessions that it launched or that run below it, what those left, and nothing else."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.callers import Answer, Errand, Request, child, detached, left_behind, marks
from tests.rig.agents.commands_inside import inside
from tests.rig.agents.stand_in import Agent, program
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import Make, seated
from tests.rig.leftovers.leave_processes import left_by
from tests.rig.terminal.tmux_servers import Server, has_ended

TICKS = os.sysconf("SC_CLK_TCK")


class Crew:
    """An agent that orchestrates, and requests that it sends."""

    def __init__(self, daemon: Daemon, make: Make, directory: Path) -> None:
        self.daemon, self.directory, self.make = daemon, directory, make
        self.boss = make()
        self.id = seated(daemon, self.boss)["id"]

    def ask(self, agent: Agent, method: str, target: str, body: Any = None) -> Answer:
        (answer,) = child(agent, Errand(self.directory, self.daemon.socket, [Request(method, target, body)]))
        return answer

    def end(self, agent: Agent, verb: str, session: str, **body: Any) -> Answer:
        return self.ask(agent, "POST", f"/v1/sessions/{session}/{verb}", body)

    def worker(self, *before: str) -> dict[str, Any]:
        """Another agent that the boss's shell starts in the background."""
        inner = program(self.boss.cwd / "nested")
        name = f"pid-{len(list(self.boss.cwd.glob('pid-*')))}"
        run = shlex.join([*before, "/bin/sh", "-c", f'echo $$ >{name}; exec {inner} -c "sleep 600; :"'])
        self.boss.run(f"{run} <&- >&- 2>&- &")
        pid = int(eventually(lambda: _text(self.boss.cwd / name)))
        eventually(lambda: Path(f"/proc/{pid}/comm").read_text().strip() == "claude")
        self.daemon.call("GET", "/v1/sessions")
        detached(Errand(self.directory, self.daemon.socket, [Request("GET", "/v1/sessions/me?explain=1")]))
        return eventually(lambda: self.daemon.sessions(pid=pid), within=40)[0]


def start_of(pid: int) -> int:
    """In ticks since boot, which is as fine as the kernel tells it."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


@pytest.fixture
def crew(daemon: Daemon, agent: Make, tmp_path: Path) -> Crew:
    return Crew(daemon, agent, tmp_path / "errands")


@pytest.mark.parametrize("verb", ["stop", "close"])
def test_an_agent_ends_a_worker_that_runs_below_it(crew: Crew, verb: str) -> None:
    worker = crew.worker()
    answer = crew.end(crew.boss, verb, worker["id"], kill_after=2)
    assert answer.status == 200, answer
    eventually(lambda: has_ended(worker["pid"]))
    assert crew.daemon.session(id=crew.id)["liveness"] == "alive"


def test_an_agent_ends_a_worker_that_was_reparented_by_the_marks_it_was_started_with(crew: Crew) -> None:
    words = [f"{name}={value}" for name, value in marks(crew.boss).items()]
    worker = crew.worker("env", *words, "setsid", "-f")
    assert worker["parent"] is None
    assert crew.end(crew.boss, "stop", worker["id"], kill_after=2).status == 200
    eventually(lambda: has_ended(worker["pid"]))


@pytest.mark.parametrize("verb", ["stop", "close"])
def test_an_agent_ends_nobody_that_it_did_not_start(crew: Crew, verb: str) -> None:
    """Not a stranger, not the agent above it, not a sibling, not itself."""
    other, sibling = crew.make(), crew.worker()
    stranger = seated(crew.daemon, other)["id"]
    inner = program(crew.boss.cwd / "nested")
    for target in (stranger, crew.id, sibling["id"]):
        errand = Errand(
            crew.directory, crew.daemon.socket, [Request("POST", f"/v1/sessions/{target}/{verb}", {})]
        )
        crew.boss.run(f"echo {shlex.quote(errand.line)} | {inner} -s")
        (answer,) = errand.answers()
        assert (answer.status, answer.code) == (403, "operator-only"), answer
    refused = crew.end(crew.boss, verb, stranger)
    assert refused.data["error"]["message"] == (
        f"You are inside agent {crew.id[:4]}, and {stranger[:4]} was not started by it."
    )
    assert refused.data["error"]["hint"] == f"Run {verb} in a terminal outside the agent."
    itself = crew.end(crew.boss, verb, crew.id)
    assert (itself.status, itself.data["error"]["message"]) == (403, "An agent does not end itself.")
    assert not any(has_ended(pid) for pid in (other.pid, crew.boss.pid, sibling["pid"]))


def test_a_reparented_child_of_the_agent_may_end_its_workers_too(crew: Crew) -> None:
    worker = crew.worker()
    request = Request("POST", f"/v1/sessions/{worker['id']}/stop", {"kill_after": 2})
    (answer,) = left_behind(crew.boss, Errand(crew.directory, crew.daemon.socket, [request]))
    assert answer.status == 200, answer


def test_after_a_clear_the_process_still_ends_its_workers_and_a_resumed_conversation_does_not(
    crew: Crew,
) -> None:
    """The process is what counts: not the conversation."""
    worker, conversation = crew.worker(), crew.boss.conversation
    crew.boss.hook(crew.daemon.mailbox, "SessionEnd", reason="clear")
    crew.boss.conversation = "after-clear"
    crew.boss.hook(crew.daemon.mailbox, "SessionStart", source="clear")
    crew.daemon.session(conversation="after-clear")
    heir = crew.make()
    heir.conversation = conversation
    heir.hook(crew.daemon.mailbox, "SessionStart", source="resume")
    eventually(lambda: crew.daemon.sessions(conversation=conversation, pid=heir.pid))
    assert crew.end(heir, "stop", worker["id"]).status == 403
    assert crew.end(crew.boss, "stop", worker["id"], kill_after=2).status == 200


def test_all_ends_no_other_process_of_the_conversation_that_the_agent_did_not_start(crew: Crew) -> None:
    """An agent that registers its own child under another's conversation gets no right over that other."""
    victim = crew.make()
    seated(crew.daemon, victim)
    worker = crew.worker()
    bait = {"agent": "claude-code", "conversation": victim.conversation, "pid": worker["pid"], "anyway": True}
    registered = crew.ask(crew.boss, "POST", "/v1/sessions/register", bait)
    assert registered.status == 201, registered
    answer = crew.end(crew.boss, "close", registered.data["session"], all=True, kill_after=2)
    assert (answer.status, answer.code) == (403, "operator-only"), answer
    assert not has_ended(victim.pid)
    assert crew.end(crew.boss, "close", registered.data["session"], close_window=True).status == 403


def test_an_agent_reaps_what_its_workers_left_and_nothing_else(crew: Crew) -> None:
    stranger = crew.make()
    seated(crew.daemon, stranger)
    with left_by(stranger) as theirs:
        stranger.kill()
        eventually(lambda: left(crew.daemon, theirs.pid))
        dry = crew.ask(crew.boss, "POST", "/v1/leftovers/reap", {})
        assert (dry.status, dry.data["results"], dry.data["left_alone"]) == (200, [], [])
        named = crew.ask(crew.boss, "POST", "/v1/leftovers/reap", {"pids": [theirs.pid], "yes": True})
        assert (named.status, named.code) == (403, "operator-only"), named
        worker = crew.worker()
        assert crew.end(crew.boss, "stop", worker["id"]).status == 200
        (own,) = eventually(lambda: left(crew.daemon, session=worker["id"]))
        reaped = crew.ask(crew.boss, "POST", "/v1/leftovers/reap", {"yes": True})
        assert [each["pid"] for each in reaped.data["results"]] == [own["pid"]], reaped
        eventually(lambda: has_ended(own["pid"]))
        assert not theirs.has_ended()


def left(daemon: Daemon, pid: int | None = None, session: str | None = None) -> list[dict[str, Any]]:
    rows = daemon.get("/v1/leftovers")["leftovers"]
    return [
        each
        for each in rows
        if each["kind"] == "process" and (each["pid"] == pid or each["session"] == session)
    ]


def test_what_an_agents_background_service_runs_is_not_its_workers(crew: Crew) -> None:
    """The parts is the child of whichever session happened to start it, and serves all of them."""
    inner, place = program(crew.boss.cwd / "nested"), crew.boss.cwd / "service"
    place.mkdir()
    (place / "daemon").write_text(f"/bin/sh -c 'echo $$ >pid; exec {inner} -c \"sleep 60; :\"'; :\n")
    crew.boss.run(f"cd {place} && {inner} daemon <&- >&- 2>&- & true")
    pid = int(eventually(lambda: _text(place / "pid")))
    eventually(lambda: Path(f"/proc/{pid}/comm").read_text().strip() == "claude")
    row = eventually(lambda: crew.daemon.sessions(pid=pid), within=40)[0]
    try:
        assert crew.end(crew.boss, "stop", row["id"]).status == 403
    finally:
        request = Request("POST", f"/v1/sessions/{row['id']}/stop", {"kill_after": 2})
        (ended,) = detached(Errand(crew.directory, crew.daemon.socket, [request]))
    assert ended.status == 200


def launched(daemon: Daemon, boss: Agent, tmux: Server, bin: Path, session: str = "work") -> dict[str, Any]:
    """`headcount launch --tmux` run by the agent's shell."""
    program(bin)
    env = {**daemon.env, "TMUX": f"{tmux.socket},{tmux.pid},0", "PATH": f"{bin}:{daemon.env['PATH']}"}
    words = ["launch", "--tmux", session, "--json", "--", "claude"]
    settings = [f"{name}={value}" for name, value in env.items()]
    line = shlex.join(["env", *settings, sys.executable, "-m", "headcount", *words])
    out = boss.cwd / "launched.json"
    assert boss.run(f"{line} >{out} 2>&1; echo $?") == "0", out.read_text()
    told: dict[str, Any] = json.loads(out.read_text())
    return dict(told["session"])


def test_an_agent_ends_what_it_launched_in_a_tmux_window_also_after_a_restart(
    crew: Crew, server: Any, tmp_path: Path
) -> None:
    tmux = server()
    worker = launched(crew.daemon, crew.boss, tmux, tmp_path / "bin")
    environ = Path(f"/proc/{worker['pid']}/environ").read_bytes()
    assert b"LAUNCHED" not in environ and worker["parent"] is None
    other = crew.make()
    seated(crew.daemon, other)
    crew.daemon.restart()
    assert crew.end(other, "stop", worker["id"]).status == 403
    said = inside(crew.boss, crew.daemon, "stop", worker["id"], "--kill-after", "2")
    assert said.code == 0, said
    eventually(lambda: has_ended(worker["pid"]))


def test_a_window_that_a_person_opens_later_in_the_session_of_an_agent_is_not_that_agents(
    crew: Crew, server: Any, tmp_path: Path
) -> None:
    """tmux gives the environment of a new session to all its later windows."""
    tmux = server()
    launched(crew.daemon, crew.boss, tmux, tmp_path / "bin", session="fresh")
    agent = str(tmp_path / "bin" / "claude")
    tmux.run("new-window", "-d", "-t", "fresh:", sys.executable, "-m", "headcount", "launch", "--", agent)
    ids = eventually(lambda: _in_windows(crew.daemon, "fresh", 2))
    codes = sorted(inside(crew.boss, crew.daemon, "stop", id, "--kill-after", "2").code for id in ids)
    assert codes == [0, 3]


def _in_windows(daemon: Daemon, session: str, wanted: int) -> list[str]:
    found = [
        row["id"]
        for row in daemon.sessions(liveness="alive")
        if (row["where"] or "").startswith(f"{session}:")
    ]
    return found if len(found) == wanted else []


def endings(daemon: Daemon, id: str) -> list[dict[str, Any]]:
    events = daemon.get(f"/v1/history?session={id}&limit=1000")["events"]
    return [each["facts"] for each in events if each["type"].startswith("ending.")]


def test_the_audit_of_an_ending_names_the_callers_processes_and_terminal(crew: Crew, server: Any) -> None:
    """A person's window and one that an agent opened look the same to the rule; the record tells them apart."""
    tmux, victim = server(), crew.make()
    row = seated(crew.daemon, victim)
    line = shlex.join([sys.executable, "-m", "headcount", "stop", row["id"], "--yes", "--kill-after", "2"])
    settings = shlex.join([f"{name}={value}" for name, value in crew.daemon.env.items()])
    pane = tmux.window("/bin/sh", "-c", f"env {settings} {line}; : secret-argument; sleep 600")
    pid = tmux.panes()[pane]
    eventually(lambda: has_ended(victim.pid))
    found = eventually(lambda: (found := endings(crew.daemon, row["id"])) and len(found) > 1 and found)
    for facts in found:
        caller = facts["caller"]
        assert pid in [each["pid"] for each in caller["chain"]]
        assert tmux.pid in [each["pid"] for each in caller["chain"]]
        assert caller["terminal"].startswith("pts/")
        assert "secret-argument" not in json.dumps(facts)
    log = subprocess.run(
        [sys.executable, "-m", "headcount", "log", row["id"]], env=crew.daemon.env, capture_output=True, text=True
    ).stdout  # fmt: skip
    assert f"by operator on {found[0]['caller']['terminal']}: " in log
    assert f"sh {pid}" in log


def test_the_audit_of_an_agents_ending_names_the_agent(crew: Crew) -> None:
    worker = crew.worker()
    assert crew.end(crew.boss, "stop", worker["id"], kill_after=2).status == 200
    facts = endings(crew.daemon, worker["id"])[0]
    assert facts["by"] == crew.id
    assert crew.boss.pid in [each["pid"] for each in facts["caller"]["chain"]]
    assert facts["caller"]["chain"][0]["program"] == os.path.basename(os.path.realpath(sys.executable))[:15]


def test_a_process_that_resumed_a_conversation_inherits_nothing_by_marks_without_a_pid(crew: Crew) -> None:
    """Some agents' marks name the conversation alone. Whoever is younger than the carrier did not start it."""
    mark, go = f"CLAUDE_CODE_SESSION_ID={crew.boss.conversation}", crew.boss.cwd / "go"
    worker = crew.worker("env", mark, "setsid", "-f")
    asked = [Request("GET", "/v1/sessions/me?explain=1"), Request("POST", "/v1/claims", {"item": "task:X"})]
    errand = Errand(crew.directory, crew.daemon.socket, asked)
    waiting = f"echo $$ >carrier; while [ ! -e {go} ]; do sleep 0.05; done; exec {errand.line}"
    crew.boss.run(f"env {mark} setsid -f /bin/sh -c {shlex.quote(waiting)} <&- >&- 2>&-")
    carrier = int(eventually(lambda: _text(crew.boss.cwd / "carrier")))
    eventually(lambda: int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS) > start_of(carrier) + 1)
    heir = crew.make()
    heir.conversation = crew.boss.conversation
    crew.boss.kill()
    crew.daemon.session(id=crew.id, liveness="ended")
    heir.hook(crew.daemon.mailbox, "SessionStart", source="resume")
    eventually(lambda: crew.daemon.sessions(pid=heir.pid, conversation=heir.conversation))
    assert crew.end(heir, "stop", worker["id"]).status == 403
    go.touch()
    me, claim = errand.answers()
    assert (me.data["kind"], claim.status) == ("nobody", 403), me
    (ended,) = detached(
        Errand(
            crew.directory,
            crew.daemon.socket,
            [Request("POST", f"/v1/sessions/{worker['id']}/stop", {"kill_after": 2})],
        )
    )
    assert ended.status == 200
