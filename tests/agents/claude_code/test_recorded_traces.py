"""Traces of the real CLI, replayed: the activity must come out as a person at the screen saw it."""

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from headcount.agents.claude_code.registry import ClaudeRegistry, parse
from headcount.agents.claude_code.reports import EVENTS, translate, unknown_fields
from headcount.core.values.evidence import Evidence
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import Anchor, Record, Report
from headcount.core.values.session import EndKind, Session
from tests.rig.core_values import HERE, Scene

TRACES = {
    path.stem: json.loads(path.read_text())
    for path in (Path(__file__).parents[2] / "rig" / "traces").glob("*.json")
}
INSTALLED = {row.name for row in EVENTS.installed}
LATER = 2e9
SEEN_LATE = 0.06  # the recorder looks at the registry beside the person at the screen, and may be second

Entry = dict[str, Any]


def process_of(trace: dict[str, Any]) -> ProcessIdentity:
    record = next(
        entry["record"] for entry in trace["entries"] if entry["kind"] == "registry" and entry["record"]
    )
    return ProcessIdentity(HERE.boot, HERE.namespace, record["pid"], int(record["procStart"]), 7)


def evidence_of(entry: Entry, process: ProcessIdentity) -> Evidence | None:
    if entry["kind"] == "hook" and entry["payload"]["hook_event_name"] in INSTALLED:
        report = translate(json.dumps(entry["payload"]).encode(), entry["at"], "hook")
        assert isinstance(report, Report)
        return replace(report, anchor=Anchor(process, True, "stat line"))
    if entry["kind"] == "registry" and entry["record"]:
        read = parse(json.dumps(entry["record"]).encode(), process.pid, written_at=entry["at"])
        assert read is not None
        return ClaudeRegistry().record(read, Anchor(process, True, "registry"))
    return None


def truths(trace: dict[str, Any]) -> Iterable[tuple[Entry, list[Evidence]]]:
    """Every moment at which the truth is known, with all evidence that there was until then."""
    entries, process = trace["entries"], process_of(trace)
    for index, entry in enumerate(entries):
        if entry["kind"] != "truth":
            continue
        acted = next(
            (later["at"] for later in entries[index:] if later["kind"] == "did"), entry["at"] + SEEN_LATE
        )
        until = min(entry["at"] + SEEN_LATE, max(acted, entry["at"]))
        before = [evidence_of(each, process) for each in entries if each["at"] <= until]
        yield entry, [each for each in before if each is not None]


def hosted(scene: Scene, process: ProcessIdentity) -> Session:
    session = scene.world.draft().current(process)
    assert session is not None
    return session


def session_after(evidence: Iterable[Evidence], process: ProcessIdentity) -> Session:
    scene = Scene()
    for each in evidence:
        scene.hear(each, now=LATER)
    return hosted(scene, process)


def shown(session: Session) -> tuple[str, str | None]:
    waiting_on = session.activity.waiting_on
    return session.activity.doing.value, waiting_on.value if waiting_on else None


@pytest.mark.parametrize("name", TRACES)
def test_the_shown_state_matches_the_recorded_one(name: str) -> None:
    trace = TRACES[name]
    for truth, evidence in truths(trace):
        session = session_after(evidence, process_of(trace))
        assert shown(session) == (truth["activity"], truth["waiting_on"]), truth


@pytest.mark.parametrize("name", TRACES)
def test_a_restart_that_reads_all_events_at_once_gives_the_same_state(name: str) -> None:
    trace = TRACES[name]
    for truth, evidence in truths(trace):
        scene = Scene()
        scene.hear(*evidence, now=LATER)
        scene.hear(*evidence, now=LATER)  # and twice is once
        assert shown(hosted(scene, process_of(trace))) == (truth["activity"], truth["waiting_on"]), truth


SWAPS = {"clear", "resume", "branch"}  # there the order of conversations is the matter: see below


@pytest.mark.parametrize("name", sorted(TRACES.keys() - SWAPS))
def test_any_order_of_events_gives_the_same_state(name: str) -> None:
    trace = TRACES[name]
    for truth, evidence in truths(trace):
        for seed in range(10):
            mixed = random.Random(seed).sample(evidence, len(evidence))
            session = session_after(mixed, process_of(trace))
            assert shown(session) == (truth["activity"], truth["waiting_on"]), (truth, seed)


WITHOUT_HOOKS = {"done": "idle", "failed": "idle"}  # the registry knows no difference


@pytest.mark.parametrize("name", sorted(TRACES.keys() - {"print-turn-older"}))
def test_the_registry_alone_shows_waiting_working_and_idle(name: str) -> None:
    trace = TRACES[name]
    for truth, evidence in truths(trace):
        session = session_after((each for each in evidence if isinstance(each, Record)), process_of(trace))
        assert shown(session)[0] == WITHOUT_HOOKS.get(truth["activity"], truth["activity"]), truth


def test_hooks_alone_cannot_see_esc() -> None:
    """The control: why the registry is read at all (accident L5)."""
    for name in ("esc-streaming", "esc-tool", "permission-esc", "question-esc", "permission-deny"):
        trace = TRACES[name]
        *_, (truth, evidence) = truths(trace)
        session = session_after((each for each in evidence if isinstance(each, Report)), process_of(trace))
        assert truth["activity"] == "idle"
        assert shown(session)[0] in ("working", "waiting")


@pytest.mark.parametrize(("name", "openings"), [("clear", 2), ("branch", 2), ("resume", 3)])
def test_a_swap_inside_a_process_supersedes(name: str, openings: int) -> None:
    trace = TRACES[name]
    process, scene = process_of(trace), Scene()
    for entry in trace["entries"]:
        if (evidence := evidence_of(entry, process)) is not None:
            scene.hear(evidence, now=LATER)
    sessions = scene.sessions()
    assert len(sessions) == openings
    assert [each.ended.kind for each in sessions[:-1] if each.ended] == [EndKind.SUPERSEDED] * (openings - 1)
    assert {each.process for each in sessions} == {process}
    if name == "resume":
        assert sessions[0].conversation == sessions[2].conversation != sessions[1].conversation


def test_the_label_of_a_dialog_stays_while_it_is_open() -> None:
    for name, label in (
        ("permission-noticed", "Bash: touch a"),
        ("question-noticed", "Retry policy (3 options)"),
    ):
        trace = TRACES[name]
        waiting = [each for each in truths(trace) if each[0]["activity"] == "waiting"]
        assert len(waiting) == 2  # before and after its Notification
        for _, evidence in waiting:
            assert session_after(evidence, process_of(trace)).activity.label == label


def test_no_trace_holds_a_field_that_no_table_knows() -> None:
    for trace in TRACES.values():
        for entry in trace["entries"]:
            if entry["kind"] == "hook":
                assert unknown_fields(json.dumps(entry["payload"]).encode()) == ()
            if entry["kind"] == "registry" and entry["record"]:
                read = parse(json.dumps(entry["record"]).encode(), entry["record"]["pid"])
                assert read is not None and read.unknown == ()
