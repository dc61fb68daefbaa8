"""An agent that runs below a leftover of another: `setsid timeout 2h claude -p …`, and its starter is gone.

Rules of this file
  1. The supervisor carries the marks of its starter and passes none on.
  2. It ends by SIGTERM, and its agent with it: the hang-up is made visible by one that forwards the signal.
"""

import os
import shlex
import signal
import uuid

from tests.rig.agents.callers import marks
from tests.rig.agents.stand_in import Agent, program
from tests.rig.daemon.real_daemon import eventually
from tests.rig.terminal.tmux_servers import _Piped, has_ended

SUPERVISOR = """
read -r go <{gate}
trap 'kill -TERM $child; exit 0' TERM
env -i PATH="$PATH" HOME=/ {claude} -s <{stdin} >{stdout} &
child=$!
echo $child >{mark}.new; mv {mark}.new {mark}
wait
"""


class Supervised(Agent):
    """Below a supervisor that `starter` started; it is there once `begin` was called."""

    def __init__(self, starter: Agent) -> None:
        self.conversation = str(uuid.uuid4())
        self.cwd = starter.cwd
        base = self.cwd / f"supervised-{self.conversation}"
        names = ("gate", "stdin", "stdout", "mark")
        self._paths = {name: base.with_suffix(f".{name}") for name in names}
        for name in ("gate", "stdin", "stdout"):
            os.mkfifo(self._paths[name])
        quoted = {name: shlex.quote(str(path)) for name, path in self._paths.items()}
        script = base.with_suffix(".sh")
        script.write_text(SUPERVISOR.format(**quoted, claude=shlex.quote(str(program(self.cwd / "below")))))
        ready = base.with_suffix(".ready")
        words = ["env", *(f"{name}={value}" for name, value in marks(starter).items()), "/bin/sh"]
        body = f"echo $$ >{shlex.quote(str(ready))}; exec /bin/sh {shlex.quote(str(script))}"
        line = shlex.join(["setsid", "-f", *words, "-c", body]) + " </dev/null >/dev/null 2>&1"
        assert starter.process.stdin is not None
        starter.process.stdin.write(line + "\n")
        starter.process.stdin.flush()
        self.supervisor = int(eventually(lambda: ready.exists() and ready.read_text().strip()))
        self._pidfd = os.pidfd_open(self.supervisor)

    def begin(self) -> None:
        self._paths["gate"].write_text("go\n")
        stdin = open(self._paths["stdin"], "w")  # noqa: SIM115
        stdout = open(self._paths["stdout"])  # noqa: SIM115
        pid = int(eventually(lambda: self._paths["mark"].exists() and self._paths["mark"].read_text()))
        self.process = _Piped(pid, stdin, stdout)  # type: ignore[assignment]
        self.run("true")

    def close(self) -> None:
        if not has_ended(self.supervisor):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
        if hasattr(self, "process"):
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait(10)
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()
