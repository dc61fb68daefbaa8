"""`watch --host`: the events of several hosts in one line of time, each with its host.

Rules of this file
  1. A host that goes silent is told once, and tried again; the others go on.
  2. Every child is ended with us.

Not here: one host's rows (cli/actions/remote_hosts.py), words (present/event_lines.py).
"""

import json
import os
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import IO, Any

from headcount import times
from headcount.cli import output
from headcount.cli.actions import remote_hosts
from headcount.client.event_stream import follow
from headcount.client.faults import ClientFault

Event = dict[str, Any]
SILENT = "host.silent"
ERRORS_READ = 4096  # of what ssh says, the end


def follow_hosts(hosts: list[str]) -> Iterator[Event]:
    """Events of here and there, for ever; `host.silent` when one does not answer."""
    told: queue.Queue[Event] = queue.Queue()
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
                remote_hosts.command(host, "watch", "--json", env=os.environ),
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


def _here(told: "queue.Queue[Event]") -> None:
    while True:
        try:
            for event in follow(output.client(), None):
                told.put({**event, "host": remote_hosts.HERE})
        except ClientFault as fault:
            told.put(_silent(remote_hosts.HERE, fault.message))
        time.sleep(times.HOST_RETRY_EVERY)


def _there(host: str, told: "queue.Queue[Event]", children: Children) -> None:
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
    return remote_hosts.why(code or 0, errors.read()) if code else "it does not answer"


def _events(host: str, children: Children, errors: IO[bytes]) -> Iterator[Event]:
    child = children.start(host, errors)
    if child is None or child.stdout is None:
        return
    with child:
        for line in child.stdout:
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict) and isinstance(event.get("type"), str):
                yield event


def _silent(host: str, because: str) -> Event:
    return {"type": SILENT, "host": host, "facts": {"because": because}}
