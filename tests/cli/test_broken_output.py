"""Output that is closed, full or read by nobody: what was done decides the exit code, and the rest is done."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import command, environment
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")

CLOSED = (">&-", "2>&-", "<&-", "<&- >&- 2>&-", "2>&- >&-")
BROKEN = (">/dev/full", ">/dev/full 2>&1", "1</dev/null", "2>/dev/full")


def ran(daemon: Daemon, how: str, *words: str) -> "subprocess.CompletedProcess[str]":
    line = f"{shlex.join(command(*words))} {how}"
    return subprocess.run(
        ["/bin/sh", "-c", line], env=environment(daemon), capture_output=True, text=True, timeout=60
    )


def unread(daemon: Daemon, *words: str) -> int:
    """With a pipe for its output that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return subprocess.run(
            command(*words), env=environment(daemon), stdout=writing, stderr=subprocess.DEVNULL, timeout=60
        ).returncode
    finally:
        os.close(writing)


def items(daemon: Daemon) -> list[str]:
    return [each["item"] for each in daemon.get("/v1/claims")["claims"]]


@pytest.mark.parametrize("json", [[], ["--json"]], ids=["words", "json"])
@pytest.mark.parametrize("how", [*CLOSED, *BROKEN, "| unread"])
def test_what_was_done_decides_the_exit_code(
    daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path, how: str, json: list[str]
) -> None:
    def code(*words: str) -> int:
        if how == "| unread":
            return unread(daemon, *words)
        done = ran(daemon, how, *words)
        assert "Traceback" not in done.stderr + done.stdout and "Exception ignored" not in done.stderr, done
        return done.returncode

    assert code("claim", "task:A", "--as", "auth-refactor", *json) == 0
    assert items(daemon) == ["task:A"]
    assert code("claim", "task:A", "--as", "flaky-ci", *json) == 3
    assert code("handoff", "task:A", "flaky-ci", "--as", "auth-refactor", *json) == 0
    assert code("release", "task:A", "--as", "flaky-ci", *json) == 0
    assert items(daemon) == []
    assert code("show", "nobody-is-called-so", *json) == 5
    assert code("claim", "--nonsense", *json) == 2
    mark = tmp_path / "held"
    assert code("hold", *json, "task:B", "--", "/bin/sh", "-c", f": >{mark}; exit 7") == 7
    assert mark.exists()
    assert code("up", *json) == 0
    assert code("down", *json) == 0
    assert daemon.process is not None and daemon.process.wait() == 0


@pytest.mark.parametrize("how", ["2>&- >&-", "<&- >&- 2>&-"])
def test_the_first_use_with_everything_closed_starts_a_daemon_that_answers(tmp_path: Path, how: str) -> None:
    env = {**os.environ, "HEADCOUNT_HOME": str(tmp_path / "h")}
    run = ["/bin/sh", "-c", f"{shlex.join(command('up'))} {how}"]
    try:
        assert subprocess.run(run, env=env, timeout=60).returncode == 0
        status = subprocess.run(command("status", "--json"), env=env, capture_output=True, timeout=60)
        assert status.returncode == 0, status
    finally:
        subprocess.run(command("down"), env=env, stdout=subprocess.DEVNULL, timeout=60)


def test_what_hold_runs_gets_none_of_our_files_as_its_standard_streams(
    daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path
) -> None:
    out = tmp_path / "fds"
    script = f"ls -l /proc/self/fd/ 3>{out} >&3 2>/dev/null"
    assert ran(daemon, "<&- >&- 2>&-", "hold", "task:B", "--", "/bin/sh", "-c", script).returncode == 0
    assert "fd" in out.read_text() and "socket:" not in out.read_text()


def test_a_listing_that_could_not_be_written_is_a_failure_that_says_why(daemon: Daemon) -> None:
    for words in (["ps", "--json"], ["watch"], ["log", "--follow"], ["--help"]):
        done = ran(daemon, ">/dev/full", *words)
        said = "headcount: the output could not be written: No space left on device\n"
        assert (done.returncode, done.stderr) == (1, said), words
    assert unread(daemon, "ps") == 0, "whoever reads may have read enough"
    assert ran(daemon, ">&-", "ps").returncode == 0, "nobody wants it"


def test_output_that_takes_nothing_for_a_while_is_waited_for(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    filled = 0
    while True:
        try:
            filled += os.write(writing, b"x" * 4096)
        except BlockingIOError:
            break
    asked = subprocess.Popen(command("ps", "--json"), env=environment(daemon), stdout=writing)
    os.close(writing)
    time.sleep(0.5)  # it is certainly stuck in its write, or about to be
    read = b""
    while piece := os.read(reading, 65536):
        read += piece
    assert asked.wait(30) == 0 and read[filled:].strip().endswith(b"}")


# --- streams -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["watch", "--json"], ["log", "--follow", "--json"]])
def test_a_stream_ends_when_nobody_reads_it_although_nothing_happens(
    daemon: Daemon, two: tuple[Agent, Agent], words: list[str]
) -> None:
    reading, writing = os.pipe()
    watching = subprocess.Popen(command(*words), env=environment(daemon), stdout=writing)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb", buffering=0) as read:
            assert read.read(100)  # then nothing happens any more
            eventually(lambda: is_asleep(watching.pid))
        assert watching.wait(30) == 0
    finally:
        watching.kill()
        watching.wait()


def test_a_stream_that_is_told_to_end_ends_by_that_signal(daemon: Daemon) -> None:
    with subprocess.Popen(command("watch"), env=environment(daemon), stdout=subprocess.DEVNULL) as watching:
        eventually(lambda: is_asleep(watching.pid))
        watching.terminate()
        assert watching.wait(30) == -signal.SIGTERM


def is_asleep(pid: int) -> bool:
    """Every thread of it waits for something, and its handler of SIGTERM is there."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(status.split("SigCgt:")[1].split()[0], 16)
    states = [
        each.read_text().rpartition(")")[2].split()[0] for each in Path(f"/proc/{pid}/task").glob("*/stat")
    ]
    return bool(caught >> (signal.SIGTERM - 1) & 1) and len(states) > 1 and set(states) == {"S"}


# --- a home that cannot be written ---------------------------------------------------------------------


@pytest.mark.skipif(os.getuid() != 0, reason="mounting needs root")
@pytest.mark.parametrize("verb", [["ps"], ["up"], ["claim", "task:A"]])
def test_a_read_only_home_that_was_used_before_gives_the_advice(tmp_path: Path, verb: list[str]) -> None:
    home = tmp_path / "h"
    with Daemon(home) as used:
        env = environment(used)
    script = f'mount --bind {home} {home} && mount -o remount,bind,ro {home} && exec {sys.executable} -m headcount "$@"'
    done = subprocess.run(
        ["unshare", "-m", "/bin/sh", "-c", script, "sh", *verb],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 4, done
    assert str(home) in done.stderr and "Read-only file system" in done.stderr
    assert "set HEADCOUNT_HOME to one that you can write" in done.stderr and "went wrong" not in done.stderr
