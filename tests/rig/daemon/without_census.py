"""A daemon without a census: it knows only sessions that reported, and no other agent on the machine.

Rules of this file
  1. For tests that count commits, numbers or tries: another test's stand-in, or an agent of the person who runs the tests,
     would add to them.
  2. The daemon is the real one; one method of it is replaced when its interpreter starts.
"""

import os
from pathlib import Path

from tests.rig.daemon.real_daemon import Daemon

NO_CENSUS = """
from headcount.daemon.intake.census import Census
async def take(self):
    self._taken_at = self._clock.boottime()
Census.take = take
"""


def lone_daemon(home: Path) -> Daemon:
    site = home / "site"
    site.mkdir(parents=True, exist_ok=True)
    (site / "sitecustomize.py").write_text(NO_CENSUS)
    return Daemon(home, PYTHONPATH=os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH")))))
