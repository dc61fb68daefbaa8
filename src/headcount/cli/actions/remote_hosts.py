"""Other hosts over ssh: their rows for `ps --host`, their events for `watch --host`.

Rules
  1. Plain ssh runs plain headcount there: no server of ours, no port, no credential. Who may log in may look.
  2. A host that does not answer in time is `unknown`; its last rows stay, with their age.
  3. What a host answers is foreign text, and counts for its own rows only.
  4. A host's name is never taken for an option.
  5. A host that stops answering is reported once and tried again; the others go on.
  6. Every process that is started here ends with us.

Not here: drawing (present/table.py), the words of events (present/event_lines.py), claims shared between hosts (fleet).
"""

import hashlib
import json
import os
import queue
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from headcount import times
from headcount.cli import output
from headcount.client.event_stream import follow
from headcount.client.faults import ClientFault
from headcount.paths import Places
from headcount.wire import exit_codes

if TYPE_CHECKING:
    from headcount.wire.views import HostRow, SessionRow, StreamEvent

HERE = "here"
SSH = "HEADCOUNT_SSH"  # another program than ssh, with its arguments
WORDS_MOST = 200
SCALARS = (str, int, float, type(None))
DOCUMENTS = frozenset({"ended", "tmux", "tokens"})
LISTS: dict[str, type] = {"background": dict, "alarms": str, "groups": str, "claims": str}
NOT_TEXT = frozenset({"pid", "context_tokens", "context_window", "cost_usd", "provisional", "stalled"})
"""Fields of a row that are not a text; what is in none of these is one."""

SILENT = "host.silent"
ERRORS_READ = 4096  # of what ssh says, the end


class BadHost(ClientFault):
    exit_code = exit_codes.USAGE


class LastAnswer(NamedTuple):
    """What is known of one host."""

    host: str
    sessions: "list[SessionRow]"
    at: float | None  # when it said so; None: it never did
    fault: str | None  # why it does not answer now

    def marked(self, now: float) -> "list[SessionRow]":
        age = None if self.at is None else round(max(0.0, now - self.at), 3)
        more: SessionRow = {"host": self.host, "host_state": self.state, "host_age_s": age}
        if self.fault:
            more["liveness"] = "unknown"
        return [{**row, **more} for row in self.sessions]

    @property
    def state(self) -> str:
        return "unknown" if self.fault else "alive"

    def summary(self, now: float) -> "HostRow":
        age = None if self.at is None else round(max(0.0, now - self.at), 3)
        return {"name": self.host, "state": self.state, "age_s": age, "fault": self.fault}


def parse_hosts(text: str) -> list[str]:
    hosts = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    for host in hosts:
        if host.startswith("-") or not host.isprintable() or any(letter.isspace() for letter in host):
            raise BadHost("That is no name of a host.", "Write: headcount ps --host ws,other")
    if not hosts:
        raise BadHost("No host was named.", "Write: headcount ps --host ws,other")
    return hosts


def command(host: str, *words: str, env: Mapping[str, str] = os.environ) -> list[str]:
    program = shlex.split(env.get(SSH) or "ssh")
    wait = f"ConnectTimeout={round(times.HOST_WITHIN)}"
    return [*program, "-o", "BatchMode=yes", "-o", wait, "--", host, "headcount", *words]


def ask_all(hosts: list[str], *, ended: bool, env: Mapping[str, str] = os.environ) -> list[LastAnswer]:
    with ThreadPoolExecutor(max_workers=len(hosts)) as pool:
        return list(pool.map(lambda host: ask(host, ended=ended, env=env), hosts))


def ask(host: str, *, ended: bool, env: Mapping[str, str] = os.environ) -> LastAnswer:
    words = ["ps", "--json", *(["--all"] if ended else [])]
    try:
        done = subprocess.run(
            command(host, *words, env=env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=times.HOST_WITHIN,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _last(host, "it did not answer in time", env)
    except OSError as error:
        return _last(host, f"ssh could not be run: {error.strerror}", env)
    sessions = _sessions(done.stdout)
    if sessions is None:
        return _last(host, why(done.returncode, done.stderr, done.stdout), env)
    known = LastAnswer(host, sessions, time.time(), None)
    _keep(known, env)
    return known


def _sessions(output: bytes) -> "list[SessionRow] | None":
    """The answer is a line; a shell that greets everybody puts its own before and after it."""
    for line in (output, *output.splitlines()):
        try:
            rows = json.loads(line)["sessions"]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if isinstance(rows, list) and all(
            isinstance(row, dict) and isinstance(row.get("id"), str) for row in rows
        ):
            return [_plain(row) for row in rows]
    return None


def _plain(row: dict[str, object]) -> Any:
    """A row without what no row of ours has: another version's, or somebody's who answers in its place."""
    return {name: value for name, value in row.items() if _fits(name, value)}


def _fits(name: str, value: object) -> bool:
    if value is None:
        return True
    if name in DOCUMENTS:
        return isinstance(value, dict) and all(isinstance(each, SCALARS) for each in value.values())
    if name in LISTS:
        return isinstance(value, list) and all(isinstance(each, LISTS[name]) for each in value)
    return isinstance(value, SCALARS if name in NOT_TEXT else str)


def why(code: int, errors: bytes, output: bytes = b"") -> str:
    """Why a host gave no answer that can be read."""
    if code == 127:
        return "headcount is not installed there, or not on the PATH of a plain ssh command"
    said = errors.decode("utf-8", "replace").strip().splitlines()
    if said:
        return said[-1][:WORDS_MOST]
    instead = output.decode("utf-8", "replace").strip().splitlines()
    return (
        f'it said something else: "{instead[0][:WORDS_MOST]}"' if instead else f"ssh ended with code {code}"
    )


# --- what it said last -------------------------------------------------------------------------------


def _file(host: str, env: Mapping[str, str]) -> Path:
    name = hashlib.blake2s(host.encode(), digest_size=8).hexdigest()  # a name never becomes a path
    return Path(Places.from_environ(env).state) / "hosts" / f"{name}.json"


def _keep(known: LastAnswer, env: Mapping[str, str]) -> None:
    path = _file(known.host, env)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = path.with_suffix(f".{os.getpid()}")
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            json.dump({"host": known.host, "at": known.at, "sessions": known.sessions}, file)
        beside.rename(path)
    except OSError:
        return  # only the memory of it is lost


def _last(host: str, fault: str, env: Mapping[str, str]) -> LastAnswer:
    try:
        data = json.loads(_file(host, env).read_text("utf-8"))
        return LastAnswer(host, list(data["sessions"]), float(data["at"]), fault)
    except (OSError, ValueError, KeyError, TypeError):
        return LastAnswer(host, [], None, fault)


def follow_hosts(hosts: list[str]) -> "Iterator[StreamEvent]":
    """Events of here and there, for ever; `host.silent` when one does not answer."""
    told: queue.Queue[StreamEvent] = queue.Queue()
    children = Children()
    works = [threading.Thread(target=_here, args=(told,), daemon=True)]
    works += [threading.Thread(target=_there, args=(host, told, children), daemon=True) for host in hosts]
    for work in works:
        work.start()
    try:
        while True:
            yield told.get()
    finally:
        children.end()


class Children:
    """The ssh of each host. None is started once they were ended."""

    def __init__(self) -> None:
        self.of: dict[str, subprocess.Popen[bytes]] = {}
        self._lock, self._over = threading.Lock(), False

    def start(self, host: str, errors: IO[bytes]) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if self._over:
                return None
            self.of[host] = subprocess.Popen(
                command(host, "watch", "--json", env=os.environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
            return self.of[host]

    def end(self) -> None:
        with self._lock:
            self._over = True
            for child in self.of.values():
                child.terminate()


def _here(told: "queue.Queue[StreamEvent]") -> None:
    while True:
        try:
            for event in follow(output.client(), None):
                told.put({**event, "host": HERE})
        except ClientFault as fault:
            told.put(_silent(HERE, fault.message))
        time.sleep(times.HOST_RETRY_EVERY)


def _there(host: str, told: "queue.Queue[StreamEvent]", children: Children) -> None:
    was_silent = False
    while True:
        heard = False
        with tempfile.TemporaryFile() as errors:
            try:
                for event in _events(host, children, errors):
                    heard, was_silent = True, False
                    told.put({**event, "host": host})
                because = _why(children.of.get(host), errors)
            except OSError as error:
                because = f"ssh could not be run: {error.strerror}"
        if heard or not was_silent:
            told.put(_silent(host, f"{because}; what it shows is not known"))
            was_silent = True
        time.sleep(times.HOST_RETRY_EVERY)


def _why(child: "subprocess.Popen[bytes] | None", errors: IO[bytes]) -> str:
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - ERRORS_READ))
    code = child.returncode if child is not None else 0
    return why(code or 0, errors.read()) if code else "it does not answer"


def _events(host: str, children: Children, errors: IO[bytes]) -> "Iterator[StreamEvent]":
    child = children.start(host, errors)
    if child is None or child.stdout is None:
        return
    with child:
        for line in child.stdout:
            try:
                event: StreamEvent = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict) and isinstance(event.get("type"), str):
                yield event


def _silent(host: str, because: str) -> "StreamEvent":
    return {"type": SILENT, "host": host, "facts": {"because": because}}
