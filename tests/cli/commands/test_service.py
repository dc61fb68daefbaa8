"""The service: a unit that systemd understands, a daemon that keeps its word to it, and no session lost."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headcount.cli.actions.systemd_service import Unwritable, unit_text
from headcount.client import daemon_process
from headcount.daemon.engine.watchdog import Watchdog, notify
from headcount.paths import Places
from tests.rig.agents.commands_inside import Said, command, environment, inside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

STAND_IN = """\
#!{python}
# A stand-in for `systemctl --user`: it notes what it is asked, and starts and stops what the unit names.
import os, pathlib, shlex, signal, socket, subprocess, sys
words = [word for word in sys.argv[1:] if not word.startswith("--user") and word != "--no-pager"]
place = pathlib.Path({place!r})
with open(place / "asked", "a") as asked:
    print(*words, file=asked)
pidfile = place / "pid"
def running():
    try:
        pid = int(pidfile.read_text())
        return 0 if pathlib.Path(f"/proc/{{pid}}/stat").read_text().rpartition(")")[2].split()[0] == "Z" else pid
    except (OSError, ValueError):
        return 0
def stop():
    pid = running()
    if pid:
        fd = os.pidfd_open(pid); os.kill(pid, signal.SIGTERM)
        import select; select.select([fd], [], [], 20)
    pidfile.unlink(missing_ok=True)
def start():
    if running():
        return
    text = pathlib.Path({unit!r}).read_text().splitlines()
    line = next(each for each in text if each.startswith("ExecStart=")).partition("=")[2]
    env = {{name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}}
    env |= dict(shlex.split(each.partition("=")[2])[0].split("=", 1) for each in text if each.startswith("Environment="))
    told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); told.settimeout(20)
    told.bind(str(place / "notify"))
    child = subprocess.Popen(shlex.split(line), env={{**env, "NOTIFY_SOCKET": str(place / "notify")}}, start_new_session=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pidfile.write_text(str(child.pid))
    try:
        while b"READY=1" not in told.recv(4096):
            pass
    finally:
        (place / "notify").unlink()
    child.returncode = 0
if words[0] in ("stop", "restart") or words[:2] == ["disable", "--now"]:
    stop()
if words[0] in ("start", "restart"):
    start()
if words[0] == "show":
    print(f"ActiveState={{'active' if running() else 'inactive'}}\\nUnitFileState=enabled\\nMainPID={{running()}}\\nNRestarts=0")
"""


class Desk:
    """A home with a stand-in systemctl first on its PATH."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.daemon = Daemon(place / "headcount")
        self.unit = self.daemon.user_home / ".config/systemd/user/headcount.service"
        programs = place / "bin"
        programs.mkdir()
        (programs / "systemctl").write_text(
            STAND_IN.format(python=sys.executable, place=str(place), unit=str(self.unit))
        )
        (programs / "systemctl").chmod(0o755)
        self.daemon.env["PATH"] = f"{programs}:{os.environ['PATH']}"
        self.daemon.env.pop("XDG_CONFIG_HOME", None)

    def run(self, *words: str) -> Said:
        done = subprocess.run(command(*words), env=self.env, capture_output=True, text=True, timeout=60)
        return Said(done.returncode, done.stdout, done.stderr)

    @property
    def env(self) -> dict[str, str]:
        return {
            name: value for name, value in environment(self.daemon).items() if not name.startswith("XDG_")
        }

    @property
    def asked(self) -> list[str]:
        found = self.place / "asked"
        return found.read_text().splitlines() if found.exists() else []

    @property
    def pid(self) -> int:
        return int((self.place / "pid").read_text())


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.run("service", "uninstall")
    made.run("down")


def test_the_unit_is_one_that_systemd_understands(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here")
    places = Places.below(str(tmp_path / "a home with %n and $HOME"))
    text = unit_text(
        [sys.executable, "-P", "-c", 'print("100% $HOME")'], {"HEADCOUNT_HOME": places.state}, places
    )
    path = tmp_path / "headcount.service"
    path.write_text(text)
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "SYSTEMD_LOG_LEVEL": "warning"}
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--man=no", str(path)],
        env=env,
        capture_output=True,
        text=True,
    )
    if "Failed to initialize manager" in done.stderr:
        pytest.skip("systemd-analyze cannot run here")
    assert "headcount.service" not in done.stderr, done.stderr
    broken = tmp_path / "headcount-broken.service"
    broken.write_text(text.replace("Type=notify", "Typ=notify"))
    naive = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--man=no", str(broken)],
        env=env,
        capture_output=True,
        text=True,
    )
    assert "Typ" in naive.stderr, "the look itself is tried"


def test_what_systemd_would_read_as_its_own_is_escaped() -> None:
    places = Places.below("/h")
    text = unit_text(["/a b/python", 'q"%n$x\\'], {"HEADCOUNT_HOME": "/h 100%$"}, places)
    assert 'ExecStart="/a b/python" "q\\"%%n$$x\\\\"' in text
    assert 'Environment="HEADCOUNT_HOME=/h 100%%$"' in text
    with pytest.raises(Unwritable):
        unit_text(["/a\nExecStart=/bin/evil"], {}, places)


def test_the_daemon_tells_its_supervisor_that_it_is_ready_and_that_it_goes(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(tmp_path / "notify"))
        told.settimeout(20)
        daemon = Daemon(tmp_path / "headcount")
        env = {**environment(daemon), "NOTIFY_SOCKET": str(tmp_path / "notify")}
        running = subprocess.Popen(command("up", "--foreground"), env=env, stderr=subprocess.DEVNULL)
        try:
            assert told.recv(4096).startswith(b"READY=1\nSTATUS=headcount ")
            assert daemon.get("/healthz")["pid"] == running.pid, "the main process is the daemon itself"
            running.send_signal(signal.SIGTERM)
            assert told.recv(4096) == b"STOPPING=1"
            assert running.wait(20) == 0
        finally:
            running.kill()
            running.wait()


async def test_the_watchdogs_sign_of_life_reaches_the_supervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(tmp_path / "notify"))
        told.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        loop = asyncio.get_running_loop()
        dog = Watchdog(loop, tmp_path / "stacks", every=0.02, on_alive=lambda: notify("WATCHDOG=1"))
        dog.start()
        try:
            assert await asyncio.wait_for(loop.sock_recv(told, 100), 10) == b"WATCHDOG=1"
        finally:
            dog.stop()


def test_installing_takes_over_from_the_running_daemon_and_loses_no_session(
    desk: Desk, agent: Callable[..., Agent]
) -> None:
    desk.run("up")
    one = agent()
    session = settled(one, desk.daemon)
    assert inside(one, desk.daemon, "claim", "task:A").code == 0
    before = desk.daemon.get("/healthz")["pid"]
    said = desk.run("service", "install")
    assert said.code == 0, said
    assert desk.daemon.get("/healthz")["pid"] == desk.pid != before
    assert "took over" in said.out and [line.split()[0] for line in desk.asked if line.split()[0] != "show"] == [
        "show-environment", "daemon-reload", "enable", "restart",
    ]  # fmt: skip
    row = eventually(lambda: desk.daemon.sessions(conversation=one.conversation, liveness="alive"))[0]
    assert row["id"] == session and row["claims"] == ["task:A"]
    status = desk.run("service", "status")
    assert f"enabled, active, pid {desk.pid}" in status.out


UPGRADED = "import os; from headcount.client.daemon_access import reach; reach(os.environ, version='99.0').get('/healthz')"


def test_after_down_or_an_upgrade_it_is_systemd_that_starts_it_again(
    desk: Desk, agent: Callable[..., Agent]
) -> None:
    assert desk.run("service", "install").code == 0
    assert desk.run("down").code == 0
    assert desk.run("ps").code == 0
    assert "start headcount.service" in desk.asked
    before = desk.daemon.get("/healthz")["pid"]
    assert before == desk.pid
    one = agent()
    session = settled(one, desk.daemon)
    subprocess.run([sys.executable, "-c", UPGRADED], env=desk.env, check=True)
    after = desk.daemon.get("/healthz")["pid"]
    assert after == desk.pid != before, "the upgraded one is supervised, too"
    assert [row["id"] for row in desk.daemon.sessions(conversation=one.conversation, liveness="alive")] == [
        session
    ]


def test_a_unit_of_another_home_starts_nothing_here(desk: Desk, tmp_path: Path) -> None:
    desk.unit.parent.mkdir(parents=True)
    desk.unit.write_text(f"{daemon_process.MARK}/somewhere/else\n[Service]\nExecStart=/bin/false\n")
    assert desk.run("up").code == 0
    assert desk.asked == []


def test_uninstalling_gives_the_place_back_and_a_foreign_unit_is_left_alone(desk: Desk) -> None:
    assert desk.run("service", "install").code == 0
    assert desk.run("service", "uninstall").code == 0
    assert not desk.unit.exists() and desk.asked[-2:] == ["disable --now headcount.service", "daemon-reload"]
    assert "nothing done" in desk.run("service", "uninstall").out
    desk.unit.write_text("[Service]\nExecStart=/bin/true\n")
    for action in ("install", "uninstall"):
        said = desk.run("service", action)
        assert said.code == 1 and "not ours" in said.err
    assert desk.unit.read_text() == "[Service]\nExecStart=/bin/true\n"
    desk.unit.unlink()


def test_without_a_user_systemd_it_says_so_and_writes_nothing(desk: Desk) -> None:
    (desk.place / "bin" / "systemctl").write_text(
        "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2; exit 1\n"
    )
    said = desk.run("service", "install")
    assert said.code == 4 and "No medium found" in said.err and "--print" in said.err
    assert not desk.unit.exists()
    assert desk.run("up").code == 0, "the daemon starts without it"


def test_a_unit_whose_systemd_does_not_answer_keeps_nobody_from_starting(desk: Desk) -> None:
    assert desk.run("service", "install").code == 0
    desk.run("down")
    (desk.place / "bin" / "systemctl").write_text("#!/bin/sh\nexit 1\n")
    assert desk.run("ps").code == 0


def test_an_agent_installs_no_service(desk: Desk, agent: Callable[..., Agent]) -> None:
    desk.run("up")
    one = agent()
    settled(one, desk.daemon)
    said = inside(one, desk.daemon, "service", "install")
    assert said.code == 3 and "for people" in said.err
    assert not desk.unit.exists()


def test_printing_needs_no_systemd(desk: Desk) -> None:
    (desk.place / "bin" / "systemctl").unlink()
    said = desk.run("service", "install", "--print")
    assert said.code == 0 and said.out.startswith(daemon_process.MARK) and "Type=notify" in said.out
    assert textwrap.dedent(said.out) == said.out
