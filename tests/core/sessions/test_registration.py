"""Registering in the pure core: what is replaced, what is refused, what is carried."""

from typing import Any

from headcount.core.decide import decide
from headcount.core.values.evidence import Register, TurnedAway, Unregister
from headcount.core.values.report import Opening
from headcount.core.values.session import EndKind, Liveness, Registration
from headcount.core.values.verdict import unknown
from tests.rig.core_values import T0, Scene, bound, death, judged, leaving, process, record, report, start


def registering(
    identity: Any,
    conversation: str | None = "conv-a",
    at: float = T0,
    agent: str = "claude-code",
    **more: Any,
) -> Register:
    given = Registration(
        at, "operator", more.pop("name", None), more.pop("role", None), more.pop("groups", ())
    )
    return Register(agent, conversation, identity, given, **more)


def ask(scene: Scene, command: Register | Unregister) -> Any:
    draft, (outcome,) = decide(scene.world, [command], T0 + 10_000)
    scene.events += draft.decision.events
    draft.settle()
    return outcome


def test_a_registered_session_is_alive_in_its_process_with_its_labels():
    scene = Scene()
    id = ask(scene, registering(process(7), name="auth", role="builder", groups=("api", "night")))
    session = scene.only()
    assert (session.id, session.liveness, session.process) == (id, Liveness.ALIVE, process(7))
    assert (session.name, session.role, session.groups) == ("auth", "builder", ("api", "night"))


def test_the_same_process_registering_again_changes_its_own_row():
    scene = Scene()
    first = ask(scene, registering(process(7), name="auth"))
    assert ask(scene, registering(process(7), at=T0 + 1, name="auth-2")) == first
    assert scene.only().name == "auth-2"


def test_a_conversation_that_lives_in_another_process_is_not_taken_and_its_host_is_named():
    scene = Scene()
    first = ask(scene, registering(process(7)))
    assert ask(scene, registering(process(8))) == TurnedAway("alive-elsewhere", first)
    assert scene.only().process == process(7)


def test_doubt_about_the_predecessor_is_no_proof_of_its_end():
    scene = Scene()
    first = ask(scene, registering(process(7)))
    scene.hear(judged(process(7), unknown("no descriptor left"), T0 + 1))
    assert ask(scene, registering(process(8), at=T0 + 2)) == TurnedAway("alive-elsewhere", first)


def test_after_the_proven_end_of_the_predecessor_it_is_a_new_session_that_names_it():
    scene = Scene()
    first = ask(scene, registering(process(7), name="auth", role="builder"))
    scene.hear(death(process(7), T0 + 1))
    second = ask(scene, registering(process(8), at=T0 + 2))
    session = scene.world.sessions[second]
    assert (session.predecessor, session.process) == (first, process(8))
    assert (session.name, session.role) == (None, None)  # labels are the process's, and nobody inherits


def test_anyway_opens_it_a_second_time_and_ends_nobody():
    scene = Scene()
    first = ask(scene, registering(process(7)))
    second = ask(scene, registering(process(8), anyway=True))
    assert second != first
    assert all(each.is_open for each in scene.sessions())


def test_a_process_whose_end_is_known_is_not_registered():
    scene = Scene()
    first = ask(scene, registering(process(7)))
    scene.hear(death(process(7), T0 + 1))
    assert ask(scene, registering(process(7), "conv-b", at=T0 + 2)) == TurnedAway("dead-process", first)


def test_what_hooks_or_the_registry_say_a_process_hosts_is_not_registered_away():
    for word in (report(anchor=bound(process(7))), record(process(7))):
        scene = Scene()
        scene.hear(word)
        held = scene.only().id
        assert ask(scene, registering(process(7), "conv-b", at=T0 + 1)) == TurnedAway("hosts-another", held)
        assert ask(scene, registering(process(7), "conv-a", at=T0 + 2)) == held


def test_a_process_known_only_by_registration_may_go_on_to_another_conversation():
    scene = Scene()
    first = ask(scene, registering(process(7), "conv-a"))
    second = ask(scene, registering(process(7), "conv-b", at=T0 + 1))
    old = scene.world.sessions[first]
    assert (old.ended.kind, old.ended.successor) == (EndKind.SUPERSEDED, second)
    assert scene.world.sessions[second].is_open


def test_a_launched_process_gets_its_conversation_from_its_first_report():
    scene = Scene()
    id = ask(scene, registering(process(7), None, name="auth"))
    scene.hear(start(T0 + 1, "conv-a", anchor=bound(process(7))))
    session = scene.only()
    assert (session.id, session.conversation, session.name) == (id, "conv-a", "auth")


def test_the_registered_name_stands_against_the_agents_own_and_stays_through_a_clear():
    scene = Scene()
    ask(scene, registering(process(7), name="auth", role="builder", groups=("api",)))
    from headcount.core.values.report import Details

    scene.hear(report(at=T0 + 1, anchor=bound(process(7)), details=Details(name="a title of its own")))
    assert scene.only().name == "auth"
    scene.hear(leaving(T0 + 2, reason="clear", anchor=bound(process(7))))
    scene.hear(start(T0 + 3, "conv-b", Opening.CLEAR, anchor=bound(process(7))))
    (session,) = scene.of("conv-b")
    assert (session.name, session.role, session.groups) == ("auth", "builder", ("api",))


def test_a_session_heard_of_without_a_process_is_bound_by_its_registration():
    scene = Scene()
    scene.hear(report())
    id = scene.only().id
    assert ask(scene, registering(process(7), at=T0 + 1)) == id
    session = scene.only()
    assert (session.liveness, session.process, session.bound_by) == (
        Liveness.ALIVE,
        process(7),
        "registration",
    )


def test_taking_a_registration_back_ends_nobody():
    scene = Scene()
    id = ask(scene, registering(process(7), name="auth", role="builder", groups=("api",)))
    assert ask(scene, Unregister(id, T0 + 1)) == id
    session = scene.only()
    assert session.is_open
    assert (session.name, session.role, session.groups, session.registration) == (None, None, (), None)
    assert ask(scene, Unregister(id, T0 + 2)) is None
