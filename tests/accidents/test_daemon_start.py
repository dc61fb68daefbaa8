"""Accidents H1 to H3, H10 and H16: who starts, who is there already, and whose child it is."""

import contextlib
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
from pathlib import Path

import pytest

from headcount import __version__
from tests.rig.agents.stand_in import program
from tests.rig.daemon import altered
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import ROUNDS, Make, command, seated
from tests.rig.kernel.spawner import Spawner
from tests.rig.naive_ways import naive


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


# --- H1 --------------------------------------------------------------------------------


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


def target(descriptor: Path) -> str:
    """Where it leads; a daemon at work closes some between the listing and the look."""
    try:
        return os.readlink(descriptor)
    except FileNotFoundError:
        return ""


def test_H1_the_lock_ends_with_the_daemon_and_is_not_inherited(daemon: Daemon) -> None:
    descriptors = Path(f"/proc/{daemon.pid}/fd")
    (lock,) = [each for each in descriptors.iterdir() if target(each).endswith("headcount.lock")]
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


# --- H2, H3 --------------------------------------------------------------------------------


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


# --- H10 --------------------------------------------------------------------------------


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


# --- H16 --------------------------------------------------------------------------------


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


def open_paths(pid: int) -> list[str]:
    """Of those descriptors that stay open while they are looked at: it closes some as it goes on."""
    found = []
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(each))
    return found


def test_H16_a_daemon_started_inside_an_agent_is_nobodys_child(tmp_path: Path) -> None:
    up = f"{sys.executable} -m headcount up --json"
    agent, pid = in_an_agent(tmp_path, up)
    try:
        parent, terminal = parent_and_terminal(pid)
        assert parent not in (agent.pid, os.getpid()) and terminal == 0
        carried = Path(f"/proc/{pid}/environ").read_bytes()
        for name, value in MARKS.items():
            assert name.encode() not in carried and (len(value) < 3 or value.encode() not in carried)
        terminals = open_paths(pid)
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
    code = "from tests.rig.naive_ways import naive; print('pid', naive.start_as_a_child(['sleep', '600']).pid, flush=True)"
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
