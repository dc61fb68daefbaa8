"""Constant bounds of what anybody can make up: sessions without a process, and claims of one process."""

from collections import Counter

from headcount.core.claims.grants import CLAIMS_MOST
from headcount.core.sessions.start import UNPROVEN_MOST
from headcount.core.values.claim import ClaimRefused, Granted
from headcount.core.values.evidence import Tick
from headcount.core.values.report import Anchor, Turn
from headcount.core.values.session import Liveness
from headcount.times import LOST_AFTER
from tests.rig.claims.core_ledger import Desk
from tests.rig.core_values import T0, Scene, bound, leaving, process, report, start

A, B = process(100), process(200)
LATER = T0 + LOST_AFTER + 60


def forged(count: int, at: float = T0, name: str = "forged") -> list:
    return [
        report(at=at, conversation=f"{name}-{nth}", anchor=Anchor(why="not here")) for nth in range(count)
    ]


def by_liveness(scene: Scene) -> Counter[Liveness]:
    return Counter(each.liveness for each in scene.sessions() if each.process is None)


def test_forged_reports_open_so_many_sessions_and_no_more() -> None:
    scene = Scene()
    scene.hear(start(anchor=bound(A)), now=T0)
    decision = scene.hear(*forged(UNPROVEN_MOST + 100), now=T0)
    assert by_liveness(scene) == {Liveness.UNBOUND: UNPROVEN_MOST}
    assert decision.counts["unproven_refused"] == 100
    heard = scene.hear(*forged(10, at=T0 + 1), now=T0 + 1)  # those that are open are heard
    assert len(heard.events) == 10 and not heard.counts["unproven_refused"]


def test_whoever_was_lost_first_gives_way_and_nobody_with_a_process_does() -> None:
    scene = Scene()
    scene.hear(start(anchor=bound(A)), now=T0)
    scene.hear(*forged(UNPROVEN_MOST), now=T0)
    scene.hear(Tick(), now=LATER)
    assert by_liveness(scene) == {Liveness.LOST: UNPROVEN_MOST}
    decision = scene.hear(*forged(3, LATER, "new"), start(LATER, "conv-b", anchor=bound(B)), now=LATER)
    assert decision.counts["unproven_forgotten"] == 3
    (gone,) = scene.of("forged-0")
    assert gone.ended is not None and "lost first" in gone.ended.because
    assert by_liveness(scene) == {
        Liveness.UNBOUND: 3, Liveness.LOST: UNPROVEN_MOST - 3, Liveness.ENDED: 3,
    }  # fmt: skip
    assert [each.liveness for each in scene.sessions() if each.process] == [Liveness.ALIVE] * 2
    scene.hear(
        report(at=LATER + 1, conversation="forged-0"), now=LATER + 1
    )  # it is heard again: it was not over
    assert scene.of("forged-0")[0].liveness is Liveness.UNBOUND
    assert scene.of("forged-3")[0].liveness is Liveness.ENDED


def test_farewells_fill_no_memory_either_and_a_reopened_one_counts() -> None:
    scene = Scene()
    for nth in range(3 * UNPROVEN_MOST):
        scene.hear(report(conversation=f"f-{nth}"), leaving(T0 + 1, f"f-{nth}"), now=T0 + 1)
    assert by_liveness(scene)[Liveness.ENDED] <= UNPROVEN_MOST + 1
    assert not scene.of("f-0") and scene.of(f"f-{3 * UNPROVEN_MOST - 1}")
    scene.hear(*forged(UNPROVEN_MOST), now=T0 + 2)
    again = report(at=T0 + 3, conversation=f"f-{3 * UNPROVEN_MOST - 1}", says=Turn.PROMPTED)
    assert scene.hear(again, now=T0 + 3).counts["unproven_refused"] == 1
    assert by_liveness(scene)[Liveness.UNBOUND] == UNPROVEN_MOST


def test_a_process_that_is_learned_makes_room() -> None:
    scene = Scene()
    scene.hear(*forged(UNPROVEN_MOST), now=T0)
    scene.hear(report(at=T0 + 1, conversation="forged-7", anchor=bound(A)), now=T0 + 1)
    scene.hear(*forged(1, T0 + 2, "new"), now=T0 + 2)
    assert by_liveness(scene) == {Liveness.UNBOUND: UNPROVEN_MOST}
    assert scene.of("forged-7")[0].process == A


def filled() -> Desk:
    desk = Desk()
    for nth in range(CLAIMS_MOST):
        assert isinstance(desk.acquire(f"task:{nth}", A), Granted)
    return desk


def test_one_process_holds_so_many_claims_and_is_told_why_no_more() -> None:
    desk = filled()
    refused = desk.acquire("task:more", A)
    assert isinstance(refused, ClaimRefused) and refused.code == "too-many-claims"
    assert str(CLAIMS_MOST) in refused.why and "Release" in refused.why
    assert isinstance(desk.acquire("task:more", A, wait=30), ClaimRefused), "it does not wait for itself"
    assert isinstance(desk.acquire("task:7", A), Granted), "what it holds it may ask for again"
    assert isinstance(desk.acquire("task:more", B), Granted)
    desk.release("task:7", A)
    assert isinstance(desk.acquire("task:another", A), Granted)
    assert len(desk.held()) == CLAIMS_MOST + 1


def test_neither_a_handoff_nor_a_wait_gets_past_it() -> None:
    desk = filled()
    heir = desk.host(A)
    desk.acquire("task:b1", B)
    assert desk.hand_off("task:b1", B, heir).code == "too-many-claims"
    assert desk.holder("task:b1") == B
    desk.release("task:0", A)
    desk.acquire("task:b1", A, wait=30, request="waits")
    desk.acquire("task:full-again", A)
    desk.release("task:b1", B)
    assert desk.answers["waits"].code == "too-many-claims"
    assert desk.holder("task:b1") is None
