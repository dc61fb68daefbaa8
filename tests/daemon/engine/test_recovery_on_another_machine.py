"""A home that was carried to another machine: what ran there is in doubt here, and doubt ends and frees nothing."""

from types import SimpleNamespace

from msgspec.structs import replace

from headcount.core.decide import decide
from headcount.core.liveness_proofs import decide_proved
from headcount.core.state.claims import ClaimsState
from headcount.core.state.world import World
from headcount.core.values.claim import Acquire, Caller, Claim
from headcount.core.values.item import Item
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import EndKind, Liveness, Session, SessionId
from headcount.core.values.verdict import Standing, Verdict
from headcount.daemon.engine.deaths import Deaths
from headcount.daemon.engine.recovery import boots_of, recover
from headcount.store.interface import Loaded
from tests.rig.kernel.fake_kernel import FakeKernel

NOW = 2_000_000.0
ITEM = Item("task:AUTH-12")


class Home:
    """A store with two sessions and a claim of an earlier boot, opened on `machine`."""

    def __init__(self, began_on: str | None) -> None:
        self.kernel = FakeKernel()
        self.processes = self.kernel.processes(None)
        place = self.processes.place()
        self.there = ProcessIdentity("boot-of-then", place.namespace, 77, 5)
        bound = Session(SessionId("a1"), "bot", "c1", Liveness.ALIVE, 1.0, 1.0, self.there.boot, self.there)
        unbound = replace(
            bound, id=SessionId("b2"), conversation="c2", process=None, liveness=Liveness.UNBOUND
        )
        machine = began_on or place.machine
        self.loaded = Loaded(
            [bound, unbound],
            9,
            place.machine,  # not the first start here
            NOW - 60,
            machines={bound.id: machine, unbound.id: machine},
            claims=[Claim(ITEM, 7, self.there, bound.id, "c1", 1.0)],
        )
        book = ClaimsState(self.loaded.claims, (), 7)
        self.world = World(place, self.loaded.sessions, 9, book, boots_of(self.loaded))

    def start(self) -> None:
        evidence = recover(
            self.world,
            self.loaded,
            Deaths(self.processes, SimpleNamespace(now=lambda: NOW), lambda evidence: None),
            NOW,
        )
        decide(self.world, evidence, NOW)[0].settle()

    def ask_for_the_item(self) -> None:
        facts = self.processes.look(self.kernel.spawn(comm="bot").pid)
        asks = [Acquire(ITEM, Caller(facts.identity), "r1")]
        assert self.prove(facts.identity).standing is Standing.ALIVE
        decide_proved(self.world, asks, NOW, self.prove)[0].settle()

    def prove(self, process: ProcessIdentity) -> Verdict:
        return self.processes.prove(process, self.world.machine_of(process.boot))


def test_what_ran_on_another_machine_is_neither_ended_nor_robbed():
    home = Home("laptop")
    home.start()
    home.ask_for_the_item()
    assert [each.liveness for each in home.world.sessions.values()] == [Liveness.DOUBTED, Liveness.UNBOUND]
    assert home.world.book.claims[ITEM].holder == home.there


def test_what_ran_here_before_a_restart_of_the_machine_is_over():
    home = Home(None)
    home.start()
    assert {each.ended.kind for each in home.world.sessions.values() if each.ended} == {EndKind.REBOOTED}
    assert not home.world.book.claims[ITEM].is_held
    home.ask_for_the_item()
    assert home.world.book.claims[ITEM].fence > 7
