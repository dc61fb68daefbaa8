"""The faults of a disk, each with how it begins and ends, and how the daemon says it.

Rules of this file
  1. Each is real where that can be had: a disk that is full or has no inodes is. What cannot be had under a running daemon
     is injected into its calls.
"""

import contextlib
import os
import random
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Protocol

from tests.rig.agents.crowd import Crowd, Member, program
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.kernel.small_disk import fill

CALLS = "pwrite64,fdatasync"
SPARE = 14  # descriptors that are left
MORE = 24  # agents that come when there are hardly any


class Fault(Protocol):
    def begin(self) -> None: ...

    def is_said(self) -> bool: ...

    def is_refused_at_a_start(self) -> bool:
        """After a kill in its middle: a start says why it cannot, or there is none."""
        ...

    def end(self) -> None: ...

    def is_over(self) -> bool: ...


class _Kind:
    def __init__(self, daemon: Daemon, crowd: Crowd, chance: random.Random) -> None:
        self._daemon = daemon
        self._crowd = crowd
        self._chance = chance

    def begin(self) -> None:
        raise NotImplementedError

    def is_said(self) -> bool:
        if self._daemon.get("/healthz")["ok"]:
            return False
        return any("nothing can be stored" in each for each in self._daemon.get("/v1/status")["warnings"])

    def is_refused_at_a_start(self) -> bool:
        return True

    def end(self) -> None:
        raise NotImplementedError

    def is_over(self) -> bool:
        return True


class Injected(_Kind):
    """Every write and sync of the running daemon fails."""

    how = "error=EIO"

    def begin(self) -> None:
        strace = shutil.which("strace")
        assert strace is not None, "strace is missing: `apt install strace`"
        argv = [strace, "-f", "-p", str(self._daemon.pid), "-o", "/dev/null", "-e", f"trace={CALLS}"]
        self._tracer = subprocess.Popen([*argv, "-e", f"inject={CALLS}:{self.how}"], stderr=subprocess.PIPE)
        assert self._tracer.stderr is not None and b"attached" in self._tracer.stderr.readline()

    def end(self) -> None:
        self._tracer.terminate()
        self._tracer.wait(10)
        assert self._tracer.stderr is not None
        self._tracer.stderr.close()


class NowAndThen(Injected):
    """Every third of them, so that some of what is written together fails."""

    how = "error=EIO:when=2+3"

    def is_said(self) -> bool:
        counted = str(self._daemon.call("GET", "/metrics").data)
        return any(line.split()[-1] != "0" for line in counted.splitlines() if "failed_commits" in line[:60])


class Full(_Kind):
    def begin(self) -> None:
        self._filler = fill(self._daemon.home)

    def end(self) -> None:
        self._filler.unlink()


class ReadOnly(Injected):
    """Under a running daemon by injection; after a kill the disk itself."""

    how = "error=EROFS"

    def is_refused_at_a_start(self) -> bool:
        subprocess.run(["mount", "-o", "remount,ro", self._daemon.home], check=True)
        try:
            self._daemon.start()
            return "read-only" in self._daemon.word.lower()
        finally:
            subprocess.run(["mount", "-o", "remount,rw", self._daemon.home], check=True)


class Inodes(_Kind):
    """No file can be made: hooks cannot report by file. What is in the store's own files goes on."""

    def begin(self) -> None:
        self._made = self._daemon.home / "many"
        self._made.mkdir()
        with contextlib.suppress(OSError):
            for nth in range(10_000):
                os.close(os.open(self._made / str(nth), os.O_CREAT | os.O_WRONLY, 0o600))

    def is_said(self) -> bool:
        return any("no room for more files" in each for each in self._daemon.get("/v1/status")["warnings"])

    def end(self) -> None:
        shutil.rmtree(self._made)

    def is_over(self) -> bool:
        return not self.is_said()


class Descriptors(_Kind):
    """Hardly any is left, and then more agents come than there are."""

    def begin(self) -> None:
        used = len(os.listdir(f"/proc/{self._daemon.pid}/fd"))
        self._hard = resource.prlimit(self._daemon.pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(self._daemon.pid, resource.RLIMIT_NOFILE, (used + SPARE, self._hard))
        path = program(Path(self._crowd.directory))
        more = [Member(path, 500 + nth) for nth in range(MORE)]
        for member in more:
            member.learn_stat()
            drop(self._daemon.mailbox, member, payload(member, "SessionStart", source="startup"))
        self._crowd.members += more

    def is_said(self) -> bool:
        status = self._daemon.get("/v1/status")
        return status["polled"] > 0 and any("few descriptors" in each for each in status["warnings"])

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(self._daemon.pid, resource.RLIMIT_NOFILE, (self._hard, self._hard))

    def is_over(self) -> bool:
        return int(self._daemon.get("/v1/status")["polled"]) == 0


FAULTS = {
    "EIO": Injected,
    "now and then EIO": NowAndThen,
    "full": Full,
    "read-only": ReadOnly,
    "inodes": Inodes,
    "descriptors": Descriptors,
}
