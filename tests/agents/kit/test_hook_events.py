"""Tables of hook events: a row is all that a new event takes, and what is installed follows from it."""

import json
from typing import Any

import pytest

from headcount.agents.claude_code import reports as claude_code
from headcount.agents.codex import reports as codex
from headcount.agents.gemini import reports as gemini
from headcount.agents.kit.hook_events import NOTHING, HookEvent, HookFields, HookTable, Payload, Use, read
from headcount.agents.opencode import reports as opencode

TABLES = [
    pytest.param(each.EVENTS, id=each.NAME) for each in (claude_code, codex, gemini, opencode)
]  # fmt: skip


def payload(**fields: Any) -> Payload:
    made = read(json.dumps(fields).encode())
    assert isinstance(made, Payload)
    return made


def table(**row: Any) -> HookTable:
    return HookTable("session event", [HookEvent("SunRise", Use.ALWAYS, "it is day", "colour hour", **row)])


def test_a_new_event_is_one_row_and_its_translator() -> None:
    events = table(says=lambda read: HookFields(doing=read["colour"]))
    assert events.said("SunRise", payload(colour="red")) == HookFields(doing="red")
    assert events.unknown("SunRise", payload(session="a", event="b", colour="red", hour=6)) == ()
    assert [row.name for row in events.installed] == ["SunRise"]


def test_events_without_a_translator_report_only_a_sign_of_life() -> None:
    assert table().said("SunRise", payload()) == table().said("SunSet", payload()) == NOTHING
    assert table().unknown("SunSet", payload(mood="low")) == ("event:SunSet", "mood")


def test_an_event_of_newer_versions_is_translated_and_not_installed() -> None:
    events = table(says=lambda read: HookFields(doing="day"), since="2.0")
    assert events.said("SunRise", payload()).doing == "day"
    assert events.installed == ()


@pytest.mark.parametrize("use", [Use.IGNORED, Use.NEVER])
def test_what_is_ignored_is_not_installed(use: Use) -> None:
    assert HookTable("", [HookEvent("SunRise", use, "why")]).installed == ()


@pytest.mark.parametrize("events", TABLES)
def test_a_translator_reads_only_fields_that_the_table_knows(events: HookTable) -> None:
    class Watched(Payload):
        def __getitem__(self, name: str) -> Any:
            asked.add(name)
            return super().__getitem__(name)

    asked: set[str] = set()
    for row in events.values():
        assert row.why
        for value in ("compact", "rate_limit", True, None):
            events.said(row.name, Watched(dict.fromkeys(events.fields, value)))
    assert asked <= events.fields


@pytest.mark.parametrize("field", [b'"\\ud83d"', b'"\xff"', b"1e999"])
def test_an_undecodable_field_does_not_affect_others(field: bytes) -> None:
    made = read(b'{"session": "a", "odd": ' + field + b"}")
    assert isinstance(made, Payload) and made["session"] == "a"
    repr(made["odd"])
    bytes(made.raw("odd"))
