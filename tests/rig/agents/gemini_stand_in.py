"""Stand-ins for Gemini CLI: a copy of the system's shell called `node`, running a script called `gemini`.

Rules of this file
  1. The session's form is started by node's full path; the launcher's form by its name alone, as `env node` does it.
  2. What it runs is read line by line, so that what it starts is really its child.
"""

import json
import os
import shlex
import subprocess
from pathlib import Path

from tests.rig.agents.stand_in import LINE, program

SCRIPT = 'while read -r line; do eval "$line"; done\n'


def installed(directory: Path) -> tuple[Path, Path]:
    """The `node` and the script."""
    script = directory / "bin" / "gemini"
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(SCRIPT)
    return program(directory, "node"), script


class GeminiStandIn:
    def __init__(
        self, directory: Path, *, launcher: bool = False, inside: "GeminiStandIn | None" = None
    ) -> None:
        self._scratch = directory
        self.node, self.script = installed(directory)
        called = "node" if launcher else str(self.node)
        self._process: subprocess.Popen[str] | None = None
        if inside is None:
            self._process = subprocess.Popen(
                [called, str(self.script)],
                executable=str(self.node),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=directory,
                env={"PATH": f"{directory}:{os.environ['PATH']}", "HOME": str(directory)},
                text=True,
            )
            assert self._process.stdin is not None
            self._commands = self._process.stdin
            self.pid = self._process.pid
            return
        pipe, told = directory / "inner.pipe", directory / "inner.pid"
        os.mkfifo(pipe)
        inside.run(f"{called} {self.script} <{pipe} &")
        self._commands = pipe.open("w")
        self.run(f"echo $$ >{told}.new; mv {told}.new {told}")
        while not told.exists():
            assert inside._process is not None and inside._process.poll() is None
        self.pid = int(told.read_text())

    def run(self, command: str) -> None:
        self._commands.write(f"{command}\n")
        self._commands.flush()

    def hook(self, mailbox: Path, event: str, conversation: str, **fields: object) -> None:
        payload = {"session_id": conversation, "cwd": str(self._scratch), "hook_event_name": event, **fields}
        file = self._scratch / f"payload-{self.pid}-{event}"
        file.write_text(json.dumps(payload))
        line = f"MAILBOX={shlex.quote(str(mailbox))}; {LINE}"
        self.run(f"/bin/sh -c {shlex.quote(line)} <{file}")

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        else:
            self._commands.close()
