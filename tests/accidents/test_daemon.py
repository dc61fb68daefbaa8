"""Accidents H1 to H4, H10 to H12, H16 and H18: the daemon itself. Each with the naive way that did it."""

import asyncio
import itertools
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from headcount.cli.following import follow

from headcount import __version__
from headcount.client.connection import Connection
from headcount.client.faults import Broken
from headcount.client.sse import ServerSentEvent
from tests.rig import altered, naive
from tests.rig.agent import Agent, program
from tests.rig.daemon import Daemon, eventually
from tests.rig.spawn import Spawner
from tests.rig.wire import connect, hook, read_reply, request

ROUNDS = int(os.environ.get("HEADCOUNT_ROUNDS", "20"))  # more in a campaign
UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
HEADCOUNT = (sys.executable, "-m", "headcount")
Make = Callable[..., Agent]


def seated(daemon: Daemon, claude: Agent) -> dict[str, Any]:
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    return eventually(lambda: daemon.sessions(conversation=claude.conversation, liveness="alive"))[0]


def command(daemon: Daemon, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*HEADCOUNT, *words], env=daemon.env, capture_output=True, text=True, timeout=60)


def end(pid: int) -> None:
    """Through a handle; it may be gone already."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        select.select([handle], [], [], 10)
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)


# --- H1 -----------------------------------------------------------------------------------------------


@pytest.mark.timeout(100 + ROUNDS * 10)
def test_H1_of_two_daemons_started_at_once_exactly_one_serves(tmp_path: Path) -> None:
    for _ in range(ROUNDS):
        rivals = [Daemon(tmp_path / "headcount") for _ in range(2)]
        threads = [threading.Thread(target=rival.start) for rival in rivals]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        try:
            assert sorted(rival.word for rival in rivals) == ["busy", "ready"]
            (server,) = [rival for rival in rivals if rival.word == "ready"]
            assert server.get("/healthz")["pid"] == server.pid
            (other,) = [rival for rival in rivals if rival.word == "busy"]
            assert other.process is not None and other.process.wait(10) == 75
        finally:
            for rival in rivals:
                rival.stop()


def test_H1_the_lock_ends_with_the_daemon_and_is_not_inherited(daemon: Daemon) -> None:
    descriptors = Path(f"/proc/{daemon.pid}/fd")
    (lock,) = [each for each in descriptors.iterdir() if os.readlink(each).endswith("headcount.lock")]
    flags = re.search(r"flags:\s*([0-7]+)", Path(f"/proc/{daemon.pid}/fdinfo/{lock.name}").read_text())
    assert flags is not None and int(flags[1], 8) & os.O_CLOEXEC
    daemon.restart()
    assert daemon.word == "ready"


def test_H1_the_naive_pid_file_lets_two_start_and_is_beaten_by_a_reused_pid(tmp_path: Path) -> None:
    file = naive.PidFile(tmp_path / "daemon.pid")
    assert [file.may_start(), file.may_start()] == [True, True], "both looked before either wrote"
    with Spawner() as spawner:
        file.write(spawner.child().pid)  # whoever has the dead daemon's pid now
        assert not file.may_start(), "nobody serves, and nobody may"


# --- H2, H3, H4 ------------------------------------------------------------------------------------------


def test_H2_a_start_leaves_alone_whoever_looks_like_the_daemon(tmp_path: Path) -> None:
    looks = f"headcount.daemon.main --foreground {tmp_path}"
    code = "import sys; print('here', flush=True); sys.stdin.read()"
    argv = [sys.executable, "-c", code, "-m", *looks.split()]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as decoy:
        assert decoy.stdout is not None and decoy.stdout.readline() == b"here\n"
        with Daemon(tmp_path / "one") as one, Daemon(tmp_path / "two") as two:
            assert decoy.poll() is None
            assert one.get("/healthz")["ok"] and two.get("/healthz")["ok"], "two homes, two daemons"
            assert naive.victims_of_start("headcount.daemon.main") >= {decoy.pid, one.pid, two.pid}
        assert decoy.poll() is None


def test_H3_a_socket_file_without_a_daemon_is_not_a_daemon(daemon: Daemon) -> None:
    daemon.kill()
    assert naive.is_running_by_socket_file(daemon.socket), "the naive way sees a daemon"
    assert command(daemon, "status").returncode == 4
    shown = command(daemon, "ps", "--json")
    assert shown.returncode == 0 and "sessions" in json.loads(shown.stdout)
    pid = daemon.get("/healthz")["pid"]
    assert pid != daemon.pid
    assert command(daemon, "down").returncode == 0


def test_H3_somebody_else_who_listens_on_the_socket_is_not_a_daemon(daemon: Daemon) -> None:
    daemon.stop()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(daemon.socket))
        other.listen()

        def answer() -> None:
            while True:
                try:
                    with other.accept()[0] as sock:
                        sock.recv(65536)
                        sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
                except OSError:
                    return

        thread = threading.Thread(target=answer)
        thread.start()
        shown = command(daemon, "ps")
        other.shutdown(socket.SHUT_RDWR)
        thread.join(10)
    assert shown.returncode == 4 and "not headcount" in shown.stderr


async def longest_wait(during: Callable[[], Any]) -> float:
    """How long the loop kept its clock waiting while something ran on it."""
    longest, ended = 0.0, asyncio.Event()

    async def tick() -> None:
        nonlocal longest
        while not ended.is_set():
            began = time.monotonic()
            await asyncio.sleep(0.001)
            longest = max(longest, time.monotonic() - began)

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.01)
    await during()
    ended.set()
    await ticking
    return longest


async def test_H4_looking_at_many_sessions_stalls_nobody(tmp_path: Path) -> None:
    """While every session is explained and every process looked at, another caller is answered at once."""
    wrapped = Daemon(tmp_path / "headcount", **altered.environment(CENSUS_EVERY=0.05, CENSUS_FRESH=0.0))
    wrapped.start(altered.WRAPPER)
    agents = [Agent(tmp_path / "agents") for _ in range(60)]
    try:
        for each in agents:
            each.hook(wrapped.mailbox, "SessionStart", source="startup")
        pids = {each.pid for each in agents}
        eventually(lambda: {row["pid"] for row in wrapped.sessions(liveness="alive")} >= pids)
        ids = [row["id"] for row in wrapped.sessions(liveness="alive")]
        ended = threading.Event()

        def ask_everything() -> None:
            while not ended.is_set():
                wrapped.get("/v1/sessions?all=1")
                for id in ids:
                    wrapped.explain(id)

        asking = threading.Thread(target=ask_everything)
        asking.start()
        slowest = []
        probe = Connection(str(wrapped.socket))
        for _ in range(200):
            began = time.monotonic()
            assert probe.call("GET", "/healthz").status == 200
            slowest.append(time.monotonic() - began)
        ended.set()
        asking.join(30)
        probe.close()
        stalled = await longest_wait(lambda: naive.look_at_each(sorted(pids)))
        ours = sorted(slowest)[len(slowest) * 95 // 100]
        assert ours < stalled / 4, f"ours {ours * 1000:.0f} ms, the naive way {stalled * 1000:.0f} ms"
    finally:
        for each in agents:
            each.close()
        wrapped.stop()


# --- H10, H11 ----------------------------------------------------------------------------------------------


def test_H10_an_older_daemon_is_replaced_at_first_contact(tmp_path: Path, agent: Make) -> None:
    old = Daemon(tmp_path / "headcount", **altered.environment(version="0.0.1"))
    old.start(altered.WRAPPER)
    claude = agent()
    id = seated(old, claude)["id"]
    assert old.get("/healthz")["version"] == "0.0.1"
    assert naive.needs_no_restart(answers=True), "the naive way goes on with the old code"
    try:
        shown = command(old, "ps", "--json")
        assert shown.returncode == 0, shown.stderr
        assert "Restarted the daemon: it was headcount 0.0.1" in shown.stderr
        assert old.process is not None and old.process.wait(10) == 0
        health = old.get("/healthz")
        assert health["version"] == __version__ and health["pid"] != old.pid
        assert [row["id"] for row in json.loads(shown.stdout)["sessions"] if row["pid"] == claude.pid] == [id]
        assert "Restarted" not in command(old, "ps").stderr
    finally:
        command(old, "down")
        old.stop()


DEAF = """
import asyncio, sys, time
from pathlib import Path
from headcount.daemon.watchdog import Watchdog

async def main():
    Watchdog(asyncio.get_running_loop(), Path(sys.argv[1]), every=0.1).start()
    await asyncio.sleep(0.5)
    print("listening", flush=True)
    if sys.argv[2] == "blocked":
        time.sleep(60)  # blocks the loop, and raises nothing
    await asyncio.sleep(1.5)

asyncio.run(main())
"""


@pytest.mark.parametrize(("manner", "code"), [("blocked", 70), ("free", 0)])
def test_H11_a_loop_that_is_deaf_ends_itself_and_says_where_it_was(
    tmp_path: Path, manner: str, code: int
) -> None:
    stacks = tmp_path / "stacks.txt"
    done = subprocess.run(
        [sys.executable, "-c", DEAF, stacks, manner], capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stdout) == (code, "listening\n"), done.stderr
    assert stacks.exists() == (manner == "blocked")
    if manner == "blocked":
        assert "in main" in stacks.read_text()


def test_H11_a_stopped_watchdog_is_not_a_deaf_loop(tmp_path: Path) -> None:
    """A machine that slept: nobody was asked, so nobody failed to answer."""
    argv = [sys.executable, "-c", DEAF, tmp_path / "stacks.txt", "free"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as sleeper:
        assert sleeper.stdout is not None and sleeper.stdout.readline() == b"listening\n"
        sleeper.send_signal(signal.SIGSTOP)
        time.sleep(1)  # ten times the interval: the sleep itself is what is tested
        sleeper.send_signal(signal.SIGCONT)
        assert sleeper.wait(10) == 0


def test_H11_doctor_sees_a_daemon_that_is_alive_and_deaf(daemon: Daemon) -> None:
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        assert naive.is_well_by_pid(daemon.pid), "the naive way finds it well"
        found = command(daemon, "doctor", "--json")
        assert found.returncode == 1
        (finding,) = [each for each in json.loads(found.stdout)["findings"] if each["check"] == "daemon"]
        assert "did not answer" in finding["says"], finding
    finally:
        daemon.process.send_signal(signal.SIGCONT)


# --- H12 -----------------------------------------------------------------------------------------------------

EVENTS = 24_000  # more than a reader may lag behind, with what the sockets hold


def many_reports(daemon: Daemon, count: int, conversation: str) -> None:
    """As many events, each by a file of its own in the mailbox; returns when they are stored."""
    for nth in range(count):
        body = {"session_id": conversation, "hook_event_name": "PreToolUse", "tool_name": f"T{nth}"}
        (daemon.mailbox / f"{conversation}.{nth}").write_text("\n" + json.dumps(body))
    eventually(lambda: is_empty(daemon.mailbox), within=60)


def is_empty(mailbox: Path) -> bool:
    """Without listing the thousands that may still be there."""
    with os.scandir(mailbox) as entries:
        return all(entry.name.startswith(".") for entry in entries)


def read_stream(sock: socket.socket, until: bytes) -> bytes:
    got = bytearray()
    while until not in got[-300_000:]:
        piece = sock.recv(262_144)
        if not piece:
            break
        got += piece
    return bytes(got)


def test_H12_a_reader_that_lags_hurts_nobody_and_resumes_without_a_gap(daemon: Daemon) -> None:
    with connect(daemon.socket) as stuck, connect(daemon.socket) as eager:
        for sock in (stuck, eager):
            sock.sendall(request("GET", "/v1/events"))
            assert read_reply(sock).status == 200
        told: list[bytes] = []
        reading = threading.Thread(target=lambda: told.append(read_stream(eager, b'"doing":"THE END"')))
        reading.start()
        many_reports(daemon, EVENTS, "flood")
        many_reports(daemon, 200, "more")  # the publisher goes on
        with connect(daemon.socket) as sock:
            sock.sendall(
                hook(b'{"session_id": "end", "hook_event_name": "PreToolUse", "tool_name": "THE END"}')
            )
            assert read_reply(sock).status == 202
        reading.join(60)
        assert not reading.is_alive(), "the eager reader has everything"
        eager_numbers = numbers(told[0])
        last_seq = daemon.get("/v1/status")["store"]["seq"]
        assert eager_numbers == list(range(eager_numbers[0], eager_numbers[-1] + 1))
        assert len(eager_numbers) > EVENTS

        got = read_stream(stuck, b"event: dropped")
        assert b"event: dropped" in got, "it is told that it was dropped"
        seen = numbers(got)
        assert len(seen) < 20_000 and seen == list(range(seen[0], seen[-1] + 1)), "no gap before the break"
    assert "headcount_streams_dropped_total 1.0" in daemon.get("/metrics")
    with connect(daemon.socket) as again:
        again.sendall(request("GET", "/v1/events", b"", f"Last-Event-ID: {seen[-1]}"))
        rest = numbers(read_stream(again, b"id: %d\n" % last_seq))
    assert rest == list(range(seen[-1] + 1, rest[-1] + 1)) and rest[-1] >= last_seq


def numbers(stream: bytes) -> list[int]:
    return [int(each) for each in re.findall(rb"(?:^|\n)id: ([0-9]+)\nevent: (?!snapshot)", stream)]


async def test_H12_the_naive_publisher_waits_for_the_reader_that_lags() -> None:
    stuck: asyncio.Queue[int] = asyncio.Queue(maxsize=20_000)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(naive.publish_to_all([stuck], range(EVENTS)), 1)


def test_H12_whoever_watches_goes_on_after_being_dropped() -> None:
    """The stream says so and ends; the follower resumes by the last number it has."""
    asked: list[int | None] = []

    class Streams:
        def events(self, last: int | None, until: float | None) -> Iterator[ServerSentEvent]:
            asked.append(last)
            if last is None:
                yield ServerSentEvent("session.heard", '{"seq": 4, "type": "session.heard"}', "4")
                yield ServerSentEvent("dropped", "{}", "4")
                raise Broken("The event stream ended.")
            yield ServerSentEvent("session.heard", '{"seq": 5, "type": "session.heard"}', "5")

    seen = list(itertools.islice(follow(Streams()), 2))  # type: ignore[arg-type]
    assert [each["seq"] for each in seen] == [4, 5] and asked == [None, 4]


def test_H12_readers_that_leave_in_the_middle_hurt_nobody(daemon: Daemon) -> None:
    for _ in range(20):
        with connect(daemon.socket) as sock:
            sock.sendall(request("GET", "/v1/events"))
            sock.recv(100)
    many_reports(daemon, 200, "after")
    eventually(lambda: "headcount_streams 0.0" in daemon.get("/metrics"))
    assert '"level": "error"' not in daemon.log()


# --- H16 -------------------------------------------------------------------------------------------------------


def parent_and_terminal(pid: int) -> tuple[int, int]:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return int(fields[1]), int(fields[4])


MARKS = {
    "CLAUDECODE": "1",
    "CLAUDE_PID": "1",
    "CLAUDE_CODE_SESSION_ID": "x",
    "ANTHROPIC_API_KEY": "secret-key",
}


def in_an_agent(tmp_path: Path, shell: str) -> tuple["subprocess.Popen[str]", int]:
    """An agent on a terminal of its own whose shell runs that command; gives the pid that it printed."""
    claude = program(tmp_path / "agents")
    ours, theirs = os.openpty()
    agent = subprocess.Popen(
        ["claude", "-c", f"{shell} >{tmp_path}/said 2>&1; read _"],
        executable=str(claude),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "HEADCOUNT_HOME": str(tmp_path / "home"),
            **MARKS,
        },
        start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
        text=True,
    )
    os.close(theirs)
    agent.terminal = ours  # type: ignore[attr-defined]
    said = eventually(lambda: re.search(r'(?:"pid": ?|pid )([0-9]+)', text(tmp_path / "said")), within=30)
    return agent, int(said[1])


def text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def close_agent(agent: "subprocess.Popen[str]") -> None:
    agent.send_signal(signal.SIGKILL)
    agent.wait(10)
    os.close(agent.terminal)  # type: ignore[attr-defined]


def test_H16_a_daemon_started_inside_an_agent_is_nobodys_child(tmp_path: Path) -> None:
    up = f"{sys.executable} -m headcount up --json"
    agent, pid = in_an_agent(tmp_path, up)
    try:
        parent, terminal = parent_and_terminal(pid)
        assert parent not in (agent.pid, os.getpid()) and terminal == 0
        carried = Path(f"/proc/{pid}/environ").read_bytes()
        for name, value in MARKS.items():
            assert name.encode() not in carried and (len(value) < 3 or value.encode() not in carried)
        terminals = [os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir()]
        assert not [each for each in terminals if "/pts/" in each or "tty" in each]
        assert os.getsid(pid) != os.getsid(agent.pid)
        close_agent(agent)  # killed, and its terminal hung up
        home = Daemon(tmp_path / "home")
        assert home.get("/healthz")["pid"] == pid
        time.sleep(0.2)  # a hang-up would have come by now
        assert home.get("/healthz")["pid"] == pid
    finally:
        end(pid)
        if agent.poll() is None:
            close_agent(agent)


def test_H16_the_naive_start_is_a_child_on_the_agents_terminal(tmp_path: Path) -> None:
    code = (
        "from tests.rig import naive; print('pid', naive.start_as_a_child(['sleep', '600']).pid, flush=True)"
    )
    agent, pid = in_an_agent(tmp_path, f'cd {altered.ROOT}; {sys.executable} -c "{code}"')
    try:
        _, terminal = parent_and_terminal(pid)
        assert terminal != 0
        eventually(lambda: b"secret-key" in Path(f"/proc/{pid}/environ").read_bytes())
        handle = os.pidfd_open(pid)
        close_agent(agent)
        assert select.select([handle], [], [], 10)[0], "it died with the agent's terminal"
        os.close(handle)
    finally:
        end(pid)
        if agent.poll() is None:
            close_agent(agent)


# --- H18 ---------------------------------------------------------------------------------------------------------


@pytest.mark.root
def test_H18_a_daemon_in_another_pid_namespace_ends_nobody(tmp_path: Path, agent: Make) -> None:
    """As in a container that shares the home: no process of the host is there, and no handle opens."""
    if subprocess.run([*UNSHARE, "true"], capture_output=True).returncode != 0:
        pytest.skip("pid namespaces cannot be made here")
    daemon = Daemon(tmp_path / "headcount").ready()
    living, dying = agent(), agent()
    try:
        ids = {name: seated(daemon, each)["id"] for name, each in (("living", living), ("dying", dying))}
        daemon.stop()

        daemon.start(UNSHARE)
        assert daemon.word == "ready"
        for id in ids.values():
            row = daemon.session(id=id)
            assert (row["liveness"], row["ended"]) == ("unknown", None)
            assert "another pid namespace" in daemon.explain(id)["liveness"]["because"]
        check = f"from tests.rig import naive; print(naive.is_dead_if_not_here({living.pid}))"
        said = subprocess.run(
            [*UNSHARE, sys.executable, "-c", check], cwd=altered.ROOT, capture_output=True, text=True
        )
        assert said.stdout == "True\n", "the naive way calls the living one dead there"
        living.hook(daemon.mailbox, "UserPromptSubmit", prompt="heard in the container")
        eventually(lambda: daemon.sessions(id=ids["living"], activity="working"))
        assert daemon.session(id=ids["living"])["liveness"] == "unknown"
        dying.kill()
        assert daemon.session(id=ids["dying"])["liveness"] == "unknown"
        daemon.call("POST", "/v1/stop", {})
        assert daemon.process is not None
        daemon.process.wait(10)

        daemon.ready()
        assert daemon.session(id=ids["living"])["liveness"] == "alive"
        gone = daemon.session(id=ids["dying"])
        assert (gone["liveness"], gone["ended"]["away"]) == ("ended", True)
        living.kill()
        eventually(lambda: daemon.sessions(id=ids["living"], liveness="ended"))
    finally:
        daemon.stop()
