"""What `doctor` concludes."""

from dataclasses import replace

import pytest

from headcount import __version__
from headcount.cli.doctor.facts import Facts, FileFacts, bad_lines
from headcount.cli.doctor.findings import findings_of
from headcount.client.faults import Deaf, NotRunning
from headcount.paths import Places

WELL = Facts(
    running=True,
    fault=None,
    took=0.002,
    version=__version__,
    status={
        "pid": 1,
        "version": __version__,
        "processes": "linux",
        "watched": 3,
        "polled": 0,
        "store": {"seq": 1},
    },
    socket=FileFacts("socket", 0o600, True),
    state=FileFacts("directory", 0o700, True),
    mailbox=FileFacts("directory", 0o700, True),
    flag=True,
    waiting=0,
    oldest=None,
    free=10**10,
    descriptors=(20, 20_000),
    places=Places.below("/h"),
)
DOWN = replace(WELL, running=False, fault=NotRunning("x"), version=None, status={}, socket=None, flag=False)


def levels(facts: Facts) -> dict[str, str]:
    return {finding.check: finding.level for finding in findings_of(facts)}


def test_a_healthy_daemon_has_nothing_to_do() -> None:
    assert set(levels(WELL).values()) == {"ok"}


def test_a_daemon_that_is_down_is_a_note_and_no_finding() -> None:
    assert levels(DOWN)["daemon"] == "note"
    assert "finding" not in levels(DOWN).values()


@pytest.mark.parametrize(
    ("check", "facts"),
    [
        ("daemon", replace(WELL, fault=Deaf("x"), status={})),  # accident H11: alive but deaf
        ("daemon", replace(WELL, took=1.0)),
        ("daemon", replace(WELL, status={})),
        ("version", replace(WELL, version="0.0.1")),
        ("version", replace(WELL, version="99.0")),
        ("socket", replace(WELL, socket=FileFacts("socket", 0o666, True))),
        ("directory", replace(DOWN, state=None, locked="/home/somebody")),
        ("socket", replace(WELL, socket=FileFacts("socket", 0o600, False))),
        ("socket", replace(WELL, socket=None)),
        ("directory", replace(WELL, state=FileFacts("directory", 0o755, True))),
        ("mailbox", replace(WELL, mailbox=None)),
        ("mailbox", replace(WELL, mailbox=FileFacts("directory", 0o500, True))),
        ("mailbox", replace(WELL, waiting=5_000, oldest=1.0)),
        ("mailbox", replace(WELL, waiting=1, oldest=600.0)),
        ("flag", replace(DOWN, flag=True)),
        ("flag", replace(WELL, flag=False)),
        ("disk", replace(WELL, free=1000)),
        ("store", replace(WELL, status={**WELL.status, "store": {"trouble": "disk full"}})),
        ("store", replace(WELL, status={**WELL.status, "store": {"set_aside": "/h/x"}})),
        ("watching", replace(WELL, status={**WELL.status, "polled": 2})),
        (
            "watching",
            replace(WELL, status={**WELL.status, "polled": 2, "warnings": ["few descriptors are left: 2"]}),
        ),
        ("open files", replace(WELL, descriptors=(1000, 1024))),
        ("warning", replace(WELL, status={**WELL.status, "warnings": ["w"]})),
    ],
)
def test_each_trouble_is_a_finding_with_a_next_step(check: str, facts: Facts) -> None:
    found = [
        finding for finding in findings_of(facts) if finding.check == check and finding.level == "finding"
    ]
    assert len(found) == 1
    assert found[0].next


@pytest.mark.parametrize(
    ("check", "facts"),
    [
        ("events", replace(WELL, status={**WELL.status, "unknown_events": {"NewThing": 3}})),
        ("watching", replace(WELL, status={**WELL.status, "processes": "portable"})),
        ("log", replace(WELL, errors=("boom",))),
        ("mailbox", replace(DOWN, waiting=9_000, oldest=9_000.0)),
        ("socket", replace(DOWN, socket=FileFacts("socket", 0o600, True))),
        ("disk", replace(WELL, free=None)),
    ],
)
def test_what_is_only_to_know_is_a_note(check: str, facts: Facts) -> None:
    assert levels(facts)[check] == "note"


def test_errors_of_the_log_are_one_line_each() -> None:
    tail = '{"level": "info", "message": "error free"}\n{"level": "error", "message": "no", "trace": "a\\nOSError: full"}\nx'
    assert bad_lines(tail) == ("no: OSError: full",)


def test_a_warning_about_the_fleet_leads_to_the_fleet() -> None:
    said = ["the fleet cannot be reached: no route", "the disk is full"]
    found = findings_of(replace(WELL, status={**WELL.status, "warnings": said}))
    steps = [each.next for each in found if each.check == "warning"]
    assert steps == ["headcount fleet status", f"see {WELL.places.log}"]
