"""Deciding is pure: it changes nothing that is reachable from the world, so a dropped draft leaves no trace."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import asdict

from headcount.core.collisions import next_expiry
from headcount.core.decide import decide
from headcount.core.state.world import World
from headcount.core.values.claim import Acquire, Caller, CallerKind, HandOff, Release, Withdraw
from headcount.core.values.evidence import Awake, Judged, Register, Retire, Tick, Unregister
from headcount.core.values.item import Item
from headcount.core.values.leftover import Find, Left, LeftoverKind
from headcount.core.values.report import Anchor, Opening, Turn, Worktree
from headcount.core.values.session import Registration, SessionId
from headcount.core.values.verdict import Proof, alive, dead, unknown
from headcount.times import COLLISION_WITHIN
from tests.rig.core_values import HERE, T0, bound, process, record, report

PROCESSES = [process(100), process(200), process(300)]
CONVERSATIONS = ["conv-a", "conv-b", "conv-c"]
FILES = ["/src/a", "/src/b"]
ITEMS = ["task:a", "path:/src/**", "path:/src/a"]

moments = st.sampled_from([0, 1, 2, 30, COLLISION_WITHIN - 1, COLLISION_WITHIN + 5]).map(lambda at: T0 + at)
someone = st.sampled_from(PROCESSES)
callers = st.builds(Caller, someone) | st.just(Caller(None, kind=CallerKind.OPERATOR))
items = st.sampled_from(ITEMS).map(Item)
requests = st.sampled_from(["r1", "r2", "r3", "r4"])
maybe_file = st.none() | st.sampled_from(FILES)

reports = st.builds(
    lambda at, who, anchor, says, edits, would, tree, opening: report(
        "Any", at, CONVERSATIONS[who], says, anchor=anchor(PROCESSES[who]), edits=edits, would_edit=would,
        worktree=tree, opening=opening,
    ),
    moments,
    st.integers(0, 2),
    st.sampled_from([bound, bound, bound, lambda _: Anchor()]),
    st.none() | st.sampled_from(Turn),
    maybe_file,
    maybe_file,
    st.none() | st.sampled_from([Worktree("/src", "main", "web"), Worktree("/src", None, "web")]),
    st.none() | st.sampled_from(Opening),
)  # fmt: skip
verdicts = st.sampled_from([alive("it lives"), dead(Proof.EXITED, "exited"), unknown("EMFILE")])
evidence = st.one_of(
    reports,
    reports,
    reports,
    st.builds(record, someone, moments, st.sampled_from(CONVERSATIONS)),
    st.builds(Judged, someone, verdicts, moments),
    st.builds(Acquire, items, callers, requests, wait_until=st.none() | moments, until_empty=st.booleans()),
    st.builds(Release, items, callers, force=st.booleans()),
    st.builds(HandOff, items, st.just(SessionId("nobody")), callers),
    st.builds(Withdraw, requests),
    st.builds(Register, st.just("toy"), st.none() | st.sampled_from(CONVERSATIONS), someone,
              st.builds(Registration, moments)),
    st.builds(Unregister, st.just(SessionId("nobody")), moments),
    st.builds(lambda who, at: Left(None, (Find(LeftoverKind.PROCESS, str(who.pid), "dev server", (), who),), at, who),
              someone, moments),
    st.builds(Retire, moments, st.integers(0, 2)),
    st.just(Awake(T0)),
    st.just(Tick()),
)  # fmt: skip
batches = st.lists(evidence, max_size=8)
proved = st.dictionaries(someone, verdicts)


def portrait(value: Any) -> Any:
    """All that can be reached from it, as plain values. The order of a mapping counts: the oldest goes first."""
    if isinstance(value, Mapping):
        return [(portrait(key), portrait(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [portrait(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(repr(portrait(each)) for each in value)
    if isinstance(value, Struct):
        return type(value).__name__, portrait(asdict(value))
    if type(value).__module__.startswith("headcount.") and not isinstance(value, Enum):
        return type(value).__name__, portrait(vars(value))
    return value


@given(st.lists(st.tuples(batches, moments, proved), max_size=5), batches, batches, moments, proved)
@settings(max_examples=400)
def test_deciding_changes_nothing_and_the_same_batch_gives_the_same_decision(
    story, dropped, batch, now, asked
):
    world = World(HERE)
    for each, at, known in story:
        decide(world, each, at, known)[0].settle()
    before = portrait(world)
    first, said_first = decide(world, batch, now, asked)
    decide(world, dropped, now, asked)
    again, said_again = decide(world, batch, now, asked)
    assert portrait(world) == before
    assert said_again == said_first
    assert portrait(again.decision) == portrait(first.decision)
    first.settle()
    after = portrait(world)
    again.settle()
    assert portrait(world) == after  # the drafts agree also in what no decision names


def test_a_dropped_edit_raises_no_alarm() -> None:
    world = World(HERE)
    mine, theirs = (
        report(conversation=each, anchor=bound(who), edits="/src/a")
        for each, who in list(zip(CONVERSATIONS, PROCESSES, strict=True))[:2]
    )
    decide(world, [report(conversation="conv-a", anchor=bound(PROCESSES[0]))], T0)[0].settle()
    decide(world, [mine], T0)  # its commit failed, and it never came again
    draft, _ = decide(world, [theirs], T0)
    draft.settle()
    assert [each.alarms for each in world.sessions.values()] == [(), ()]
    assert next_expiry(world) is None
