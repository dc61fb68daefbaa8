"""The stage of the demo: a temporary home with a daemon of its own, and harmless stand-ins for agents.

Rules
  1. A stand-in is the system's shell under the file name `claude`: to the kernel, and so to the daemon, an
     agent. It only reads cues from a pipe and drops hook reports by the very line that hooks use.
  2. Everything started here is ended through a handle that is held here. A stand-in whose demo died reads
     the end of its pipe and leaves by itself.
  3. Nothing outside the temporary directory is written.

Not here: who plays what and when and drawing (commands/demo.py).
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from headcount.client.daemon_access import DaemonAccess
from headcount.client.faults import ClientFault, Unavailable
from headcount.paths import Places

SHELLS = ("/bin/dash", "/bin/bash", "/usr/bin/bash", "/bin/sh")

DROP = """\
(umask 077; { read -r s </proc/$PPID/stat; printf '%s\\n' "$s"; exec cat; } >>"$MAILBOX/$PPID.$$") 2>/dev/null; exit 0
"""

STAND_IN = """\
# A harmless stand-in: for each cue, run the hook line with that report, as a real agent would.
while read -r cue; do
  /bin/sh "$1" <"$2/$cue.json"
done
"""


class StandIn:
    """One agent of the demo: a process of ours, and the reports that it can drop."""

    def __init__(self, stage: "Stage", name: str, repository: str, branch: str) -> None:
        self.name = name
        self.conversation = str(uuid.uuid4())
        self.directory = stage.repository(repository, branch)
        self._reports = stage.directory(f"reports/{name}")
        self._count = 0
        self._process = subprocess.Popen(
            [str(stage.shell), str(stage.script), str(stage.hook), str(self._reports)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.directory,
            env={"PATH": os.defpath, "HOME": str(stage.root)},
            start_new_session=True,  # Ctrl-C is for the demo, which then ends its cast in order
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def reports(self, event: str, **fields: object) -> None:
        """Have it drop one hook report."""
        self._count += 1
        payload = {
            "session_id": self.conversation,
            "transcript_path": f"{self.directory}/{self.conversation}.jsonl",
            "cwd": str(self.directory),
            "permission_mode": "default",
            "hook_event_name": event,
            "session_title": self.name,
            **fields,
        }
        (self._reports / f"{self._count}.json").write_text(json.dumps(payload))
        assert self._process.stdin is not None
        self._process.stdin.write(f"{self._count}\n".encode())
        self._process.stdin.flush()

    def die(self) -> None:
        """SIGKILL, without a word to anybody."""
        self._process.kill()
        self.leave()

    def leave(self) -> None:
        """End it if it is still there, and reap it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.kill()
        self._process.wait()


class Stage:
    def __init__(self, env: Mapping[str, str]) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="headcount-demo-"))
        self.cast: list[StandIn] = []
        self._daemon: int | None = None  # a pidfd
        try:
            self._set(env)
        except BaseException:
            self.close()
            raise

    def _set(self, env: Mapping[str, str]) -> None:
        places = Places.below(str(self.root / "home"))
        config = self.directory("agents")  # so that the agents of the house are not read into the play
        daemon_env = {**env, "HEADCOUNT_HOME": str(places.state), "CLAUDE_CONFIG_DIR": str(config)}
        self.client = DaemonAccess(places, daemon_env, autostart=True, say=lambda line: None)
        self.shell = self._shell()
        self.script = self.root / "stand-in.sh"
        self.script.write_text(STAND_IN)
        self.hook = self.root / "hook.sh"
        self.hook.write_text(DROP.replace("$MAILBOX", places.mailbox))
        pid = self._started()
        if hasattr(os, "pidfd_open"):
            self._daemon = os.pidfd_open(pid)

    def _started(self) -> int:
        """Its pid. A daemon that is on its way could be ended by nobody. Signals interrupt the main thread alone, so it is started
        by another, which is waited for even then; whoever insists is heard at once."""
        with ThreadPoolExecutor(max_workers=1) as starting:
            return int(starting.submit(self.client.get, "/healthz").result()["pid"])

    def enter(self, name: str, repository: str, branch: str) -> StandIn:
        stand_in = StandIn(self, name, repository, branch)
        self.cast.append(stand_in)
        return stand_in

    def directory(self, name: str) -> Path:
        made = self.root / name
        made.mkdir(parents=True, exist_ok=True)
        return made

    def repository(self, name: str, branch: str) -> Path:
        """A directory that looks like a checkout of that branch."""
        git = self.directory(f"src/{name}/.git")
        (git / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        return git.parent

    def close(self) -> None:
        """End the cast, the daemon and the directory, whatever state they are in."""
        for stand_in in self.cast:
            stand_in.leave()
        client = getattr(self, "client", None)
        if client is not None:
            self._stop(client)
        if self._daemon is not None:
            os.close(self._daemon)
        shutil.rmtree(self.root, ignore_errors=True)

    def _stop(self, client: DaemonAccess) -> None:
        try:
            client.stop()
        except ClientFault:
            if self._daemon is not None:  # deaf: the handle was taken when it was ours beyond doubt
                signal.pidfd_send_signal(self._daemon, signal.SIGKILL)
        client.close()

    def _shell(self) -> Path:
        """A copy of a shell under the name of an agent. Busybox is many programs by name: not that one."""
        found = next(
            (path for path in SHELLS if Path(path).exists() and Path(path).resolve().name != "busybox"), None
        )
        if found is None:
            raise Unavailable("The demo needs dash or bash for its stand-ins; neither is here.")
        copy = self.directory("bin") / "claude"
        shutil.copyfile(found, copy)
        copy.chmod(0o700)
        try:
            subprocess.run([str(copy), "-c", ":"], check=True, timeout=None)
        except OSError as error:
            raise Unavailable(
                f"Programs cannot be run in {self.root} ({error.strerror}).",
                "Set TMPDIR to a directory that is not mounted noexec.",
            ) from None
        return copy
