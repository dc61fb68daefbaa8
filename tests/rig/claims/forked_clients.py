"""Forked programs: a scene with a client that has a connection already, played by a process of its own.

A test process with threads is no place to fork. `naive` plays it with a client that does not ask who it is.
"""

import json
import subprocess
import sys
from typing import Any

from tests.rig.agents.commands_inside import MARKS, environment
from tests.rig.daemon.real_daemon import Daemon

BEGIN = """
import asyncio, json, multiprocessing, os, signal, sys, threading, time
import headcount
from headcount.client.faults import ClientFault, WrongCall

def say(*words):
    os.write(1, json.dumps(words).encode() + b"\\n")

def in_child(scene):
    '''Runs it in a forked copy, which has an end.'''
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        try:
            scene()
        except BaseException as error:
            say("failed", repr(error))
        os._exit(0)
    return pid

def eventually(ask):
    deadline = time.monotonic() + 20
    while not (answer := ask()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return answer

client = headcount.Client(autostart=False)
client.claims()  # its connection is open
"""

NAIVE = """
from headcount.client.transport.connection import Connection
Connection._is_ours = lambda self: True
first = os.getpid()
headcount.client.sync.os = type("os", (), {**vars(os), "getpid": staticmethod(lambda: first)})
headcount.client.values.os = headcount.client.sync.os
"""


def played(daemon: Daemon, scene: str, naive: bool = False) -> list[Any]:
    """What the program said, line by line."""
    env = {name: value for name, value in environment(daemon).items() if name not in MARKS}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + (NAIVE if naive else "") + scene],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
