"""A person at a shell of their own: the command line, run outside every agent.

Rules of this file
  1. Detached and without marks, also when the tests themselves are run inside an agent: what is the operator's
     is asked by the operator.
"""

import shlex
import subprocess
import sys
import uuid
from typing import NamedTuple

from tests.rig.agents.callers import bare
from tests.rig.daemon.real_daemon import Daemon, eventually


class Heard(NamedTuple):
    code: int
    out: str
    err: str


def person(daemon: Daemon, *words: str) -> Heard:
    """What `headcount WORDS` says to a person."""
    base = daemon.home / f"person-{uuid.uuid4().hex}"
    command = shlex.join([sys.executable, "-m", "headcount", *words])
    line = f"{command} >{base}.out 2>{base}.err; echo $? >{base}.new; mv {base}.new {base}.code"
    env = {**daemon.env, **bare(), "LC_ALL": "C.UTF-8"}
    subprocess.run(["setsid", "-f", "/bin/sh", "-c", line], env=env, check=True, stdin=subprocess.DEVNULL)
    done = base.with_name(base.name + ".code")
    eventually(done.exists, within=30)
    texts = (base.with_name(f"{base.name}.{end}").read_text() for end in ("out", "err"))
    return Heard(int(done.read_text()), *texts)
