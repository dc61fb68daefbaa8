"""A crowd: many cheap processes that the kernel shows as agents.

Rules of this file
  1. Each is a copy of the system's `sleep` under the name `claude`: comm, argv[0] and executable are an
     agent's, and it costs a hundred pages.
  2. They are ended by their pidfds, opened while we are their unreaped parent.
  3. All of them are over when the crowd is closed.

Not here: what they report (mailbox_files.py).
"""

import os
import shutil
import signal
from pathlib import Path


class Member:
    __slots__ = ("conversation", "pid", "pidfd", "stat")

    def __init__(self, program: str, nth: int, at: int | None = None) -> None:
        if at is not None:  # exactly this pid; possible only in a pid namespace of our own
            Path("/proc/sys/kernel/ns_last_pid").write_text(str(at - 1))
        self.pid = os.posix_spawn(program, ["claude", "infinity"], {"PATH": os.defpath})
        self.pidfd = os.pidfd_open(self.pid)
        assert at in (None, self.pid), (at, self.pid)
        self.conversation = f"crowd-{os.getpid()}-{nth}-{self.pid}"
        self.stat = b""

    def learn_stat(self) -> None:
        """The stat line as a hook of this process would read it (after exec, or its name is not yet its own)."""
        while b"(claude)" not in self.stat:
            self.stat = Path(f"/proc/{self.pid}/stat").read_bytes()

    def kill(self) -> None:
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def reap(self) -> None:
        os.waitpid(self.pid, 0)
        os.close(self.pidfd)


def program(directory: Path) -> str:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "claude"
    if not path.exists():
        shutil.copy("/bin/sleep", path)
        path.chmod(0o755)
    return str(path)


class Crowd:
    def __init__(self, directory: Path, size: int) -> None:
        self.directory = directory
        path = program(directory)
        self.members = [Member(path, nth) for nth in range(size)]
        for member in self.members:
            member.learn_stat()

    def take(self) -> Member:
        return self.members.pop()

    def __len__(self) -> int:
        return len(self.members)

    def __enter__(self) -> "Crowd":
        return self

    def __exit__(self, *_: object) -> None:
        for member in self.members:
            member.kill()
        for member in self.members:
            member.reap()
        self.members.clear()
