"""Every place that Headcount writes or tells, as bytes: where a canary must not be.

Rules of this file
  1. Whatever is the person's own (their home, their settings file, their token) is not looked at: the text belongs there.

Not here: planting (canary_setup.py, tests/real/test_canaries.py), what is counted (tests/campaign/security/canaries.py).
"""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from headcount.client.faults import ClientFault
from tests.rig.daemon.real_daemon import Daemon

ONES_OWN = ("user/", "config.toml", "tokens/")
Sink = tuple[str, bytes]  # its name, and what stands there


class Follower:
    """All that the event stream says, from now on."""

    def __init__(self, daemon: Daemon) -> None:
        self.told: list[str] = []

        def follow() -> None:
            with contextlib.suppress(ClientFault, OSError), daemon.stream() as events:
                self.told.extend(str(event.data) for event in events)

        threading.Thread(target=follow, daemon=True).start()


def files(daemon: Daemon) -> Iterator[Sink]:
    """Store, log, mailboxes and all else below the state directory."""
    for path in sorted(daemon.home.rglob("*")):
        name = str(path.relative_to(daemon.home))
        if path.is_file() and not name.startswith(ONES_OWN):
            yield f"the file {name}", path.read_bytes()


def answers(daemon: Daemon, ids: list[str]) -> Iterator[Sink]:
    """Of every route that reads; of these sessions in full. `peek` shows a conversation on demand, and is none."""
    paths = ["/v1/sessions?all=1", "/v1/status", "/metrics", "/v1/history?limit=10000", "/v1/timeline", "/v1/today",
             "/v1/claims", "/v1/leftovers", "/v1/fleet", "/v1/reboot", "/openapi.json", "/healthz"]  # fmt: skip
    paths += [f"/v1/sessions/{id}{more}" for id in ids for more in ("", "/explain", "/where", "/resume")]
    for path in paths:
        yield f"the answer to {path.partition('?')[0]}", str(daemon.call("GET", path).data).encode()


def printed(daemon: Daemon, place: Path, id: str, verbs: int) -> Iterator[Sink]:
    """By that many verbs of the command line, the bundle first."""
    bundle = place / f"{id}.json"
    said = (["explain", id, "--bundle", str(bundle)], ["ps", "--all", "--wide"], ["show", id], ["explain", id], ["log"],
            ["leftovers"], ["doctor"])  # fmt: skip
    for words in said[:verbs]:
        done = subprocess.run(
            [sys.executable, "-m", "headcount", *words], env=daemon.env, capture_output=True
        )
        yield f"headcount {words[0]}", done.stdout + done.stderr
    yield "the bundle", bundle.read_bytes()
    bundle.unlink()
