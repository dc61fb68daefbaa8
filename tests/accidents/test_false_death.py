"""Accidents D1 to D10: the living that were called dead. Each with the naive way that did it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.rig.daemon import altered
from tests.rig.daemon.change_stored_times import make_older
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import AS_NOBODY, NOBODY, Make, needs_root, seated
from tests.rig.naive_ways import naive
from tests.rig.network.raw_requests import Orphan, connect, hook

DAY = 86_400.0
# May read the code and the home wherever they are; may not signal or look into others' processes.
AS_READING_NOBODY = (*AS_NOBODY, "--inh-caps=+dac_override", "--ambient-caps=+dac_override")


def restarted_later(daemon: Daemon, id: str, seconds: float) -> dict[str, Any]:
    """The same session after that much time in which nothing was heard, seen by a new daemon."""
    daemon.stop()
    make_older(daemon.home, id, seconds)
    daemon.ready()
    return daemon.session(id=id)


def test_D1_silence_at_the_prompt_does_not_end_a_session(tmp_path: Path, agent: Make) -> None:
    """Time is made to go by so fast that a session without a process is lost while one with one is not."""
    wrapped = Daemon(tmp_path / "headcount", **altered.environment(LOST_AFTER=0.3))
    wrapped.start(altered.WRAPPER)
    try:
        silent = agent()
        seated(wrapped, silent, "Stop")
        with Orphan() as nobody:
            nobody.send(wrapped.socket, hook(b'{"session_id": "nobody", "hook_event_name": "Stop"}'))
        eventually(lambda: wrapped.sessions(conversation="nobody", liveness="lost"))
        time.sleep(0.7)  # longer than twice the limit: time itself is what is tested
        assert wrapped.session(conversation=silent.conversation)["liveness"] == "alive"
        assert naive.evicted_by_silence(time.time() - 0.7, time.time(), limit=0.3)
    finally:
        wrapped.stop()


def test_D1_weeks_of_silence_do_not_end_a_session(daemon: Daemon, agent: Make) -> None:
    silent = agent()
    id = seated(daemon, silent, "Stop")["id"]
    row = restarted_later(daemon, id, 40 * DAY)
    assert (row["liveness"], row["pid"]) == ("alive", silent.pid)
    assert naive.evicted_by_silence(time.time() - 40 * DAY, time.time())


def test_D2_one_tool_call_of_hours_is_work_and_not_death(daemon: Daemon, agent: Make) -> None:
    busy = agent()
    id = seated(daemon, busy, "PreToolUse", tool_name="Bash", tool_input={"command": "make world"})["id"]
    row = restarted_later(daemon, id, 5 * 3600)
    assert (row["liveness"], row["activity"], row["doing"]) == ("alive", "working", "Bash: make world")
    assert naive.robbed_for_a_missing_heartbeat(time.time() - 5 * 3600, time.time())


def test_D3_who_is_missing_from_a_scan_is_looked_up_by_his_process(tmp_path: Path, agent: Make) -> None:
    """The agent becomes another program in the same process: no scan recognises it any more."""
    wrapped = Daemon(tmp_path / "headcount", **altered.environment(CENSUS_EVERY=0.1, CENSUS_FRESH=0.05))
    wrapped.start(altered.WRAPPER)
    try:
        hidden = agent()
        seated(wrapped, hidden)
        assert hidden.process.stdin is not None
        hidden.process.stdin.write("exec sleep 600\n")
        hidden.process.stdin.flush()
        eventually(lambda: os.path.basename(os.readlink(f"/proc/{hidden.pid}/exe")) != "claude")
        witness = agent()  # found by a scan that was taken afterwards
        eventually(lambda: wrapped.sessions(pid=witness.pid))
        assert wrapped.session(conversation=hidden.conversation)["liveness"] == "alive"
        both = [hidden.pid, witness.pid]
        scan = [pid for pid in both if os.readlink(f"/proc/{pid}/exe").endswith("/claude")]
        assert naive.stopped_by_scan(both, scan) == {hidden.pid}
        hidden.kill()
        eventually(lambda: wrapped.sessions(conversation=hidden.conversation, liveness="ended"))
    finally:
        wrapped.stop()


def test_D3_an_end_that_was_wrong_is_undone_by_the_next_sign_of_life(daemon: Daemon) -> None:
    with Orphan() as nobody:

        def says(event: str) -> None:
            body = json.dumps({"session_id": "wrong", "hook_event_name": event, "reason": "other"}).encode()
            assert nobody.send(daemon.socket, hook(body)).status == 202

        says("UserPromptSubmit")
        says("SessionEnd")
        ended = daemon.session(conversation="wrong")
        assert (ended["liveness"], ended["ended"]["kind"]) == ("ended", "reported")
        says("PreToolUse")
        row = daemon.session(conversation="wrong")
        assert (row["id"], row["liveness"], row["ended"]) == (ended["id"], "unknown", None)
    types = [each["type"] for each in daemon.get(f"/v1/history?session={row['id']}")["events"]]
    assert types[-2:] == ["session.ended", "session.reopened"]


@needs_root
@pytest.mark.root
@pytest.mark.parametrize("adapter", ["linux", "portable"])
def test_D4_not_permitted_to_signal_is_not_dead(adapter: str, agent: Make) -> None:
    """The daemon is another user's than the process it remembers: every signal to it would be refused."""
    other = agent()
    home = Path(tempfile.mkdtemp())
    daemon = Daemon(home / "headcount", HEADCOUNT_PROCESSES=adapter).ready()
    try:
        id = seated(daemon, other)["id"]
        daemon.stop()
        for path in (daemon.home, *daemon.home.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        daemon.start(AS_READING_NOBODY)
        assert daemon.word == "ready"
        row = eventually(lambda: ask_as_nobody(daemon, f"/v1/sessions/{id}"))
        assert (row["liveness"], row["pid"]) == ("alive", other.pid)
        assert naive.is_dead_by_any_error(other.pid, *AS_NOBODY), "the naive way calls it dead"
        other.kill()
        eventually(lambda: ask_as_nobody(daemon, f"/v1/sessions/{id}")["liveness"] == "ended")
    finally:
        daemon.stop()
        shutil.rmtree(home)


def ask_as_nobody(daemon: Daemon, path: str) -> Any:
    code = (
        "import json,sys; from headcount.client.transport.connection import Connection; "
        "print(json.dumps(Connection(sys.argv[1]).call('GET', sys.argv[2]).data))"
    )
    argv = [*AS_READING_NOBODY, sys.executable, "-c", code, str(daemon.socket), path]
    return json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)


def test_D5_a_scan_that_fails_is_not_an_empty_scan(tmp_path: Path, agent: Make) -> None:
    """No descriptor is left, so that /proc cannot even be listed; nobody is ended, and it passes."""
    times = altered.environment(CENSUS_EVERY=0.1, CENSUS_FRESH=0.05, SETTLE_WITHIN=0.3)
    wrapped = Daemon(tmp_path / "headcount", **times)
    wrapped.start(("prlimit", "--nofile=64:64", *altered.WRAPPER))
    hoard = []
    try:
        living, dying = agent(), agent()
        for each in (living, dying):
            seated(wrapped, each)
        asking = connect(wrapped.socket)
        hoard = [connect(wrapped.socket) for _ in range(100)]
        eventually(lambda: "Too many open files" in wrapped.log())
        living.hook(wrapped.mailbox, "UserPromptSubmit", prompt="x")
        dying.kill()
        time.sleep(0.5)  # several scans fail meanwhile
        for sock in hoard:
            sock.close()
        asking.close()
        eventually(lambda: wrapped.sessions(conversation=living.conversation, activity="working"))
        assert wrapped.session(conversation=living.conversation)["liveness"] == "alive"
        eventually(lambda: wrapped.sessions(conversation=dying.conversation, liveness="ended"))
        assert wrapped.process is not None and wrapped.process.poll() is None

        def failing() -> list[str]:
            raise OSError(24, "Too many open files")

        assert naive.rows_or_nothing(failing) == [], "the naive way would now end everybody"
    finally:
        for sock in hoard:
            sock.close()
        wrapped.stop()


def test_D6_a_restart_keeps_every_session(daemon: Daemon, agent: Make) -> None:
    agents = [agent() for _ in range(5)]
    before = {seated(daemon, each)["id"] for each in agents}
    daemon.restart()
    after = {daemon.session(conversation=each.conversation, liveness="alive")["id"] for each in agents}
    assert after == before
    assert naive.RegistryInMemory().sessions == {}, "a registry in memory starts with nobody"


def test_D10_a_second_process_under_the_same_id_does_not_drop_the_living_one(
    daemon: Daemon, agent: Make
) -> None:
    first, second = agent(), agent()
    registry = naive.RegistryById()
    second.conversation = first.conversation
    seated(daemon, first)
    for each in (first, second):
        each.hook(daemon.mailbox, "SessionStart", source="resume")
        registry.register(each.conversation, each.pid)

    def living() -> set[int]:
        return {row["pid"] for row in daemon.sessions(conversation=first.conversation, liveness="alive")}

    eventually(lambda: living() == {first.pid, second.pid})
    assert registry.living() == {second.pid}, "the naive registry has dropped the living one"
    second.kill()
    eventually(lambda: living() == {first.pid})
    daemon.restart()
    assert living() == {first.pid}


def test_D8_no_ceiling_applies_to_the_living(daemon: Daemon, agent: Make) -> None:
    old = agent()
    id = seated(daemon, old)["id"]
    row = restarted_later(daemon, id, 400 * DAY)
    assert (row["liveness"], row["pid"]) == ("alive", old.pid)
    assert [each["id"] for each in daemon.get("/v1/sessions")["sessions"] if each["id"] == id] == [id]
    assert naive.beyond_the_ceiling(time.time() - 400 * DAY, time.time())
