"""Run as a program with few descriptors: watches more processes than it can hold, kills them, reports.

Rules of this file
  1. It prints one JSON object and nothing else. The test that started it judges.
"""

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress

from headcount import times
from headcount.core.values.process import ProcessFacts
from headcount.core.values.verdict import Standing
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.processes.pidfds.kernel_features import Features

LIMIT = 64
PROCESSES = 90


async def main(without: str, hoard: bool) -> dict[str, object]:
    times.POLL_EVERY = 0.05  # type: ignore[misc]
    children = [subprocess.Popen(["sleep", "600"], close_fds=False) for _ in range(PROCESSES)]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
        return await watch_all(children, without, hoard)
    finally:
        for child in children:
            child.kill()
            child.wait()


async def watch_all(
    children: "list[subprocess.Popen[bytes]]", without: str, hoard: bool
) -> dict[str, object]:
    processes = LinuxProcesses(asyncio.get_running_loop(), Features.from_text(without))
    identities = [seen.identity for seen in map(processes.look, (child.pid for child in children))
                  if isinstance(seen, ProcessFacts)]  # fmt: skip
    hoarded: list[int] = []
    with suppress(OSError):
        while hoard:
            hoarded.append(os.open("/dev/null", os.O_RDONLY))
    told: list[int] = []
    standings = [
        processes.watch(identity, lambda who, _: told.append(who.pid)).standing for identity in identities
    ]
    free = 0
    if not hoard:
        with open("/dev/null"), open("/dev/null"), open("/dev/null"):
            free = 3
    polled = processes.polled()
    await asyncio.sleep(times.POLL_EVERY * 4)
    too_early = len(told)
    for child in children[::2]:
        child.send_signal(signal.SIGKILL)
        child.wait()
    deadline = time.monotonic() + 20
    while len(told) < len(children[::2]) and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    for descriptor in hoarded:
        os.close(descriptor)
    promoted_from = processes.polled()
    deadline = time.monotonic() + 20
    while hoard and processes.polled() == promoted_from and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    result = {
        "seen": len(identities),
        "dead_at_watch": standings.count(Standing.DEAD),
        "polled": polled,
        "free": free,
        "too_early": too_early,
        "told": sorted(told),
        "killed": sorted(child.pid for child in children[::2]),
        "watched_after": processes.watched(),
        "promoted": promoted_from - processes.polled(),
    }
    processes.close()
    return result


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2] == "hoard"))))
