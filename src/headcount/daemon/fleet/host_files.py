"""The fleet's files: who this host is, which database it joined, and the password, apart from both.

Rules
  1. All are 0600 in the state directory, written beside their place and moved there whole.
  2. The host's id is minted once a home and outlives leaving: coming back is coming back.
  3. The password is in a file that only the database driver reads. Nothing here gives it out again.

Not here: what an address is (store/postgres/address.py).
"""

import json
import os
import secrets
import socket
from pathlib import Path

from msgspec import Struct

from headcount.private_files import read

HOST_BYTES = 8
FILE_MOST = 64 * 1024  # bytes
PRIVATE = 0o600


class Joined(Struct, frozen=True):
    name: str
    conninfo: str  # without a password


class FleetFiles:
    def __init__(self, state: Path) -> None:
        self._joined = state / "fleet.json"
        self._passfile = state / "fleet.pass"
        self._host = state / "host-id"

    def host(self) -> str:
        if not self._host.exists():
            _write(self._host, secrets.token_hex(HOST_BYTES))
        return read(str(self._host), FILE_MOST).decode("ascii").strip()

    def read(self) -> Joined | None:
        """None: this home has joined no fleet."""
        if not self._joined.exists():
            return None
        data = json.loads(read(str(self._joined), FILE_MOST))
        return Joined(data["name"], data["conninfo"])

    def read_or_none(self) -> Joined | None:
        """As `read`; what cannot be read is as if it was not there."""
        try:
            return self.read()
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def password_line(self) -> str | None:
        """To be put back, never to be looked at."""
        return self._passfile.read_text("utf-8") if self._passfile.exists() else None

    @property
    def passfile(self) -> str | None:
        return str(self._passfile) if self._passfile.exists() else None

    def write(self, joined: Joined) -> None:
        _write(self._joined, json.dumps({"name": joined.name, "conninfo": joined.conninfo}))

    def write_password(self, line: str | None) -> None:
        if line is None:
            self._passfile.unlink(missing_ok=True)
        else:
            _write(self._passfile, line)

    def remove(self) -> None:
        self._joined.unlink(missing_ok=True)
        self._passfile.unlink(missing_ok=True)


def default_name() -> str:
    return socket.gethostname().partition(".")[0] or "host"


def _write(path: Path, text: str) -> None:
    beside = path.with_name(path.name + ".new")
    beside.unlink(missing_ok=True)
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
    with open(fd, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.rename(path)
