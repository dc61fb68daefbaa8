"""The whole wire, from our own `/openapi.json`: requests that fit it and requests that do not, as the operator and as an agent.

Rules of this file
  1. The daemon is the real one on its unix socket, alone in a pid namespace: what it may end, stop or reap there is ours.
  2. No answer is a 5xx, none is of another form than the document says, and none is missing.

Not here: making the requests (wire_inside.py), the parsers one by one (table.py).
"""

from typing import Any

from tests.campaign.in_pid_namespace import is_possible as is_possible
from tests.campaign.in_pid_namespace import run_inside

INSIDE = "tests.fuzz.wire_inside"


def run(
    *, seconds: float, seed: int, examples: int = 100_000, flaw: str = "none", only: str = ""
) -> tuple[int, list[str]]:
    """How many requests were answered, and what was wrong with any."""
    found: dict[str, Any] = run_inside(
        INSIDE, str(seconds), str(seed), str(examples), flaw, only, progress=lambda at: None
    )
    return int(found["requests"]), list(found["faults"])
