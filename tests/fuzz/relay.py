"""A relay: requests made here are sent by a process in another place, so that the kernel names that one as the caller.

Rules of this file
  1. One connection to the daemon for each request; the answer is read to its end, of a stream its beginning.
  2. The operator's relay has no agent above it and no marks; an agent's relay is the agent's own child.
"""

import shlex
import socket
import struct
import subprocess
import sys
from pathlib import Path

from tests.rig.agents.callers import bare
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import eventually

WITHIN = 60.0

PROGRAM = """
import socket, struct, sys
door, daemon = sys.argv[1:]
server = socket.socket(socket.AF_UNIX)
server.bind(door)
server.listen()
link, _ = server.accept()
asked = link.makefile("rb")
while head := asked.read(4):
    data = asked.read(struct.unpack("!I", head)[0])
    got = b""
    try:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(30)
            sock.connect(daemon)
            sock.sendall(data)
            while piece := sock.recv(1 << 16):
                got += piece
                if b"text/event-stream" in got.partition(b"\\r\\n\\r\\n")[0] and b"\\n\\n" in got.partition(b"\\r\\n\\r\\n")[2]:
                    break
    except OSError as error:
        got = got or type(error).__name__.encode()
    link.sendall(struct.pack("!I", len(got)) + got)
"""


class Relay:
    def __init__(self, directory: Path, name: str, daemon: Path, agent: Agent | None = None) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        script, door = directory / "relay.py", directory / f"{name}.sock"
        script.write_text(PROGRAM)
        words = [sys.executable, "-I", "-S", str(script), str(door), str(daemon)]
        if agent is None:
            subprocess.run(["setsid", "-f", *words], env=bare(), check=True, stdin=subprocess.DEVNULL)
        else:
            agent.run(f"{shlex.join(words)} </dev/null >/dev/null 2>&1 & echo")
        eventually(door.exists, within=30)
        self._link = socket.socket(socket.AF_UNIX)
        self._link.settimeout(WITHIN)
        eventually(lambda: self._link.connect_ex(str(door)) == 0, within=30)
        self._answers = self._link.makefile("rb")

    def send(self, data: bytes) -> bytes:
        self._link.sendall(struct.pack("!I", len(data)) + data)
        [size] = struct.unpack("!I", self._answers.read(4))
        return self._answers.read(size)

    def close(self) -> None:
        self._answers.close()
        self._link.close()
