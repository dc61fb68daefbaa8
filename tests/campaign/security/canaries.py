"""Secrets planted in every place where one comes in, and looked for in every place that is kept or told.

A canary is a word that is nowhere else. It is planted in a prompt, a tool's input or output, a command in the forms that secrets
have, an environment, a command line, a header, a body, the password of a database, the arguments of `notify.command`, a
transcript, an unknown field. Afterwards, and again after a kill -9 and a restart, every file of ours, every answer of every route, the
stream, the log, the command line's output and the bundle are searched, also for a part of one.

The control is a store that keeps payloads as they came.
"""

import random
import re
import sqlite3
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.campaign.outcome import Outcome, Progress, Row
from tests.rig.security.canary_setup import ENTRANCES, Stage

CANARIES = 500
VERBS = 7  # whose output is looked through
FOUND = re.compile(rb"cnry[0-9]{1,5}x")
A_PART = re.compile(rb"cnry")


class Campaign:
    def __init__(self, directory: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.stage = Stage(directory)
        self.counts: Counter[str] = Counter()
        self.planted: dict[bytes, str] = {}  # canary -> its entrance
        self.leaks: set[tuple[str, str]] = set()  # entrance, sink
        self.sinks: set[str] = set()

    def canary(self, entrance: str) -> str:
        number = len(self.planted)
        self.planted[b"cnry%dx" % number] = entrance
        return f"cnry{number}x{self.chance.getrandbits(64):016x}"

    def plant(self, wanted: int, until: float, progress: Progress) -> None:
        while len(self.planted) < wanted and time.monotonic() < until:
            nth = len(self.planted)
            entrance = list(ENTRANCES)[nth % len(ENTRANCES)]
            ENTRANCES[entrance](self.stage, nth, self.canary(entrance))
            if nth % 50 == 0:
                progress(f"canaries: {nth:,} of {wanted:,}")

    def search(self) -> None:
        self.stage.settle()
        for sink, content in self.stage.sinks():
            self._search(sink, content)

    def search_what_is_printed(self, verbs: int) -> None:
        for sink, content in self.stage.said_by_the_command_line(verbs):
            self._search(sink, content)

    def control(self, path: Path) -> int:
        """How many are found in a store of what came, as it came."""
        connection = sqlite3.connect(path)
        with connection:
            connection.execute("CREATE TABLE raw (payload BLOB)")
            connection.executemany("INSERT INTO raw VALUES (?)", [(each,) for each in self.stage.raw])
        connection.close()
        return len(set(FOUND.findall(path.read_bytes())))

    def _search(self, sink: str, content: bytes) -> None:
        self.sinks.add(re.sub("[0-9a-f]{8,}", "…", sink))
        self.counts["bytes"] += len(content)
        for canary in set(FOUND.findall(content)):
            self.leaks.add((self.planted.get(canary, "?"), sink))
        self.counts["parts"] += len(A_PART.findall(content)) - len(FOUND.findall(content))
        self.counts["redacted"] += content.count(b"API_KEY=***")
        self.counts["own"] += sum(secret.encode() in content for secret in self.stage.secrets)


def run(
    *, seed: int, seconds: float, progress: Progress, canaries: int = CANARIES, verbs: int = VERBS
) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        campaign = Campaign(Path(directory), seed)
        try:
            campaign.stage.open(campaign.canary("the arguments of notify.command"))
            campaign.plant(canaries, time.monotonic() + seconds, progress)
            progress("canaries: looking for them")
            campaign.search()
            campaign.search_what_is_printed(verbs)
            campaign.stage.daemon.restart()
            campaign.search()
        finally:
            campaign.stage.close()
        control = campaign.control(Path(directory) / "naive.db")
    return _outcome(campaign, control, canaries)


def _outcome(campaign: Campaign, control: int, canaries: int) -> Outcome:
    leaks, counts = campaign.leaks, campaign.counts
    rows = (
        Row("canaries planted", f"{len(campaign.planted):,}", f"{canaries:,}, if there is time"),
        Row("  ways in", str(len(set(campaign.planted.values())))),
        Row("places looked at / bytes", f"{len(campaign.sinks)} / {counts['bytes']:,}"),
        Row("labels found with `***` in the place of one", f"{counts['redacted']:,}", "more than 0", counts["redacted"] > 0),
        Row("ours: canaries found", str(len(leaks)), "0", not leaks),
        Row("ours: parts of one found", str(counts["parts"]), "0", counts["parts"] == 0),
        Row("ours: the daemon's own tokens, codes and credentials found", str(counts["own"]), "0", counts["own"] == 0),
        Row("control, a store of payloads as they came: canaries found", f"{control:,}", "more than 0", control > 0),
    )  # fmt: skip
    notes = (
        "Files of ours are the store with its log, logs, mailboxes, memories of settings; the person's own "
        "home, config.toml and token files are where secrets belong, and are not looked at. `peek` shows a conversation to its "
        "own person on demand and stores nothing.",
        *(f"found: {entrance}, in {sink}" for entrance, sink in sorted(leaks)[:10]),
    )
    return Outcome("canaries", "Secrets that come by", rows, notes)
