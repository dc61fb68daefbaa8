"""What an agent leaves: processes that it started, in every way in which they outlive it.

Rules of this file
  1. Each waits on a pipe of the test and ends with it, whatever became of its agent.
  2. It is not signalled here: a test sets how it reacts to a signal, and reads what it got.
"""

import os
import select
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.rig.agents.callers import marks
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import eventually

NOBODY = 65_534

SCRIPT = """
import os, select, signal, sys
ready, pipe, trapped = sys.argv[1], sys.argv[2], sys.argv[3:]
for name in trapped:
    signal.signal(getattr(signal, name), lambda *_: None)
signal.signal(signal.SIGUSR1, lambda *_: os.setresuid(65534, 65534, 65534))
fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
open(ready + ".new", "w").write(str(os.getpid()))
os.rename(ready + ".new", ready)
poll = select.poll()
poll.register(fd, select.POLLIN)
while not poll.poll():
    pass
"""


@dataclass
class Left:
    pid: int
    pidfd: int
    writer: int

    def end(self) -> None:
        if self.writer >= 0:
            os.write(self.writer, b"x")

    def become_nobody(self) -> None:
        """It changes its user; only root's can."""
        signal.pidfd_send_signal(self.pidfd, signal.SIGUSR1)
        eventually(lambda: os.stat(f"/proc/{self.pid}").st_uid == NOBODY)

    def has_ended(self) -> bool:
        return bool(select.select([self.pidfd], [], [], 0)[0])


@contextmanager
def left_by(
    agent: Agent, *, marked: bool = True, how: str = "&", traps: tuple[str, ...] = (), **env: str
) -> Iterator[Left]:
    """A process that the agent starts and does not wait for. `how`: "&" its child, "setsid" a session of its own,
    "double fork" an orphan from the start."""
    number = len(list(agent.cwd.glob("left-*.pipe")))
    base = agent.cwd / f"left-{agent.pid}-{number}"
    pipe, ready = base.with_suffix(".pipe"), base.with_suffix(".ready")
    script = agent.cwd / "left.py"
    script.write_text(SCRIPT)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(pipe, os.O_WRONLY)
    variables = {**(marks(agent) if marked else {}), **env}
    words = ["env", *(f"{name}={value}" for name, value in variables.items())]
    words += [os.path.realpath(sys.executable), "-I", "-S", str(script), str(ready), str(pipe), *traps]
    line = shlex.join(words) + " </dev/null >/dev/null 2>&1"
    lines = {
        "&": f"{line} &",
        "setsid": f"setsid -f {line}",
        "double fork": f"/bin/sh -c {shlex.quote(f'( {line} & )')}",
    }
    assert agent.process.stdin is not None
    agent.process.stdin.write(lines[how] + "\n")
    agent.process.stdin.flush()
    eventually(ready.exists)
    pid = int(ready.read_text())
    left = Left(pid, os.pidfd_open(pid), writer)
    try:
        yield left
    finally:
        if not left.has_ended():
            signal.pidfd_send_signal(left.pidfd, signal.SIGCONT)
            signal.pidfd_send_signal(left.pidfd, signal.SIGKILL)
        for fd in (left.pidfd, writer, reader):
            os.close(fd)
