"""Stand-in agents: harmless processes that the kernel shows as `claude` and that run real hooks.

Rules of this file
  1. A stand-in is a copy of the system's shell under the name `claude`, reading commands from a pipe:
     its comm, argv[0] and executable are an agent's, and what it starts is really its child.
  2. A hook is run as the real CLI runs it: `/bin/sh -c <line>`, payload on stdin, parent the agent.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import uuid
from pathlib import Path
from typing import Any

LINE = '(umask 077; { read -r s </proc/$PPID/stat; printf "%s\\n" "$s"; exec cat; } >>"$MAILBOX/$PPID.$$") 2>/dev/null; exit 0'


def program(directory: Path, name: str = "claude") -> Path:
    path = directory / name
    if not path.exists():
        directory.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath("/bin/sh"), path)
        path.chmod(0o755)
    return path


class Agent:
    def __init__(self, directory: Path, *, name: str = "claude", cwd: Path | None = None) -> None:
        self.conversation = str(uuid.uuid4())
        self.cwd = cwd or directory
        self.process = subprocess.Popen(
            [name, "-s"],
            executable=str(program(directory, name)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.cwd,
            env={"PATH": os.environ["PATH"], "HOME": str(directory)},
            text=True,
        )
        self.run("true")

    @property
    def pid(self) -> int:
        return self.process.pid

    def run(self, command: str) -> str:
        """Runs a shell command as the agent's own child and returns its first line of output."""
        assert self.process.stdin is not None and self.process.stdout is not None
        # no `$( )`: its subshell would be a second process that looks like the agent
        self.process.stdin.write(
            f"{command} >{self._scratch}; head -n 1 {self._scratch} | tr -d '\\n'; echo\n"
        )
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def payload(self, event: str, **fields: Any) -> str:
        return json.dumps(
            {"session_id": self.conversation, "cwd": str(self.cwd), "hook_event_name": event, **fields}
        )

    def hook(self, mailbox: Path, event: str, **fields: Any) -> None:
        """Drops a report as an installed hook does."""
        self.drop(mailbox, self.payload(event, **fields))

    def drop(self, mailbox: Path, payload: str) -> None:
        line = f"MAILBOX={shlex.quote(str(mailbox))}; {LINE}"
        # `sh` must be the agent's direct child, as in the real CLI: no subshell in between.
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"printf %s {shlex.quote(payload)} >{self._scratch}\n")
        self.process.stdin.write(f"/bin/sh -c {shlex.quote(line)} <{self._scratch}; echo dropped\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "dropped\n"

    @property
    def _scratch(self) -> str:
        return shlex.quote(str(self.cwd / f".payload-{self.pid}"))

    def curl(self, socket: Path, event: str, *headers: str, **fields: Any) -> str:
        """Posts a report over HTTP from a child of the agent, as a wrapper's hook does."""
        more = " ".join(f"-H {shlex.quote(each)}" for each in headers)
        return self.run(
            f"curl -s --unix-socket {shlex.quote(str(socket))} -H 'Content-Type: application/json' {more} "
            f"-d {shlex.quote(self.payload(event, **fields))} http://localhost/v1/hooks/claude-code"
        )

    def kill(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.wait(10)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def in_environment(directory: Path, more: dict[str, str]) -> Agent:
    """An agent that sees only those variables beside the necessary."""
    directory.mkdir(exist_ok=True)
    claude = Agent.__new__(Agent)
    claude.conversation, claude.cwd = str(uuid.uuid4()), directory
    claude.process = subprocess.Popen(
        ["claude", "-s"],
        executable=str(program(directory)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=directory,
        env={"PATH": os.environ["PATH"], "HOME": str(directory), **more},
        text=True,
    )
    claude.run("true")
    return claude
