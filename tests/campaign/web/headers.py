"""The browser header matrix: whatever a foreign page can make a browser send, on every route, reaches nothing.

A row of the matrix is a page in some place (its Host, Origin, Sec-Fetch headers, content type), a method, and what it could
know: nothing, or, worse than it can be, the credential of an open tab in the header where it belongs or in every place where
it does not. The page's own requests are sent beside them and must be answered, or refusing proves nothing.

The control is the same daemon with a gate that looks at the token alone and takes it from a cookie, as browsers send one along
with whatever page asks.
"""

import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.campaign.outcome import Outcome, Progress, Row
from tests.daemon.api.test_permissions import rows
from tests.rig.browser.foreign_pages import WRONG_PLACES, Page, foreign, own
from tests.rig.browser.page_requests import Knocks
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.naive_ways.naive_gate import naive_daemon
from tests.rig.network.raw_requests import Traces

REQUESTS = 50_000  # more than the matrix has
CONTROL_REQUESTS = 400
METHODS = ("PUT", "PATCH", "OPTIONS", "TRACE", "HEAD")

Case = tuple[str, str, object, Page]  # method, target, body, who asks


def cases(port: int, credential: str) -> list[Case]:
    """Every route as its own method, and as those that a page might try instead, from every place."""
    asked = [(row[2].method, row[2].target, row[2].body) for row in rows("none", 1)]
    asked += [(method, target, None) for _, target, _ in asked for method in METHODS]
    asked += [("GET", "/", None), ("GET", "/app.js", None), ("GET", "/nowhere", None)]
    return [(*each, page) for each in asked for page in foreign(port, credential)]


class Campaign:
    def __init__(self, directory: Path, seed: int) -> None:
        self.directory = directory
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.reached: list[str] = []

    def ours(self, wanted: int, until: float, progress: Progress) -> None:
        with Daemon(self.directory / "home") as daemon, Knocks(daemon, self.directory / "errands") as knocks:
            traces = Traces(daemon)
            pid = daemon.get("/healthz")["pid"]
            chosen = self._chosen(cases(knocks.port, knocks.credential), wanted)
            for nth, case in enumerate(chosen):
                self._judge(case, *knocks.ask(*case))
                if nth % 1000 == 0:
                    progress(f"headers: {nth:,} of {len(chosen):,}")
                if time.monotonic() > until:
                    break
            self._wrong_places(knocks)
            self.counts["own"] += sum(knocks.ask("GET", path, None, page)[0] == 200
                                      for path in ("/", "/v1/sessions", "/v1/status") for page in own(knocks.port, knocks.credential))  # fmt: skip
            traces.assert_unchanged()
            self.counts["stopped"] += daemon.get("/healthz")["pid"] != pid
            self.counts["logged"] += daemon.log().count("Traceback")

    def naive(self, wanted: int) -> int:
        """How many of the same requests are answered by a gate that asks for the token alone."""
        errands = self.directory / "naive-errands"
        with naive_daemon(self.directory / "naive") as daemon, Knocks(daemon, errands) as knocks:
            reads = [case for case in cases(knocks.port, knocks.credential) if case[0] == "GET"]
            chosen = self._chosen(reads, wanted)
            return sum(200 <= knocks.ask(*case, cookie=True)[0] < 300 for case in chosen)

    def _chosen(self, found: list[Case], wanted: int) -> list[Case]:
        return found if wanted >= len(found) else self.chance.sample(found, wanted)

    def _judge(self, case: Case, status: int, headers: dict[str, str]) -> None:
        self.counts["requests"] += 1
        if not 400 <= status < 500:
            self.counts["reached"] += 1
            self.reached.append(f"{case[0]} {case[1]} from {case[3].place}: {status}")
        self.counts["cors"] += any(name.startswith("access-control") for name in headers)
        self.counts["cookies"] += "set-cookie" in headers

    def _wrong_places(self, knocks: Knocks) -> None:
        """The right credential from the right place, but not in the header where it belongs."""
        for put in WRONG_PLACES:
            for row in rows("none", 1):
                if row[2].target.startswith("/v1/web/login"):
                    continue
                page, target = put(knocks.port, knocks.credential, row[2].target)
                status, _ = knocks.ask(row[2].method, target, row[2].body, page)
                self.counts["misplaced"] += 1
                self.counts["misplaced_taken"] += status != 401


def run(
    *,
    seed: int,
    seconds: float,
    progress: Progress,
    requests: int = REQUESTS,
    control_requests: int = CONTROL_REQUESTS,
) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        campaign = Campaign(Path(directory), seed)
        campaign.ours(requests, time.monotonic() + seconds, progress)
        answered = campaign.naive(control_requests)
    return _outcome(campaign, answered, control_requests)


def _outcome(campaign: Campaign, answered: int, control: int) -> Outcome:
    counts = campaign.counts

    def none(what: str, name: str) -> Row:
        return Row(what, str(counts[name]), "0", counts[name] == 0)

    rows = (
        Row("requests of foreign pages", f"{counts['requests']:,}", "the matrix, if there is time"),
        Row("  places that a page can be in", str(len(foreign(1, "x")))),
        none("ours: answered", "reached"),
        none("ours: answers that let another origin read (CORS)", "cors"),
        none("ours: cookies set", "cookies"),
        Row(
            "the right credential in a wrong place: taken",
            f"{counts['misplaced_taken']} of {counts['misplaced']:,}",
            "0",
            counts["misplaced_taken"] == 0,
        ),
        none("ours: the daemon stopped by a page", "stopped"),
        none("ours: errors logged", "logged"),
        Row("the page's own requests: answered", str(counts["own"]), "6", counts["own"] == 6),
        Row(
            "control, a gate that asks for a token or cookie alone: answered",
            f"{answered} of {control}",
            "more than 0",
            answered > 0,
        ),
    )
    return Outcome("headers", "What a web page can send", rows, tuple(campaign.reached[:10]))
