"""Wall clocks that jump by an hour or a day, forwards and back, under a real daemon with living sessions and claims.

Some jumps come while the daemon is down, with older reports in its mailbox. No session may end, be lost or become two, and
no claim may be freed. Some agents really end, and must be found. The control is an age rule on the wall clock.
"""

import random
import re
import tempfile
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.campaign.outcome import Outcome, Progress, Row, none, some
from tests.rig.agents.commands_inside import outside
from tests.rig.agents.crowd import Crowd, Member, program
from tests.rig.agents.mailbox_files import drop, payload
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.kernel.faketime import WallClock

JUMPS = 300
AGENTS = 8
HOLDERS = 4
OFFSETS = (3_600, -3_600, 86_400, -86_400, 0)
SILENT_AFTER = 600  # seconds: what the control waits for
DOWN = 0.3  # of the jumps come while the daemon is away
DIE = 0.1
SLACK = 30.0
HEARD_WITHIN = 40.0  # a busy machine is not a silent session


class Jumps:
    def __init__(self, home: Path, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: list[str] = []
        self._home = home
        self._chance = random.Random(seed)
        self._clock = WallClock(home / "offset")
        self._daemon = Daemon(home / "home", **self._clock.env)
        self._crowd = Crowd(home / "agents", AGENTS)
        self._ids: dict[str, str] = {}
        self._fences: dict[str, tuple[str, int]] = {}
        self._said_at: dict[str, float] = {}
        self._serial = 0
        self._up_since = 0.0
        self._ready()
        for member in self._crowd.members:
            self._introduce(member)
        for member in self._crowd.members[:HOLDERS]:
            self._claim(member)

    def close(self) -> None:
        self._daemon.stop()
        self._crowd.__exit__()

    def jump(self) -> None:
        is_away = self._chance.random() < DOWN
        waiting: list[tuple[Member, str]] = []
        before: dict[str, float] = {}
        if is_away:
            self._daemon.kill()
            before = dict(self._said_at)
            waiting = [(member, self._say(member)) for member in self._chance.sample(self._crowd.members, 2)]
        offset = self._chance.choice([each for each in OFFSETS if each != self._clock.offset])
        self._clock.set(offset)
        self.counts["jumps"] += 1
        self.counts["forwards"] += offset > 0
        self.counts["away"] += is_away
        if is_away:
            self._ready()
        self._heard(
            [each for each in waiting if self._is_news(each[0], before)],
            "reports from before a jump not taken up",
        )
        for member, _ in waiting:
            who = member.conversation
            if self._is_news(member, before):  # what is of the future is known from when it was read
                self._said_at[who] = min(self._said_at[who], self._clock.now())
            else:  # what was known before it still is
                self.counts["old news"] += 1
                self._said_at[who] = before[who]
        speaker = self._chance.choice(self._crowd.members)
        self._heard([(speaker, self._say(speaker))], "sessions that fell silent")
        self._judge()
        if self._chance.random() < DIE:
            self._die()

    def _ready(self) -> None:
        self._up_since = time.monotonic()
        self._daemon.ready()

    def _introduce(self, member: Member) -> None:
        now = self._said_at[member.conversation] = self._clock.now()
        drop(self._daemon.mailbox, member, payload(member, "SessionStart", source="startup"), now)
        rows = eventually(lambda: self._daemon.sessions(conversation=member.conversation, liveness="alive"))
        self._ids[member.conversation] = rows[0]["id"]

    def _claim(self, member: Member) -> None:
        item = f"task:{member.conversation}"
        answer = self._daemon.call("POST", "/v1/claims", {"item": item, "as": self._ids[member.conversation]})
        assert answer.status == 200 and answer.data["granted"], answer
        self._fences[item] = member.conversation, answer.data["fence"]

    def _say(self, member: Member) -> str:
        self._serial += 1
        word = f"Tool{self._serial}"
        now = self._said_at[member.conversation] = self._clock.now()
        drop(self._daemon.mailbox, member, payload(member, "PreToolUse", tool_name=word), now)
        return word

    def _is_news(self, member: Member, before: dict[str, float]) -> bool:
        """A report written while the clock was behind is older, by its date, than what is already known."""
        known = before.get(member.conversation, 0.0)
        return self._said_at[member.conversation] >= known or known > self._clock.now()

    def _heard(self, said: list[tuple[Member, str]], name: str) -> None:
        last = {member.conversation: word for member, word in said}
        for conversation, word in last.items():
            try:
                eventually(
                    lambda c=conversation, w=word: self._daemon.sessions(conversation=c, doing=w),
                    within=HEARD_WITHIN,
                )
            except AssertionError:
                self._count(name, f"{conversation} at {self._clock.offset:+}")

    def _count(self, name: str, example: str) -> None:
        self.counts[name] += 1
        self.examples.append(f"{name}: {example}")

    def _judge(self) -> None:
        rows = self._daemon.sessions()
        now = self._clock.now()
        for member in self._crowd.members:
            mine = [
                row
                for row in rows
                if row["conversation"] == member.conversation
                or (
                    row["pid"] == member.pid and row["liveness"] != "ended"
                )  # somebody had that number before
            ]
            if len(mine) != 1:
                self._count("sessions taken for two", str([row["id"] for row in mine]))
            for row in mine:
                if row["id"] == self._ids[member.conversation] and row["liveness"] != "alive":
                    self._count("false ends", f"{row['liveness']} at {self._clock.offset:+}")
                self.counts["naive"] += now - _seconds(row["last_event_at"]) > SILENT_AFTER
        self._judge_claims()
        up = self._daemon.get("/v1/status")["uptime_s"]
        if not 0 <= up <= time.monotonic() - self._up_since + SLACK:
            self._count("ages that are none", f"up for {up} s")
        if self.counts["jumps"] % 10 == 0:
            said = outside(self._daemon, "ps")
            mine = [
                line for line in said.out.splitlines() if any(id[:4] in line for id in self._ids.values())
            ]
            if said.code != 0 or any(re.search(r"\s-\d", line) for line in mine):
                self._count("ages that are none", said.out + said.err)

    def _judge_claims(self) -> None:
        held = {each["item"]: each for each in self._daemon.get("/v1/claims")["claims"]}
        for item, (conversation, fence) in self._fences.items():
            claim: dict[str, Any] | None = held.get(item)
            if claim is None or (claim["fence"], claim["holder"]["conversation"]) != (fence, conversation):
                self._count("freed claims", f"{item}: {claim}")

    def _die(self) -> None:
        """One really ends: it must be told, its claim freed. Another takes its place."""
        nth = self._chance.randrange(AGENTS)
        member = self._crowd.members[nth]
        member.kill()
        member.reap()
        self.counts["deaths"] += 1
        fresh = Member(program(self._home / "agents"), 1000 + self.counts["deaths"])
        fresh.learn_stat()
        self._crowd.members[nth] = fresh
        id = self._ids.pop(member.conversation)
        try:
            eventually(lambda: self._daemon.sessions(id=id, liveness="ended"), within=HEARD_WITHIN)
        except AssertionError:
            self._count("deaths not told", id)
        self._introduce(fresh)
        held = [
            item for item, (conversation, _) in self._fences.items() if conversation == member.conversation
        ]
        for item in held:
            wish = {"item": item, "as": self._ids[fresh.conversation]}
            taken = self._daemon.call("POST", "/v1/claims", wish)
            if taken.status != 200 or not taken.data["granted"]:
                self._count("claims of the dead kept", item)
            else:
                self._fences[item] = fresh.conversation, taken.data["fence"]


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def run(*, seed: int, seconds: float, progress: Progress, jumps: int = JUMPS) -> Outcome:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        campaign = Jumps(Path(directory), seed)
        try:
            while campaign.counts["jumps"] < jumps and time.monotonic() - began < seconds:
                campaign.jump()
                progress(f"clock jumps: {campaign.counts['jumps']:,} of {jumps:,}")
        finally:
            campaign.close()
    return _outcome(campaign, jumps)


def _outcome(campaign: Jumps, jumps: int) -> Outcome:
    counts = campaign.counts
    rows = (
        Row(
            "jumps of the wall clock, by an hour or a day",
            f"{counts['jumps']:,}",
            f"{jumps:,}, if there is time",
        ),
        Row("  of them while the daemon was away", f"{counts['away']:,}"),
        Row(
            "  reports written while the clock was behind, read when it was right again: old news",
            f"{counts['old news']:,}",
        ),
        Row("agents that really ended", f"{counts['deaths']:,}"),
        none("ours: false ends", counts["false ends"]),
        none("ours: freed claims", counts["freed claims"]),
        none("ours: sessions that fell silent", counts["sessions that fell silent"]),
        none(
            "ours: reports from before a jump not taken up", counts["reports from before a jump not taken up"]
        ),
        none("ours: sessions taken for two", counts["sessions taken for two"]),
        none(
            "ours: ages that are none (less than nothing, or more than there was)",
            counts["ages that are none"],
        ),
        none(
            "ours: deaths not told, or their claims kept",
            counts["deaths not told"] + counts["claims of the dead kept"],
        ),
        some(
            f"control, silent for {SILENT_AFTER} s by the wall clock: living sessions ended", counts["naive"]
        ),
    )
    return Outcome("clock_jumps", "Clocks that jump", rows, tuple(campaign.examples[:5]))
