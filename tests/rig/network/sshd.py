"""A real sshd on loopback with keys of its own, and the words by which ssh reaches it."""

import os
import shlex
import shutil
import socket
import subprocess
import time
from pathlib import Path

from tests.rig.network.postgres import free_port

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"


def is_possible() -> bool:
    return os.path.exists(SSHD) and shutil.which("ssh") is not None and shutil.which("ssh-keygen") is not None


class Sshd:
    """A login gets `environment` and the test's `headcount`."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        directory.mkdir(parents=True)
        directory.chmod(0o700)
        self.port = free_port()
        for name in ("host", "user"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name)], check=True
            )
        shutil.copy(directory / "user.pub", directory / "authorized")
        words = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        config = directory / "config"
        config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {directory}/host\nPidFile none\n"
            f"AuthorizedKeysFile {directory}/authorized\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
            f'ForceCommand env -i {words} sh -c "$SSH_ORIGINAL_COMMAND"\n'
        )
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        with open(directory / "log", "ab") as log:
            self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(config)], stderr=log)
        self.ssh = shlex.join([
            "ssh", "-F", "none", "-p", str(self.port), "-i", str(directory / "user"), "-o", "IdentitiesOnly=yes",
            "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={directory}/known", "-o", "LogLevel=ERROR",
        ])  # fmt: skip
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline
                time.sleep(0.02)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)

    def __enter__(self) -> "Sshd":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
