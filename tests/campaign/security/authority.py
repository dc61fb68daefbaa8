"""Who may do what, again and again over restarts: every route asked from every position in the tree of processes.

The matrix is that of tests/daemon/api/test_permissions.py, with its expectations written out by hand. Between the rounds the daemon
is killed with -9, so that everybody is established anew. The operator, who may stop the daemon, comes last.

The control is the same daemon without its check of authority: an agent then does what is for people.
"""

import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.campaign.outcome import Outcome, Progress, Row
from tests.daemon.api.test_permissions import MAY, NOT_ALLOWED, Stage
from tests.rig.agents.callers import Answer, child, detached, left_behind, nested
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

ROUNDS = 20
UNCHECKED = """
from headcount.daemon.api import permissions as authority
authority.check = lambda *_: None
authority.need_operator = lambda *_: None
"""

Asks = Callable[[Stage], list[Answer]]

CALLERS: dict[str, tuple[str, Asks]] = {  # who, as what it counts, how it asks
    "an agent's child": ("agent", lambda stage: child(stage.agent, stage.matrix())),
    "a child that left its session": ("agent", lambda stage: left_behind(stage.agent, stage.matrix(), "setsid")),
    "a grandchild of nobody": ("agent", lambda stage: left_behind(stage.agent, stage.matrix(), "double fork")),
    "an agent inside an agent": ("agent", lambda stage: nested(stage.agent, stage.matrix())),
    "an agent with another's token": ("nobody", lambda stage: child(stage.agent, stage.matrix(**stage.bearer))),
    "a stranger with a token": ("nobody", lambda stage: detached(stage.matrix(**stage.bearer))),
    "another pid namespace": ("nobody", lambda stage: detached(stage.matrix(), "unshare", "--pid", "--fork")),
}  # fmt: skip


class Campaign:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._agents: list[Agent] = []

    def stage(self, daemon: Daemon) -> Stage:
        return Stage(daemon, self.directory / "errands", self._agent)

    def ask(self, stage: Stage, who: str, kind: str, asks: Asks) -> int:
        """How many answers are not as they should be."""
        rows = stage.rows()  # before the operator stops it
        wrong = 0
        for (method, _, request, need), answer in zip(rows, asks(stage), strict=True):
            refused = answer.status in (0, 403) and (answer.code in NOT_ALLOWED or answer.code is None)
            self.counts["requests"] += 1
            if refused == (need in MAY[kind]):
                wrong += 1
                self.wrong.append(f"{who}: {method} {request.target}, {answer.status}")
        return wrong

    def close(self) -> None:
        while self._agents:
            self._agents.pop().close()

    def _agent(self) -> Agent:
        self._agents.append(Agent(self.directory / "agents"))
        return self._agents[-1]


def unchecked(home: Path) -> Daemon:
    site = home / "site"
    site.mkdir(parents=True)
    (site / "sitecustomize.py").write_text(UNCHECKED)
    return Daemon(home, PYTHONPATH=os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH")))))


def run(
    *, seed: int, seconds: float, progress: Progress, rounds: int = ROUNDS, callers: int = len(CALLERS)
) -> Outcome:
    until, chance = time.monotonic() + seconds, random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="headcount-campaign-") as directory:
        campaign = Campaign(Path(directory))
        try:
            _ours(campaign, rounds, chance.sample(list(CALLERS), callers), until, progress)
            naive = _control(campaign)
        finally:
            campaign.close()
    return _outcome(campaign, naive, rounds, callers)


def _ours(campaign: Campaign, rounds: int, callers: list[str], until: float, progress: Progress) -> None:
    with Daemon(campaign.directory / "home") as daemon:
        stage = campaign.stage(daemon)
        while campaign.counts["rounds"] < rounds and time.monotonic() < until:
            for who in callers:
                kind, asks = CALLERS[who]
                campaign.counts["wrong"] += campaign.ask(stage, who, kind, asks)
            campaign.counts["rounds"] += 1
            campaign.counts["stopped"] += daemon.process is None or daemon.process.poll() is not None
            progress(f"authority: round {campaign.counts['rounds']} of {rounds}")
            daemon.restart()
            eventually(lambda: daemon.sessions(id=stage.agent_id, liveness="alive"), within=30)
        operator = campaign.ask(stage, "the operator", "operator", lambda stage: detached(stage.matrix()))
        campaign.counts["operator"] += operator


def _control(campaign: Campaign) -> int:
    """How much an agent may without the check."""
    seen = len(campaign.wrong)
    with unchecked(campaign.directory / "unchecked") as daemon:
        stage = campaign.stage(daemon)
        found = campaign.ask(stage, "control", "agent", lambda stage: child(stage.agent, stage.matrix()))
    del campaign.wrong[seen:]
    return found


def _outcome(campaign: Campaign, naive: int, rounds: int, callers: int) -> Outcome:
    counts = campaign.counts
    rows = (
        Row("rounds, with a kill -9 after each", str(counts["rounds"]), f"{rounds}, if there is time"),
        Row("  kinds of callers beside the operator / requests", f"{callers} / {counts['requests']:,}"),
        Row("ours: answers that were not as the matrix says", str(counts["wrong"]), "0", counts["wrong"] == 0),
        Row("ours: the operator refused", str(counts["operator"]), "0", counts["operator"] == 0),
        Row("ours: stopped by somebody who may not", str(counts["stopped"]), "0", counts["stopped"] == 0),
        Row("control, without the check: an agent does what is for people", str(naive), "more than 0", naive > 0),
    )  # fmt: skip
    return Outcome("authority", "Who may do what", rows, tuple(campaign.wrong[:10]))
