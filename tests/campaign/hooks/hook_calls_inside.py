"""Run in mounts of its own: the installed line on a disk that is really full, with the daemon up. See hook_calls.py."""

import json
import random
import subprocess
import sys
from pathlib import Path

from tests.campaign.hooks.call_hook_line import Calls, naive_calls, some_calls
from tests.rig.daemon.without_census import lone_daemon
from tests.rig.kernel.small_disk import fill


def main(home: Path, seed: int, count: int, naive: int) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "none", str(home)], check=True)
    chance, ours, theirs = random.Random(seed), Calls(), Calls()
    with lone_daemon(home) as daemon:
        fill(home)
        for done in range(0, count, 250):
            some_calls(daemon.mailbox, chance, min(250, count - done), ours)
            print(json.dumps({"at": f"hook calls: {done:,} with the disk full"}), flush=True)
        naive_calls(daemon.socket, chance, naive, theirs)
    print(json.dumps({"ours": ours.as_data(), "theirs": theirs.as_data()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(int(word) for word in sys.argv[2:5]))
