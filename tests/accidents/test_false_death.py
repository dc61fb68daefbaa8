"""Accidents D1 to D10: the living that were called dead. Each with the naive way that did it."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rig import altered, naive
from tests.rig.ageing import make_older
from tests.rig.agent import Agent
from tests.rig.daemon import Daemon, eventually
from tests.rig.wire import Orphan, connect, files_waiting, hook, read_reply

ROUNDS = int(os.environ.get("HEADCOUNT_ROUNDS", "20"))  # more in a campaign
DAY = 86_400.0
NOBODY = 65_534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
# May read the code and the home wherever they are; may not signal or look into others' processes.
AS_READING_NOBODY = (*AS_NOBODY, "--inh-caps=+dac_override", "--ambient-caps=+dac_override")

Make = Callable[..., Agent]
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="becoming another user needs root")


def seated(daemon: Daemon, claude: Agent, event: str = "SessionStart", **fields: Any) -> dict[str, Any]:
    """The agent's session, bound."""
    claude.hook(daemon.mailbox, event, **fields)
    return eventually(lambda: daemon.sessions(conversation=claude.conversation, liveness="alive"))[0]


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
        "import json,sys; from headcount.client.connection import Connection; "
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


# --- D7: a start that cannot read must not write ---------------------------------------------------------


def content(home: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in home.glob("headcount.db*") if not path.name.endswith("-shm")
    }


@pytest.fixture
def remembered(daemon: Daemon, agent: Make) -> Iterator[tuple[Daemon, str]]:
    """A daemon that was killed, and the one session that it must still know afterwards."""
    id = seated(daemon, agent())["id"]
    daemon.kill()
    yield daemon, id
    daemon.ready()
    assert daemon.session(id=id)["liveness"] == "alive"


def assert_refuses_untouched(daemon: Daemon, *wrapper: str) -> None:
    before = content(daemon.home)
    daemon.start(wrapper)
    assert daemon.word.startswith("failed: "), daemon.word
    assert daemon.process is not None and daemon.process.wait(10) != 0
    assert content(daemon.home) == before


def test_D7_a_start_with_a_locked_store_leaves_it_as_it_is(remembered: tuple[Daemon, str]) -> None:
    """Another process holds the lock: one of ours would lose it as soon as we read the file to compare."""
    daemon, _ = remembered
    hold = (
        "import sqlite3, sys; s = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "s.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
    )
    argv = [sys.executable, "-c", hold, str(daemon.home / "headcount.db")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        assert_refuses_untouched(daemon)


def test_D7_a_start_with_an_unreadable_store_leaves_it_as_it_is(remembered: tuple[Daemon, str]) -> None:
    daemon, _ = remembered
    strace = shutil.which("strace")
    assert strace is not None, "strace is missing: `apt install strace` (this test injects faults with it)"
    database = str(daemon.home / "headcount.db")
    assert_refuses_untouched(
        daemon, strace, "-f", "-qq", "-o", "/dev/null", "-P", database, "-e", "inject=openat:error=EIO"
    )


def test_D7_a_start_with_a_newer_store_leaves_it_as_it_is(remembered: tuple[Daemon, str]) -> None:
    daemon, _ = remembered

    def set_version(number: int) -> int:
        store = sqlite3.connect(daemon.home / "headcount.db")
        ((before,),) = store.execute("PRAGMA user_version").fetchall()
        store.execute(f"PRAGMA user_version = {number}")
        store.close()
        return int(before)

    known = set_version(999)
    assert_refuses_untouched(daemon)
    assert "upgrade headcount" in daemon.word
    set_version(known)


def test_D7_the_naive_start_saves_before_it_reads(tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshot.json"
    naive.save_snapshot(snapshot, {"living": 4711})
    assert naive.start_by_saving(snapshot) == {}


def test_D8_no_ceiling_applies_to_the_living(daemon: Daemon, agent: Make) -> None:
    old = agent()
    id = seated(daemon, old)["id"]
    row = restarted_later(daemon, id, 400 * DAY)
    assert (row["liveness"], row["pid"]) == ("alive", old.pid)
    assert [each["id"] for each in daemon.get("/v1/sessions")["sessions"] if each["id"] == id] == [id]
    assert naive.beyond_the_ceiling(time.time() - 400 * DAY, time.time())


# --- D9: what was answered is on disk ----------------------------------------------------------------------


class Load:
    """Reports from four senders without a pause; what was answered is remembered."""

    def __init__(self, daemon: Daemon) -> None:
        self.answered: list[str] = []
        self._daemon = daemon
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(nth,)) for nth in range(4)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(30)

    def _send(self, nth: int) -> None:
        count = 0
        while not self._ended.is_set():
            try:
                with connect(self._daemon.socket) as sock:
                    while not self._ended.is_set():
                        name = f"load-{id(self)}-{nth}-{count}"
                        count += 1
                        sock.sendall(hook(b'{"session_id": "%s"}' % name.encode()))
                        if read_reply(sock).status == 202:
                            self.answered.append(name)
            except OSError:
                time.sleep(0.005)  # it was killed; the next one will listen


@pytest.mark.timeout(100 + ROUNDS * 10)
def test_D9_kill_minus_nine_loses_nothing_that_was_answered(daemon: Daemon, agent: Make) -> None:
    living, lost, slowest = agent(), set(), 0.0
    id = seated(daemon, living)["id"]
    for nth in range(ROUNDS):
        dying = agent()
        seated(daemon, dying)
        with Load(daemon) as load:
            eventually(lambda load=load: len(load.answered) > 20)
            living.hook(daemon.mailbox, "PreToolUse", tool_name=f"Tool{nth}")
            daemon.kill(signal.SIGKILL)
        dying.kill()
        began = time.monotonic()
        daemon.ready()
        slowest = max(slowest, time.monotonic() - began)
        eventually(lambda: files_waiting(daemon) == [])
        rows = {row["conversation"]: row for row in daemon.sessions()}
        lost |= set(load.answered) - rows.keys()
        assert rows[living.conversation]["id"] == id and rows[living.conversation]["liveness"] == "alive"
        assert rows[living.conversation]["doing"] == f"Tool{nth}"
        assert rows[dying.conversation]["liveness"] == "ended"
        assert daemon.get("/v1/status")["warnings"] == []
    assert lost == set()
    assert slowest < 5, f"ready again after {slowest:.1f} s"
    assert not list(daemon.home.glob("*corrupt*"))


def test_D9_the_naive_snapshot_is_empty_after_a_crash(tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshot.json"
    naive.save_snapshot(snapshot, {"living": 4711})
    naive.save_snapshot(snapshot, {"living": 4711, "other": 4712}, crash_after="truncate")
    assert snapshot.read_bytes() == b""


def test_D9_a_store_of_zero_bytes_is_said_and_the_living_are_found_again(daemon: Daemon, agent: Make) -> None:
    living = agent()
    seated(daemon, living)
    daemon.kill()
    for name in ("headcount.db", "headcount.db-wal", "headcount.db-shm"):
        (daemon.home / name).write_bytes(b"")
    daemon.ready()
    assert "set aside" in daemon.get("/v1/status")["warnings"][0]
    assert eventually(lambda: daemon.sessions(pid=living.pid))[0]["liveness"] == "alive"


# --- D10 ----------------------------------------------------------------------------------------------------


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
