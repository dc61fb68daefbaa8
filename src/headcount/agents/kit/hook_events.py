"""What a hook event says, in the words that the translations of all agents share.

A row in an agent's table of hook events: what it is, what we do with it, and why.

Rules
  1. `Said` is what one event says beside what all events carry: an agent's table of events makes it, `report`
     puts it into the report.
  2. Never raises: types are not trusted, every value may be anything.
  3. The words only. Each agent has one table of its own (its events.py), in these words.
  4. Dropped always: what a session cannot be understood without, at most a few a turn. Dropped only while
     somebody listens: whatever comes with every tool, so that an abandoned install cannot fill the disk.

Not here: which fields an agent's payloads have, and what its events mean (each agent's translate.py); the
  line that is installed (agents/installing/mailbox_line.py), what an event means (each agent's translate.py).
"""

import re
from collections.abc import Container
from enum import Enum
from typing import Any

import msgspec
from msgspec import Struct

from headcount.agents.kit import safe_reading
from headcount.agents.kit.labels import one_line
from headcount.agents.kit.safe_reading import id_of, text_of
from headcount.core.values.report import Anchor, Background, Details, Opening, Report, Turn, WaitingOn

EVENT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,39}", re.ASCII)
CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}", re.ASCII)
UNNAMED = "unnamed"
UNKNOWN_MOST = 8

OPENINGS = {
    "startup": Opening.STARTUP,
    "resume": Opening.RESUME,
    "clear": Opening.CLEAR,
    "fork": Opening.FORK,
}


class Said(msgspec.Struct, frozen=True):
    """A Struct, since one is made for every event."""

    turn: Turn | None = None
    waiting_on: WaitingOn | None = None
    doing: str | None = None
    failure: str | None = None
    opening: Opening | None = None
    leaving: str | None = None
    background: tuple[Background, ...] | None = None
    started: Background | None = None
    ended: str | None = None
    name: str | None = None
    model: str | None = None


NOTHING = Said()
NO_ANCHOR = Anchor()  # the edge establishes it


def report(
    agent: str,
    conversation: str,
    at: float,
    source: str,
    event: str,
    said: Said,
    details: Details,
    *,
    subagent: str | None = None,
    edits: str | None = None,
    would_edit: str | None = None,
    beside: bool = False,
) -> Report:
    return Report(
        agent=agent,
        conversation=conversation,
        at=at,
        source=source,
        event=event,
        says=said.turn,
        waiting_on=said.waiting_on,
        doing=said.doing,
        failure=said.failure,
        opening=said.opening,
        leaving=said.leaving,
        subagent=subagent,
        background=said.background,
        background_started=said.started,
        background_ended=said.ended,
        edits=edits,
        would_edit=would_edit,
        beside=beside,
        details=details,
        anchor=NO_ANCHOR,
    )


def unknown(event: Any, payload: bytes, events: Container[str], fields: frozenset[str]) -> tuple[str, ...]:
    """What the payload has that no table knows, for counting: `event:Name` first, then field names."""
    known = isinstance(event, str) and event in events
    named = () if known else (f"event:{one_line(str(event), 40)}",)
    strange = sorted(one_line(key, 40) for key in set(safe_reading.keys(payload)) - fields)
    return named + tuple(strange)[:UNKNOWN_MOST]


def event_of(value: Any, form: re.Pattern[str] = EVENT_NAME) -> str:
    return id_of(value, form) or UNNAMED


def code_in_words(error: Any) -> str | None:
    """A failure's code as words: "server error". A sentence is left out: it may quote what was said."""
    return error.replace("_", " ") if isinstance(error, str) and CODE.fullmatch(error) else None


def left(reason: Any) -> Said:
    return Said(leaving=one_line(reason, 40) if isinstance(reason, str) else "other")


def subagent_began(subagent: str | None, kind: Any) -> Said:
    return (
        NOTHING
        if subagent is None
        else Said(started=Background(subagent, "subagent", one_line(text_of(kind))))
    )


class Use(Enum):
    ALWAYS = "observed, dropped always"
    LISTENING = "observed, dropped while headcount runs"
    IGNORED = "ignored"
    NEVER = "never registered"


class HookEvent(Struct, frozen=True):
    name: str
    use: Use
    why: str

    @property
    def is_observed(self) -> bool:
        return self.use in (Use.ALWAYS, Use.LISTENING)
