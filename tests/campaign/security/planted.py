"""Planted files and a second user: nothing is written or read through them, and the second user is refused.

Each round a link, a pipe or a second name of another file lies where the daemon keeps one of its own, with a bait at its
other end. The daemon starts (or says why not), takes a report, opens its page, is ended. The bait must be as it was, and
nothing of it told. Then a second user tries every way in, also with the rights of all files opened wide.

The controls are a program that just opens its file, and a home made as the umask likes.
"""

import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.campaign.outcome import Outcome, Progress, Row
from tests.rig.agents.commands_inside import outside
from tests.rig.browser.page_port import Door
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network.raw_requests import exchange, hook
from tests.rig.security import second_user
from tests.rig.security.plant_files import PLANTINGS, SECRET, Bait, naive_harms, plant

ROUNDS = len(PLANTINGS)
REPORT = b'{"session_id": "planted", "hook_event_name": "SessionStart"}'


class Campaign:
    def __init__(self, directory: Path, seed: int) -> None:
        self.directory = directory
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []

    def round(self, place: str, kind: str) -> None:
        self.counts["rounds"] += 1
        directory = self.directory / str(self.counts["rounds"])
        bait = Bait(directory)
        daemon = Daemon(directory / "home")
        plant(daemon.home, place, kind, bait)
        told = self._live(daemon, f"{kind} at {place}")
        if not bait.is_unharmed:
            self._wrong("harmed", f"{kind} at {place}")
        kept = b"".join(
            path.read_bytes() for path in daemon.home.rglob("*") if path.is_file() and not path.samefile(bait.file)
            and bait.directory not in path.resolve().parents
        )  # fmt: skip
        if SECRET in told or SECRET.encode() in kept:
            self._wrong("told", f"{kind} at {place}")

    def _live(self, daemon: Daemon, words: str) -> str:
        """A whole life: a start, a report, the page, a stop. What it said on the way."""
        try:
            daemon.start()
        except AssertionError:
            self._wrong("hung", words)
            daemon.kill()
            return ""
        if daemon.word != "ready":
            self.counts["refused"] += 1
            if not daemon.word.startswith("failed: ") or len(daemon.word) < 20:
                self._wrong("wordless", words)
            daemon.stop()
            return daemon.word
        self.counts["started"] += 1
        try:
            exchange(daemon.socket, hook(REPORT), within=30)
            Door(daemon, self.directory / "errands").log_in()
            installed = outside(daemon, "hooks", "install", "--agent", "claude-code")
            said = (
                str(daemon.get("/v1/sessions?all=1")) + str(daemon.get("/v1/status")) + "".join(installed[1:])
            )
            if "Traceback" in said:
                self._wrong("wordless", words)
        finally:
            daemon.stop()
        return said + daemon.log()

    def _wrong(self, what: str, words: str) -> None:
        self.counts[what] += 1
        self.wrong.append(f"{what}: {words}")

    def second_user(self) -> None:
        self.directory.chmod(0o755)
        with Daemon(self.directory / "second" / "home") as daemon:
            daemon.home.chmod(0o700)  # as the daemon makes it; the rig made it before
            door = Door(daemon, self.directory / "errands").log_in()
            assert door.credential is not None
            for wide in (False, True):
                if wide:
                    self._open_wide(daemon)
                got = second_user.tries(daemon.home, daemon.pid, door.port, door.credential, asks=wide)
                self.counts["tries"] += len(got)
                ways = [name for name, led in got.items() if led and (not wide or name.startswith("ask"))]
                for name in ways:
                    self._wrong("second", f"{name}{', with all rights opened wide' if wide else ''}")
            daemon.call("GET", "/v1/sessions")
            if daemon.sessions(conversation="second-user"):
                self._wrong("second", "a report of its own was taken")
        told, code = second_user.bytes_told_to_an_impostor(self.directory / "impostor")
        self.counts["impostor"] = told
        self.counts["impostor_code"] = code

    @staticmethod
    def _open_wide(daemon: Daemon) -> None:
        """As if somebody had been careless: only what the daemon itself asks is left."""
        for path in (daemon.home, daemon.mailbox, daemon.socket):
            path.chmod(0o777)
        eventually(lambda: daemon.get("/healthz")["ok"])


def run(*, seed: int, seconds: float, progress: Progress, rounds: int = ROUNDS) -> Outcome:
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        campaign = Campaign(Path(directory), seed)
        chosen = campaign.chance.sample(PLANTINGS, min(rounds, len(PLANTINGS)))
        for nth, (place, kind) in enumerate(chosen):
            if time.monotonic() > until:
                break
            campaign.round(place, kind)
            if nth % 10 == 0:
                progress(f"planted: {nth} of {len(chosen)}")
        naive = naive_harms(Path(directory) / "naive")
        wide = 0
        if second_user.is_possible():
            campaign.second_user()
            wide = second_user.naive_tries(Path(directory) / "careless")
    return _outcome(campaign, naive, wide)


def _outcome(campaign: Campaign, naive: int, wide: int) -> Outcome:
    counts = campaign.counts

    def none(what: str, name: str) -> Row:
        return Row(what, str(counts[name]), "0", counts[name] == 0)

    rows = [
        Row("plantings, each with a life of a daemon", str(counts["rounds"]), f"{ROUNDS}, if there is time"),
        Row("  started all the same / refused in words", f"{counts['started']} / {counts['refused']}"),
        none("ours: baits written to, emptied, removed or made", "harmed"),
        none("ours: baits told, stored or logged", "told"),
        none("ours: starts that hung", "hung"),
        none("ours: refusals without words", "wordless"),
        Row("control, just opening the file: baits harmed or told, or hung", f"{naive} of 5", "more than 0", naive > 0),
    ]  # fmt: skip
    if second_user.is_possible():
        rows += [
            Row("tries of a second user, also with all rights opened wide", str(counts["tries"])),
            none("ours: ways in", "second"),
            Row("ours: bytes told to another user who listens in our place", str(counts["impostor"]), "0",
                counts["impostor"] == 0 and counts["impostor_code"] == 4),
            Row("control, a home as the umask likes: ways in", str(wide), "more than 0", wide > 0),
        ]  # fmt: skip
    return Outcome("planted", "Planted links and a second user", tuple(rows), tuple(campaign.wrong[:10]))
