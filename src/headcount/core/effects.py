"""Effects: what the outside should do after a commit. Its outcome returns as evidence.

Rules of this file
  1. An effect is a value; deciding makes it, the daemon runs it after the commit.
  2. An effect may be run twice without harm.
"""

from msgspec import Struct

from headcount.core.values.process import ProcessIdentity


class Watch(Struct, frozen=True):
    """Tell when this process ends; if it is over already, tell that."""

    process: ProcessIdentity


Effect = Watch
