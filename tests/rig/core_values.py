"""Values for tests of the pure core: a place, processes, reports, and a world to decide on."""

from collections.abc import Iterable
from typing import Any

from headcount.core.decide import decide
from headcount.core.state.world import Decision, World
from headcount.core.values.evidence import Evidence, Judged
from headcount.core.values.process import BootAndNamespace, ProcessIdentity
from headcount.core.values.report import Anchor, Opening, Record, Report, Turn
from headcount.core.values.session import Session
from headcount.core.values.verdict import Exit, Proof, Verdict, dead

HERE = BootAndNamespace("machine", "boot-1", 4026531836)
T0 = 1_000_000.0


def process(pid: int = 100, inode: int | None = None, place: BootAndNamespace = HERE) -> ProcessIdentity:
    return ProcessIdentity(
        place.boot, place.namespace, pid, started=pid * 10, inode=pid * 1000 if inode is None else inode
    )


def bound(identity: ProcessIdentity, by: str = "stat line") -> Anchor:
    return Anchor(identity, True, by)


def report(
    event: str = "PreToolUse",
    at: float = T0,
    conversation: str = "conv-a",
    says: Turn | None = Turn.TOOL,
    **more: Any,
) -> Report:
    return Report("claude-code", conversation, at, "hook", event, says, **more)


def start(
    at: float = T0, conversation: str = "conv-a", opening: Opening = Opening.STARTUP, **more: Any
) -> Report:
    return report("SessionStart", at, conversation, Turn.STARTED, opening=opening, **more)


def leaving(at: float = T0, conversation: str = "conv-a", reason: str = "other", **more: Any) -> Report:
    return report("SessionEnd", at, conversation, None, leaving=reason, **more)


def record(
    identity: ProcessIdentity,
    at: float = T0,
    conversation: str = "conv-a",
    status: str | None = "busy",
    **more: Any,
) -> Record:
    from headcount.core.values.report import Details

    more.setdefault("details", Details())
    more.setdefault("waiting_on", None)
    more.setdefault("written_at", at)
    return Record("claude-code", conversation, at, status, anchor=bound(identity, "registry"), **more)


def death(identity: ProcessIdentity, at: float = T0, **exit: Any) -> Judged:
    return Judged(identity, dead(Proof.EXITED, "pidfd reported the exit", Exit(**exit)), at)


def judged(identity: ProcessIdentity, verdict: Verdict, at: float = T0) -> Judged:
    return Judged(identity, verdict, at)


class Scene:
    """A world and the decisions made on it, one batch at a time."""

    def __init__(self, place: BootAndNamespace = HERE) -> None:
        self.world = World(place)
        self.events: list[Any] = []

    def hear(self, *batch: Evidence, now: float | None = None) -> Decision:
        draft, _ = decide(self.world, batch, T0 + 10_000 if now is None else now)
        decision = draft.decision
        draft.settle()
        self.events += decision.events
        return decision

    def sessions(self) -> list[Session]:
        return sorted(self.world.sessions.values(), key=lambda each: (each.started_at, each.id))

    def only(self) -> Session:
        (session,) = self.sessions()
        return session

    def of(self, conversation: str) -> list[Session]:
        return [each for each in self.sessions() if each.conversation == conversation]

    @classmethod
    def after(cls, batches: Iterable[Iterable[Evidence]]) -> "Scene":
        scene = cls()
        for batch in batches:
            scene.hear(*batch)
        return scene
