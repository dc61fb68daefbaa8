"""What a launched agent of no known kind left: the file of its token, which its children carry, names it and no other."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from headcount.client.daemon_access import VARIABLE
from tests.rig.agents.commands_inside import command, environment, outside
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="environments are read from /proc"
)

ITEM = "task:UE"
QUIET = "</dev/null >/dev/null 2>&1"
WAYS = {
    "child": f"sleep 300 {QUIET} & echo $!",
    "setsid": f"setsid sleep 300 {QUIET} & echo $!",
    "nohup": f"nohup sleep 300 {QUIET} & echo $!",
    "nobody's child": f"(sleep 300 {QUIET} & echo $!)",
}


HOLDS = """
import signal, subprocess, sys
from headcount.client.transport.connection import Connection
answer = Connection(sys.argv[1]).call("POST", "/v1/claims", {"item": "task:UE", "own": True, "until_empty": True})
assert answer.status == 200, answer
quiet = subprocess.DEVNULL
print(subprocess.Popen(["sleep", "300"], stdin=quiet, stdout=quiet, stderr=quiet).pid, flush=True)
signal.pause()
"""


class Launched:
    """`headcount launch --agent my-bot -- bash`, and what is typed into it."""

    def __init__(self, daemon: Daemon, name: str, started: ExitStack) -> None:
        self.daemon, self.name, self._started = daemon, name, started
        words = command("launch", "--agent", "my-bot", "--name", name, "--", "bash", "--norc", "--noprofile")
        self.process = subprocess.Popen(
            words, env=environment(daemon), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.callback(self.kill)
        self.id = str(daemon.session(name=name)["id"])
        self.token = self.run(f'echo "${VARIABLE}"')

    def run(self, line: str) -> str:
        """The last line that it prints."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def start(self, line: str) -> int:
        pid = int(self.run(line))
        self._started.enter_context(ended_at_last(pid))
        return pid

    def headcount(self, *words: str) -> int:
        return int(self.run(f"{shlex.join(command(*words))} >/dev/null 2>&1; echo $?"))

    def kill(self) -> None:
        self.process.kill()
        with suppress(BrokenPipeError):
            self.process.__exit__(None, None, None)  # closes its pipes and waits

    def die(self) -> None:
        self.kill()
        eventually(lambda: self.daemon.sessions(id=self.id, liveness="ended"))


@contextmanager
def ended_at_last(pid: int) -> Iterator[None]:
    fd = os.pidfd_open(pid)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(fd, signal.SIGKILL)
        os.close(fd)


Launch = Callable[[str], Launched]


@pytest.fixture
def launch(daemon: Daemon) -> Iterator[Launch]:
    with ExitStack() as started:
        yield lambda name: Launched(daemon, name, started)


def left(daemon: Daemon) -> dict[int, dict[str, Any]]:
    """Those that are there, by pid."""
    rows = daemon.get("/v1/leftovers")["leftovers"]
    return {row["pid"]: row for row in rows if row["kind"] == "process"}


def end(pid: int) -> None:
    fd = os.pidfd_open(pid)
    signal.pidfd_send_signal(fd, signal.SIGKILL)
    os.close(fd)


def carried(pid: int) -> str | None:
    rows = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(row.partition("=")[::2] for row in rows).get(VARIABLE)


@pytest.mark.parametrize("way", WAYS)
def test_until_empty_waits_for_what_a_launched_agent_left_however_it_was_started(
    daemon: Daemon, launch: Launch, way: str
) -> None:
    first, heir = launch("first"), launch("heir")
    assert first.headcount("claim", ITEM) == 0
    pid = first.start(WAYS[way])
    first.die()
    assert not Path(first.token).exists()  # it ended with its process, and is remembered
    assert heir.headcount("claim", ITEM, "--until-empty") == 3
    row = eventually(lambda: left(daemon).get(pid))
    assert row["session"] == first.id and f"{VARIABLE} in its environment" in row["evidence"]
    assert heir.headcount("claim", ITEM, "--until-empty") == 3
    end(pid)
    eventually(lambda: heir.headcount("claim", ITEM, "--until-empty") == 0)


def test_it_is_found_also_when_the_death_and_the_files_end_were_seen_by_nobody(
    daemon: Daemon, launch: Launch
) -> None:
    first = launch("first")
    assert first.headcount("claim", ITEM, "--until-empty") == 0
    pid = first.start(WAYS["setsid"])
    daemon.stop()
    first.kill()
    daemon.start()
    row = eventually(lambda: left(daemon).get(pid))
    assert row["session"] == first.id
    assert launch("heir").headcount("claim", ITEM) == 3


def test_a_made_up_path_and_the_file_of_a_living_session_are_nobodys_leftovers(
    daemon: Daemon, launch: Launch
) -> None:
    first, living = launch("first"), launch("living")
    made_up = str(Path(first.token).with_name("0123456789abcdef"))
    assert len(Path(made_up).name) == len(Path(first.token).name)
    mine = first.start(WAYS["nobody's child"])
    stranger = living.start(f"({VARIABLE}={made_up} setsid sleep 300 {QUIET} & echo $!)")
    others = living.start(WAYS["nobody's child"])
    first.die()
    eventually(lambda: mine in left(daemon))
    assert {mine, stranger, others}.isdisjoint(left(daemon).keys() - {mine})
    naive = {each for each in (mine, stranger, others) if carried(each) is not None}
    assert naive == {mine, stranger, others}  # who takes everybody with such a mark takes all three
    assert carried(others) == living.token


def test_what_a_session_inside_another_started_is_the_inner_ones_and_no_leftover_while_that_lives(
    daemon: Daemon, launch: Launch, tmp_path: Path
) -> None:
    outer = launch("outer")
    told = tmp_path / "told"
    body = f"(sleep 300 {QUIET} & echo $! >{told}.new; mv {told}.new {told}); exec sleep 300"
    words = command("launch", "--agent", "inner-bot", "--name", "inner", "--", "sh", "-c", body)
    inside = outer.start(f"setsid {shlex.join(words)} {QUIET} & echo $!")
    eventually(told.exists)
    pid, own = int(told.read_text()), outer.start(WAYS["setsid"])
    with ended_at_last(pid):
        inner = daemon.session(name="inner")["id"]
        assert carried(pid) not in (None, outer.token)
        outer.die()
        eventually(lambda: own in left(daemon))
        assert left(daemon).keys().isdisjoint({pid, inside})
        end(inside)
        row = eventually(lambda: left(daemon).get(pid))
        assert row["session"] == inner


def test_a_launched_program_holds_for_itself_and_what_it_leaves_is_searched_for(
    daemon: Daemon, launch: Launch, tmp_path: Path
) -> None:
    heir, script = launch("heir"), tmp_path / "holds.py"
    script.write_text(HOLDS)
    words = command("launch", "--agent", "my-bot", "--", sys.executable, str(script), str(daemon.socket))
    with subprocess.Popen(words, env=environment(daemon), stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        pid = int(holder.stdout.readline())
        with ended_at_last(pid):
            holder.kill()
            holder.wait()
            eventually(lambda: pid in left(daemon))
            assert heir.headcount("claim", ITEM) == 3
            end(pid)
            eventually(lambda: heir.headcount("claim", ITEM) == 0)


def test_what_was_left_is_listed_and_lives_on(daemon: Daemon, launch: Launch) -> None:
    first = launch("first")
    pid = first.start(WAYS["setsid"])
    first.die()
    eventually(lambda: pid in left(daemon))
    assert str(pid) in outside(daemon, "leftovers").out
    assert carried(pid) == first.token  # it runs
