"""Details and their origins: each fact says who said it, and when."""

from msgspec.structs import replace

from headcount.core.state.world import World
from headcount.core.values.events import EventType
from headcount.core.values.evidence import CheckoutSeen, Glimpse, Told
from headcount.core.values.report import Details, Found
from headcount.core.values.session import TRACED, Checkout, EndKind, Origin, Session, Spent, traced
from headcount.core.values.verdict import Proof, dead
from tests.rig.core_values import HERE, T0, Scene, bound, death, judged, process, record, report, start


def origins(session: Session) -> dict[str, tuple[str, float]]:
    return {each.field: (each.source, each.at) for each in session.origins}


def test_every_traced_field_is_a_field_of_a_session() -> None:
    assert {field for field in TRACED if field not in Session.__struct_fields__} == set()


def test_a_later_word_replaces_the_origin_of_its_field_alone() -> None:
    known = (Origin("cwd", "hook", 1.0), Origin("model", "transcript", 2.0))
    assert traced(known, {"cwd": "/x"}, "registry", 3.0) == {
        "origins": (Origin("model", "transcript", 2.0), Origin("cwd", "registry", 3.0))
    }
    assert traced(known, {"activity": 1}, "hook", 3.0) == {}


def test_each_source_is_named_beside_what_it_said() -> None:
    scene, one = Scene(), process()
    scene.hear(Found("claude-code", one, T0, cwd="/found"))
    assert origins(scene.only()) == {"cwd": ("scan", T0)}
    details = Details(cwd="/registered", name="n", version="2.1.325")
    scene.hear(record(one, T0 + 1, details=details))
    told = origins(scene.only())
    assert (told["name"], told["version"]) == (("registry", T0 + 1), ("registry", T0 + 1))
    assert told["cwd"] == ("scan", T0)  # a registry does not follow a cd, so it does not overrule
    scene.hear(report(at=T0 + 2, anchor=bound(one), details=Details(cwd="/hooked", model="m")))
    told = origins(scene.only())
    assert (told["cwd"], told["model"]) == (("hook", T0 + 2), ("hook", T0 + 2))
    spent = Spent(10, 2, 0.5)
    scene.hear(Glimpse("claude-code", "conv-a", context_tokens=7, spent=spent), now=T0 + 3)
    assert origins(scene.only())["spent"] == ("transcript", T0 + 3)
    assert scene.only().spent == spent


def test_a_word_that_changes_nothing_keeps_the_origin() -> None:
    scene, one = Scene(), process()
    scene.hear(start(anchor=bound(one), details=Details(cwd="/x")))
    scene.hear(report(at=T0 + 5, anchor=bound(one), details=Details(cwd="/x")))
    assert origins(scene.only())["cwd"] == ("hook", T0)


def test_an_older_model_from_a_transcript_does_not_replace_a_newer_one() -> None:
    """A daemon that starts reads every open transcript again; its last answer may be from before the last hook."""
    scene = Scene()
    scene.hear(start(anchor=bound(process()), details=Details(model="newer")))
    scene.hear(Glimpse("claude-code", "conv-a", model="older", model_at=T0 - 10), now=T0 + 5)
    assert (scene.only().model, origins(scene.only())["model"]) == ("newer", ("hook", T0))
    scene.hear(Glimpse("claude-code", "conv-a", model="newest", model_at=T0 + 6), now=T0 + 9)
    assert (scene.only().model, origins(scene.only())["model"]) == ("newest", ("transcript", T0 + 6))


def test_a_model_with_a_time_to_come_counts_as_now_and_gives_way_to_the_next() -> None:
    scene = Scene()
    scene.hear(start(anchor=bound(process())))
    scene.hear(Glimpse("claude-code", "conv-a", model="early", model_at=T0 + 1e9), now=T0 + 5)
    scene.hear(Glimpse("claude-code", "conv-a", model="next", model_at=T0 + 6), now=T0 + 7)
    assert scene.only().model == "next"


# --- where it works -----------------------------------------------------------------------------------


def located(scene: Scene, cwd: str, checkout: Checkout | None, at: float = T0 + 5) -> None:
    scene.hear(CheckoutSeen(scene.only().id, cwd, checkout, at))


def test_a_repository_is_kept_for_the_directory_it_was_read_for() -> None:
    scene = Scene()
    scene.hear(start(anchor=bound(process()), details=Details(cwd="/src/api")))
    here = Checkout("api", "auth-12")
    located(scene, "/src/other", here)
    assert scene.only().checkout is None  # it has moved on since
    located(scene, "/src/api", here)
    assert (scene.only().checkout, origins(scene.only())["checkout"]) == (here, ("git", T0 + 5))
    events = len(scene.events)
    located(scene, "/src/api", here, T0 + 6)
    assert len(scene.events) == events  # nothing new, no event


def test_whoever_left_a_repository_is_not_shown_in_it() -> None:
    scene = Scene()
    scene.hear(start(anchor=bound(process()), details=Details(cwd="/src/api")))
    located(scene, "/src/api", Checkout("api", "main"))
    located(scene, "/src/api", None, T0 + 6)
    assert scene.only().checkout is None


def test_where_an_ended_session_worked_stays_as_it_was() -> None:
    scene, one = Scene(), process()
    scene.hear(start(anchor=bound(one), details=Details(cwd="/src/api")))
    located(scene, "/src/api", Checkout("api", "main"))
    scene.hear(death(one, T0 + 9))
    located(scene, "/src/api", None, T0 + 10)
    assert scene.only().checkout == Checkout("api", "main")


# --- what it cost -------------------------------------------------------------------------------------


def test_what_a_conversation_cost_is_learned_after_its_end_and_opens_nothing() -> None:
    scene, one = Scene(), process()
    scene.hear(start(anchor=bound(one)))
    scene.hear(death(one, T0 + 1))
    decided = scene.hear(Glimpse("claude-code", "conv-a", spent=Spent(10, 2, 0.5)))
    ended = scene.only()
    assert (ended.spent, ended.is_open, ended.ended is not None) == (Spent(10, 2, 0.5), False, True)
    assert [event.type for event in decided.events] == [EventType.SESSION_CHANGED]
    assert scene.hear(Glimpse("claude-code", "conv-a", spent=Spent(10, 2, 0.5))).is_blank


def test_a_transcript_in_two_living_processes_adds_to_neither() -> None:
    scene = Scene()
    scene.hear(start(anchor=bound(process(100))), start(anchor=bound(process(200))))
    assert scene.hear(Glimpse("claude-code", "conv-a", spent=Spent(1, 1))).is_blank


# --- a reboot is told once ----------------------------------------------------------------------------


def test_what_a_reboot_ended_is_untold_until_somebody_was_told() -> None:
    scene, one, two = Scene(), process(100), process(200)
    scene.hear(start(anchor=bound(one)), start(conversation="conv-b", anchor=bound(two)))
    scene.hear(death(two, T0 + 1))
    scene.hear(judged(one, dead(Proof.REBOOTED, "rebooted"), T0 + 2))
    [rebooted], [killed] = scene.of("conv-a"), scene.of("conv-b")
    assert rebooted.ended is not None and killed.ended is not None
    assert (rebooted.ended.kind, rebooted.ended.told) == (EndKind.REBOOTED, False)
    assert killed.ended.told  # a death is told as it happens
    assert len(scene.hear(Told(T0 + 3)).events) == 1
    [rebooted] = scene.of("conv-a")
    assert rebooted.ended is not None and rebooted.ended.told
    assert scene.hear(Told(T0 + 4)).is_blank


def test_an_old_store_has_no_news() -> None:
    """Sessions that a reboot ended before this was kept take the default: told."""
    scene, one = Scene(), process()
    scene.hear(start(anchor=bound(one)))
    scene.hear(judged(one, dead(Proof.REBOOTED, "rebooted"), T0 + 2))
    [session] = scene.sessions()
    assert session.ended is not None
    import msgspec

    body = msgspec.to_builtins(session)
    del body["ended"]["told"]
    read = msgspec.convert(body, Session)
    assert read.ended is not None and read.ended.told
    assert World(HERE, [replace(read)]).sessions
