"""A ledger at a desk: the pure core with processes that live, die or cannot be asked, as a test says."""

from collections.abc import Iterable
from typing import Any

from headcount.core.decide import decide
from headcount.core.liveness_proofs import decide_proved
from headcount.core.state.claims import ClaimsState
from headcount.core.state.world import Decision, Verdicts, World
from headcount.core.values.claim import Acquire, Caller, CallerKind, Claim, HandOff, Release, Withdraw
from headcount.core.values.events import Event
from headcount.core.values.evidence import Evidence, Tick
from headcount.core.values.item import Item
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import SessionId
from headcount.core.values.verdict import Proof, Verdict, alive, dead, unknown
from tests.rig.core_values import HERE, T0, bound, death, start

FIRST = 1000
OPERATOR = Caller(None, kind=CallerKind.OPERATOR)


class Desk:
    def __init__(self, book: ClaimsState | None = None) -> None:
        self.world = World(HERE, book=book or ClaimsState(fence=FIRST))
        self.events: list[Event] = []
        self.answers: dict[str, Any] = {}  # to those who waited
        self.dead: set[ProcessIdentity] = set()
        self.hidden: set[ProcessIdentity] = set()
        self.now = T0
        self.asked = 0
        self.decision = Decision()

    def prove(self, process: ProcessIdentity) -> Verdict:
        if process in self.hidden:
            return unknown("no descriptor left")
        return dead(Proof.EXITED, "exited") if process in self.dead else alive("it lives")

    def tell(self, *batch: Evidence, verdicts: Verdicts | None = None) -> list[Any]:
        if verdicts is None:
            draft, outcomes = decide_proved(self.world, batch, self.now, self.prove)
        else:
            draft, outcomes = decide(self.world, batch, self.now, verdicts)
        self.decision = draft.decision
        self.answers |= self.decision.ledger.answers
        draft.settle()
        self.events += self.decision.events
        return outcomes

    # --- saying it shortly ---------------------------------------------------------------------------

    def request(self) -> str:
        self.asked += 1
        return f"request-{self.asked}"

    def acquire(
        self,
        item: str,
        process: ProcessIdentity | None,
        *,
        wait: float | None = None,
        request: str | None = None,
        above: Iterable[ProcessIdentity] = (),
        **more: Any,
    ) -> Any:
        until = None if wait is None else self.now + wait
        caller = Caller(process, above=tuple(above))
        asks = Acquire(Item(item), caller, request or self.request(), wait_until=until, **more)
        return self.tell(asks)[0]

    def release(
        self, item: str, process: ProcessIdentity | None, fence: int | None = None, **more: Any
    ) -> Any:
        return self.tell(Release(Item(item), Caller(process, **more), fence))[0]

    def force(self, item: str, caller: Caller = OPERATOR) -> Any:
        return self.tell(Release(Item(item), caller, force=True))[0]

    def hand_off(self, item: str, process: ProcessIdentity, to: str, fence: int | None = None) -> Any:
        return self.tell(HandOff(Item(item), SessionId(to), Caller(process), fence))[0]

    def withdraw(self, request: str, process: ProcessIdentity | None = None, item: str = "") -> Any:
        """By that process, or because a connection ended."""
        caller = None if process is None else Caller(process)
        return self.tell(Withdraw(request, Item(item), caller))[0]

    def die(self, process: ProcessIdentity) -> None:
        self.dead.add(process)
        self.tell(death(process, self.now, signal=9))

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.tell(Tick())

    def host(self, process: ProcessIdentity, conversation: str = "conv-a", **more: Any) -> SessionId:
        """A session of that conversation in that process."""
        self.tell(start(self.now, conversation, anchor=bound(process), **more))
        (open_one,) = (
            each.id for each in self.world.sessions.values() if each.is_open and each.process == process
        )
        return open_one

    def claim(self, item: str) -> Claim:
        return self.world.book.claims[Item(item)]

    def holder(self, item: str) -> ProcessIdentity | None:
        claim = self.world.book.claims.get(Item(item))
        return claim.holder if claim else None

    def held(self) -> dict[str, ProcessIdentity | None]:
        return {claim.item: claim.holder for claim in self.world.book.holding()}
