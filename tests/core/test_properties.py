"""The invariants of the core, over any evidence in any order."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from headcount.core.values.events import apply
from headcount.core.values.evidence import Judged, Tick
from headcount.core.values.report import Anchor, Background, Opening, Turn, WaitingOn
from headcount.core.values.session import Liveness
from headcount.core.values.verdict import Proof, Standing, alive, dead, unknown
from tests.rig.core_values import T0, Scene, bound, process, record, report

PROCESSES = [process(100), process(200), process(100, inode=7)]  # the third has the first one's pid
CONVERSATIONS = ["conv-a", "conv-b"]
NOW = T0 + 1000

times = st.integers(0, 50).map(lambda tick: T0 + tick)
anchors = st.one_of(
    st.just(Anchor(by="stat line", why="not here")),
    st.sampled_from(PROCESSES).map(bound),
)
turns = st.sampled_from(Turn)


@st.composite
def reports(draw, subagents=st.none()):
    turn = draw(turns)
    kind = draw(st.sampled_from(["main", "main", "main", "opening", "leaving"]))
    more = {}
    if kind == "opening":
        more = {"opening": draw(st.sampled_from(Opening))}
        turn = Turn.STARTED
    elif kind == "leaving":
        more = {"leaving": draw(st.sampled_from(["clear", "resume", "other"]))}
        turn = None
    return report(
        "SessionStart" if kind == "opening" else kind,
        draw(times),
        draw(st.sampled_from(CONVERSATIONS)),
        turn,
        anchor=draw(anchors),
        waiting_on=WaitingOn.PERMISSION if turn is Turn.ASKED else None,
        subagent=draw(subagents),
        **more,
    )


records = st.builds(
    lambda process, at, conversation, status: record(process, at, conversation, status),
    st.sampled_from(PROCESSES),
    times,
    st.sampled_from(CONVERSATIONS),
    st.sampled_from(["busy", "idle", "waiting", "shell", None, "new-status"]),
)
deaths = st.builds(
    lambda process, at: Judged(process, dead(Proof.EXITED, "exited"), at), st.sampled_from(PROCESSES), times
)
doubts = st.builds(
    lambda process, at: Judged(process, unknown("EMFILE"), at), st.sampled_from(PROCESSES), times
)
proofs = st.builds(
    lambda process, at: Judged(process, alive("pidfd open"), at), st.sampled_from(PROCESSES), times
)
evidence = st.one_of(reports(), reports(), reports(), records, deaths, doubts, proofs, st.just(Tick()))
stories = st.lists(evidence, max_size=25)


def rows(scene: Scene) -> dict:
    return dict(scene.world.sessions)


def meaning(scene: Scene) -> list:
    """Rows without what depends on the numbering of events."""
    return sorted(
        repr((each.agent, each.conversation, each.process, each.liveness, each.activity.doing, each.turned, each.status,
              each.ended and (each.ended.kind, each.ended.at)))
        for each in scene.sessions()
    )  # fmt: skip


@given(stories)
@settings(max_examples=400)
def test_replaying_the_journal_gives_the_same_rows(story):
    scene = Scene.after([[piece] for piece in story])
    replayed = {}
    for event in scene.events:
        replayed[event.session] = apply(replayed.get(event.session), event)
    assert replayed == rows(scene)
    assert [event.seq for event in scene.events] == list(range(1, len(scene.events) + 1))


@given(stories)
@settings(max_examples=300)
def test_one_batch_or_many_come_to_the_same(story):
    assert rows(Scene.after([story])) == rows(Scene.after([[piece] for piece in story]))


@given(stories)
@settings(max_examples=400)
def test_a_proven_end_is_final(story):
    scene, over = Scene(), {}
    for piece in story:
        scene.hear(piece, now=NOW)
        for id, ended in over.items():
            assert replace(scene.world.sessions[id].ended, because="") == ended
            assert scene.world.sessions[id].liveness is Liveness.ENDED
        over = {
            each.id: replace(each.ended, because="")  # its wording may become more exact: /resume was /branch
            for each in scene.sessions()
            if each.ended and each.ended.proven
        }


@given(stories, st.data())
@settings(max_examples=300)
def test_doubt_never_ends_and_leaves_no_trace_once_it_is_settled(story, data):
    certain = [
        each
        for each in story
        if not (isinstance(each, Judged) and each.verdict.standing is not Standing.DEAD)
    ]
    doubtful = list(certain)
    for _ in range(data.draw(st.integers(1, 6))):
        doubtful.insert(data.draw(st.integers(0, len(doubtful))), data.draw(doubts))
    settled = [Judged(process, alive("pidfd open"), T0 + 100) for process in PROCESSES]
    assert meaning(Scene.after([[each] for each in [*doubtful, *settled]])) == meaning(
        Scene.after([[each] for each in [*certain, *settled]])
    )


@given(stories)
@settings(max_examples=400)
def test_the_same_word_twice_changes_nothing(story):
    scene = Scene()
    for piece in story:
        scene.hear(piece, now=NOW)
        assert scene.hear(piece, now=NOW).events == []


@given(st.lists(reports(), min_size=1, max_size=12), st.data())
@settings(max_examples=400)
def test_a_word_that_comes_again_late_changes_nothing(words, data):
    story = [
        replace(word, at=T0 + nth, anchor=bound(PROCESSES[0])) for nth, word in enumerate(words)
    ]  # one process, in order
    scene = Scene.after([[piece] for piece in story])
    before = meaning(scene)
    scene.hear(data.draw(st.sampled_from(story)), now=NOW)
    assert meaning(scene) == before


@given(
    st.lists(
        st.tuples(times, st.sampled_from([turn for turn in Turn if turn is not Turn.COMPACTING])),
        min_size=1,
        max_size=8,
    ),
    st.randoms(),
)
@settings(max_examples=300)
def test_the_order_of_arrival_does_not_matter(words, random):
    story = [report(turn.value, at, says=turn, anchor=bound(PROCESSES[0])) for at, turn in words]
    shuffled = list(story)
    random.shuffle(shuffled)

    def final(pieces):
        session = Scene.after([[piece] for piece in pieces]).only()
        return session.turned, session.activity.doing, session.last_event_at, session.liveness

    assert final(shuffled) == final(sorted(story, key=lambda each: each.at))


@given(stories, st.lists(reports(subagents=st.sampled_from(["sub-1", "sub-2"])), min_size=1, max_size=5))
@settings(max_examples=300)
def test_a_subagent_never_sets_the_main_activity(story, murmurs):
    scene = Scene.after([[piece] for piece in story])
    for murmur in murmurs:
        before = {each.id: (each.activity, each.turned) for each in scene.sessions()}
        scene.hear(replace(murmur, background_started=Background("s", "subagent")), now=NOW)
        for id, activity in before.items():
            session = scene.world.sessions[id]
            assert (session.activity, session.turned) == activity


@given(stories)
@settings(max_examples=400)
def test_a_process_hosts_at_most_one_open_session(story):
    scene = Scene()
    for piece in story:
        scene.hear(piece, now=NOW)
        hosts = [each.process for each in scene.sessions() if each.is_open and each.process is not None]
        assert len(hosts) == len(set(hosts))
        for each in scene.sessions():
            assert (each.liveness is Liveness.ENDED) == (each.ended is not None)
            assert each.liveness not in (Liveness.ALIVE, Liveness.DOUBTED) or each.process is not None
            assert each.liveness not in (Liveness.UNBOUND, Liveness.LOST) or each.process is None


@given(stories, st.floats(0, 10**9))
@settings(max_examples=200)
def test_time_alone_ends_nothing_and_never_touches_a_session_with_a_process(story, later):
    scene = Scene.after([[piece] for piece in story])
    before = {each.id: each for each in scene.sessions()}
    scene.hear(Tick(), now=NOW + later)
    for each in scene.sessions():
        assert each.is_open == before[each.id].is_open
        if each.process is not None:
            assert each == before[each.id]
