"""stop, close and reap: exactly those that were verified, in order, with an audit; and all that is refused."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.callers import Answer, Errand, Request, bare, detached, left_behind, marks, nested
from tests.rig.agents.callers import child as child_of
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import Make, needs_root, seated
from tests.rig.kernel.spawner import state_of
from tests.rig.leftovers.leave_processes import left_by


def ask(daemon: Daemon, path: str, body: dict[str, Any], *before: str) -> Answer:
    """As the operator: nobody's child, without marks."""
    errand = Errand(daemon.home / "errands", daemon.socket, [Request("POST", path, body)])
    (answer,) = detached(errand, *before)
    return answer


def reap(daemon: Daemon, **wish: Any) -> Answer:
    return ask(daemon, "/v1/leftovers/reap", wish)


def stop(daemon: Daemon, id: str, **wish: Any) -> Answer:
    return ask(daemon, f"/v1/sessions/{id}/stop", wish)


def close(daemon: Daemon, id: str, **wish: Any) -> Answer:
    return ask(daemon, f"/v1/sessions/{id}/close", wish)


def left(daemon: Daemon, *pids: int) -> None:
    """Those are listed."""
    eventually(lambda: set(pids) <= {row["pid"] for row in daemon.get("/v1/leftovers")["leftovers"]})


def outcomes(answer: Answer) -> dict[int, str]:
    assert answer.status == 200, answer
    return {each["pid"]: each["outcome"] for each in answer.data["results"]}


def audit(daemon: Daemon, id: str) -> list[tuple[str, dict[str, Any]]]:
    query = f"/v1/history?session={id}&type=ending.intended&type=ending.finished"
    return [(each["type"], each["facts"]) for each in daemon.get(query)["events"]]


def died(claude: Agent, daemon: Daemon, id: str) -> None:
    claude.kill()
    eventually(lambda: daemon.sessions(id=id, liveness="ended"))


# --- reap ----------------------------------------------------------------------------------------------


def test_reap_does_nothing_without_yes_and_ends_exactly_those_with_it(daemon: Daemon, agent: Make) -> None:
    claude, other = agent(), agent()
    id, other_id = seated(daemon, claude)["id"], seated(daemon, other)["id"]
    with left_by(claude) as one, left_by(claude, how="setsid") as two, left_by(other) as bystander:
        died(claude, daemon, id)
        died(other, daemon, other_id)
        left(daemon, one.pid, two.pid, bystander.pid)
        dry = reap(daemon, sessions=[id])
        assert dry.data["dry"] and outcomes(dry) == {one.pid: "would", two.pid: "would"}
        assert not one.has_ended() and not two.has_ended() and audit(daemon, id) == []
        assert outcomes(reap(daemon, sessions=[id], yes=True)) == {one.pid: "exited", two.pid: "exited"}
        assert one.has_ended() and two.has_ended() and not bystander.has_ended()
        gone = eventually(lambda: not daemon.get(f"/v1/leftovers?session={id}&kind=process")["leftovers"])
        assert gone


def test_a_dry_reap_says_what_reap_does_also_of_what_a_leftover_started_since(
    daemon: Daemon, agent: Make, tmp_path: Path
) -> None:
    claude, go = agent(), tmp_path / "go"
    id = seated(daemon, claude)["id"]
    waiting = f"while [ ! -e {go} ]; do sleep 0.05; done; sleep 60 & echo $! >{go}.pid; wait"
    marked = shlex.join(["env", *(f"{name}={value}" for name, value in marks(claude).items())])
    claude.run(f"{marked} setsid -f sh -c {shlex.quote(waiting)} </dev/null >/dev/null 2>&1")
    died(claude, daemon, id)
    eventually(lambda: daemon.get(f"/v1/leftovers?session={id}&kind=process")["leftovers"])
    go.touch()
    child = int(eventually(lambda: Path(f"{go}.pid").exists() and Path(f"{go}.pid").read_text().strip()))
    dry = eventually(lambda: (found := outcomes(reap(daemon, sessions=[id]))).get(child) and found)
    assert set(dry.values()) == {"would"}
    assert set(outcomes(reap(daemon, sessions=[id], yes=True)).values()) == {"exited"}


def test_the_intent_is_in_the_journal_before_the_outcome(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude) as child:
        died(claude, daemon, id)
        left(daemon, child.pid)
        reap(daemon, pids=[child.pid], yes=True)
        (first, intent), (second, outcome) = audit(daemon, id)
        assert (first, second) == ("ending.intended", "ending.finished")
        assert (intent["pid"], intent["verb"], intent["by"]) == (child.pid, "reap", "operator")
        assert outcome["outcome"] == "exited" and "because" in outcome


def test_a_trapped_sigterm_is_reported_and_killed_only_when_asked(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude, traps=("SIGTERM",)) as stubborn:
        died(claude, daemon, id)
        left(daemon, stubborn.pid)
        assert outcomes(reap(daemon, pids=[stubborn.pid], yes=True)) == {stubborn.pid: "survived"}
        assert not stubborn.has_ended()
        assert outcomes(reap(daemon, pids=[stubborn.pid], yes=True, kill_after=0.2)) == {
            stubborn.pid: "killed"
        }
        assert stubborn.has_ended()


def test_a_stopped_process_gets_its_sigterm(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude) as stopped:
        died(claude, daemon, id)
        left(daemon, stopped.pid)
        signal.pidfd_send_signal(stopped.pidfd, signal.SIGSTOP)
        eventually(lambda: state_of(stopped.pid) == "T")
        assert outcomes(reap(daemon, pids=[stopped.pid], yes=True)) == {stopped.pid: "exited"}


def test_what_is_no_leftover_cannot_be_reaped(daemon: Daemon, agent: Make) -> None:
    bystander = agent()
    answer = reap(daemon, pids=[bystander.pid], yes=True)
    assert (answer.status, answer.code) == (404, "no-such-leftover")
    assert bystander.process.poll() is None


# --- stop ----------------------------------------------------------------------------------------------


def test_stop_ends_the_agent_and_nothing_else(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude) as child:
        answer = stop(daemon, id)
        assert outcomes(answer) == {claude.pid: "exited"} and answer.data["ended"]
        assert daemon.session(id=id)["liveness"] == "ended"
        assert not child.has_ended()
        left(daemon, child.pid)


def test_stop_of_an_ended_session_says_so(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    died(claude, daemon, id)
    answer = stop(daemon, id)
    assert (answer.status, answer.code) == (410, "ended")


def trapping(agent: Make) -> Agent:
    claude = agent()
    claude.run("trap '' TERM; true")
    return claude


def test_an_agent_that_traps_sigterm_survives_keeps_its_claims_and_is_not_closed(
    daemon: Daemon, agent: Make
) -> None:
    claude = trapping(agent)
    id = seated(daemon, claude)["id"]
    errand = Errand(claude.cwd, daemon.socket, [Request("POST", "/v1/claims", {"item": "task:X"})])
    assert child_of(claude, errand)[0].data["granted"]
    with left_by(claude) as child:
        answer = close(daemon, id)
        assert not answer.data["closed"] and outcomes(answer) == {claude.pid: "survived"}
        row = daemon.session(id=id)
        assert (row["liveness"], row["claims"], row["archived_at"]) == ("alive", ["task:X"], None)
        assert not child.has_ended(), "its descendants are ended after it, never before"
        answer = close(daemon, id, kill_after=0.2)
        assert answer.data["closed"] and outcomes(answer)[claude.pid] == "killed"
        assert outcomes(answer)[child.pid] == "killed", "it has the trap from its agent"
        row = daemon.session(id=id)
        assert (row["liveness"], row["claims"]) == ("ended", []) and row["archived_at"]


def test_close_ends_another_process_of_the_conversation_only_with_all(daemon: Daemon, agent: Make) -> None:
    one, two = agent(), agent()
    two.conversation = one.conversation
    first = seated(daemon, one)["id"]
    two.hook(daemon.mailbox, "SessionStart", source="resume")
    second = eventually(lambda: daemon.sessions(pid=two.pid, liveness="alive"))[0]["id"]
    answer = close(daemon, first)
    assert answer.data["closed"] and answer.data["others"] == [two.pid]
    assert two.process.poll() is None and daemon.session(id=second)["liveness"] == "alive"


# --- what is refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize("caller", ["child", "re-parented", "nested"])
@pytest.mark.parametrize("verb", ["stop", "close"])
def test_an_agent_ends_nobody_that_it_did_not_start(
    daemon: Daemon, agent: Make, caller: str, verb: str
) -> None:
    claude, victim = agent(), agent()
    seated(daemon, claude)
    id = seated(daemon, victim)["id"]
    errand = Errand(claude.cwd, daemon.socket, [Request("POST", f"/v1/sessions/{id}/{verb}", {})])
    run = {"child": child_of, "re-parented": left_behind, "nested": nested}[caller]
    (answer,) = run(claude, errand)
    assert (answer.status, answer.code) == (403, "operator-only")
    assert f"{id[:4]} was not started by it" in answer.data["error"]["message"]
    assert victim.process.poll() is None


def test_whoever_is_above_the_caller_is_never_ended(daemon: Daemon, tmp_path: Path) -> None:
    """The operator's shell is below a registered process: `stop` of that one is refused."""
    script = tmp_path / "above.py"
    script.write_text(ABOVE)
    done = subprocess.run(
        ["setsid", "-w", sys.executable, "-I", "-S", str(script), str(daemon.socket)],
        env=bare(), capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["error"]["code"] == "operator-only", "below a session nobody is the operator"


ABOVE = """
import http.client, json, os, socket, subprocess, sys
class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(sys.argv[1])
def call(path, body):
    link = Unix("localhost")
    link.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    return json.loads(link.getresponse().read())
if os.fork() == 0:
    made = call("/v1/sessions/register", {"agent": "x", "pid": os.getppid()})
    print(json.dumps(call("/v1/sessions/%s/stop" % made["session"], {})), flush=True)
    os._exit(0)
_, status = os.wait()
sys.exit(status)
"""


@needs_root
def test_another_users_process_is_never_ended(daemon: Daemon, agent: Make) -> None:
    """It became another user's after it was found; the handle's own look decides."""
    claude = agent()
    id = seated(daemon, claude)["id"]
    with left_by(claude) as child:
        died(claude, daemon, id)
        left(daemon, child.pid)
        child.become_nobody()
        assert outcomes(reap(daemon, pids=[child.pid], yes=True)) == {child.pid: "refused"}
        assert not child.has_ended()


@pytest.mark.parametrize("how", ["portable", "without pidfd"])
def test_where_a_process_cannot_be_pinned_nothing_is_signalled(tmp_path: Path, agent: Make, how: str) -> None:
    env = {"HEADCOUNT_PROCESSES": "portable"} if how == "portable" else {"HEADCOUNT_WITHOUT": "pidfd"}
    with Daemon(tmp_path / "weak", **env) as daemon:
        claude = agent()
        id = seated(daemon, claude)["id"]
        answer = stop(daemon, id)
        assert (answer.status, answer.code) == (409, "not-ended")
        assert claude.process.poll() is None and audit(daemon, id) == []


def test_what_cannot_be_written_down_is_not_done(tmp_path: Path, agent: Make) -> None:
    """The audit comes first: with a full store nobody is signalled."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(NO_AUDIT)
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    with Daemon(tmp_path / "full", PYTHONPATH=os.pathsep.join(paths)) as daemon:
        claude = agent()
        id = seated(daemon, claude)["id"]
        answer = stop(daemon, id)
        assert (answer.status, answer.code) == (503, "not-stored")
        assert claude.process.poll() is None


NO_AUDIT = """
from headcount.core.values.events import EventType
from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
right = SqliteStore.commit
async def commit(self, events, *rest):
    if any(event.type is EventType.ENDING_INTENDED for event in events):
        raise StoreFault("full", "the disk is full")
    await right(self, events, *rest)
SqliteStore.commit = commit
"""


def test_the_first_process_the_daemon_and_its_ancestors_are_forbidden_by_the_rule_itself() -> None:
    from headcount.daemon.ending.signal_process import forbidden
    from tests.rig.core_values import process

    ours, callers = [process(50), process(40)], [process(60), process(61)]
    assert forbidden(process(1), ours, callers)
    assert forbidden(process(os.getpid()), ours, callers)
    assert forbidden(process(40), ours, callers) == "headcount runs below it"
    assert forbidden(process(61), ours, callers) == "the caller is it, or runs below it"
    assert forbidden(process(70), ours, callers) is None
    doubtful = process(40).__class__("boot-1", process(40).namespace, 40)
    assert forbidden(doubtful, ours, callers), "doubt is a refusal"
