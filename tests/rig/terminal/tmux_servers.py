"""Real tmux servers of our own, and stand-in agents in their panes.

Rules of this file
  1. Every server has a socket below the test's directory; no other server is touched.
  2. A stand-in in a pane reads its commands from a fifo, so that hooks can be run as its children. Its stderr stays
     the terminal: tmux closes a pane whose terminal no process has open.
"""

import contextlib
import os
import shlex
import signal
import subprocess
import uuid
from pathlib import Path
from typing import IO

from tests.rig.agents.stand_in import Agent, program
from tests.rig.daemon.real_daemon import eventually


def has_ended(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


class Server:
    def __init__(self, base: Path, name: str = "default", **more: str) -> None:
        self.base = base
        base.mkdir(parents=True, exist_ok=True)
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(base), "TERM": "xterm-256color", "SHELL": "/bin/sh",
            "LANG": "C.UTF-8", "TMUX_TMPDIR": str(base), **more,
        }  # fmt: skip
        self.socket = str(base / f"tmux-{os.getuid()}" / name)
        self._name = name
        self.run("-f", "/dev/null", "new-session", "-d", "-s", "work", "-x", "100", "-y", "30", "/bin/sh")
        self.pid = int(self.run("display-message", "-p", "#{pid}"))

    def run(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, *words], env=self.env, capture_output=True, text=True, timeout=20
        )
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout.strip()

    def panes(self) -> dict[str, int]:
        """Pane id: pid of its process."""
        lines = self.run("list-panes", "-a", "-F", "#{pane_id} #{pane_pid}").splitlines()
        return {line.split()[0]: int(line.split()[1]) for line in lines}

    def window(self, *command: str, session: str = "work") -> str:
        """A new window; its pane's id."""
        return self.run("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", f"={session}:", "--", *command)

    def text(self, pane: str) -> str:
        return self.run("display-message", "-p", "-t", pane, "#{session_name}:#{window_index}.#{pane_index}")

    def current(self, session: str = "work") -> str:
        return self.run("display-message", "-p", "-t", f"={session}:", "#{pane_id}")

    def close(self) -> None:
        subprocess.run(
            ["tmux", "-L", self._name, "kill-server"], env=self.env, capture_output=True, timeout=20
        )
        Path(self.socket).unlink(missing_ok=True)


class _Piped:
    """What `Agent` needs of a process, for one that tmux started."""

    def __init__(self, pid: int, stdin: IO[str], stdout: IO[str]) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout

    def poll(self) -> int | None:
        return 0 if has_ended(self.pid) else None

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float = 10) -> None:
        eventually(lambda: has_ended(self.pid), timeout)


class PaneAgent(Agent):
    """`through_a_shell`: the pane's own process is a shell, and the agent its child."""

    def __init__(
        self,
        server: Server,
        directory: Path,
        *,
        through_a_shell: bool = False,
        session: str = "work",
        env: str = "",
    ) -> None:
        self.conversation = str(uuid.uuid4())
        self.cwd = directory
        claude = program(directory)
        fifo, out, mark = (directory / f"{self.conversation}.{each}" for each in ("in", "out", "pid"))
        os.mkfifo(fifo)
        os.mkfifo(out)
        quoted = [shlex.quote(str(each)) for each in (claude, fifo, out)]
        agent = f"{env} {quoted[0]} -s <{quoted[1]} >{quoted[2]}"
        if through_a_shell:
            line = f"cd {shlex.quote(str(directory))}; {agent}; exec /bin/sh"
        else:
            line = f"cd {shlex.quote(str(directory))}; exec {agent}"
        self.pane = server.window("/bin/sh", "-c", line, session=session)
        stdin = open(fifo, "w")  # noqa: SIM115
        stdout = open(out)  # noqa: SIM115
        stdin.write(f"echo $$ >{shlex.quote(str(mark))}\n")
        stdin.flush()
        pid = int(eventually(lambda: mark.exists() and mark.read_text().strip()))
        self.process = _Piped(pid, stdin, stdout)  # type: ignore[assignment]
        self.run("true")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


class Viewer:
    """A terminal attached to a session, as a person's."""

    def __init__(self, server: Server, session: str = "work") -> None:
        self._server = server
        self._master, slave = os.openpty()
        self.process = subprocess.Popen(
            ["tmux", "-L", server._name, "attach-session", "-t", f"={session}"],
            env=server.env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        )  # fmt: skip
        self.tty = os.ttyname(slave)
        os.close(slave)
        eventually(lambda: self.tty in server.run("list-clients", "-F", "#{client_tty}").splitlines())

    def sees(self) -> str:
        """The pane that is before it."""
        lines = self._server.run("list-clients", "-F", "#{client_tty} #{pane_id}").splitlines()
        return next(line.split()[1] for line in lines if line.split()[0] == self.tty)

    def close(self) -> None:
        self.process.kill()
        self.process.wait(10)
        os.close(self._master)
