"""Hook events: the rows of an agent's table, reading a payload, and what an event says.

Rules
  1. Each agent has one table. The installer, the translation and the docs read it; nothing else lists events. A new
     event is one row, and a translator if it says something.
  2. Written always: what is needed to understand a session, at most a few events per turn. Written only while the
     daemon listens: events of every tool call, so that an abandoned install cannot fill the disk.
  3. An event that only newer versions of the CLI know carries `since` and is never installed: any version may read
     the settings, and an older one warns its user at every start.
  4. Never raises. Types are not trusted: a field may hold anything.
  5. A field is decoded on access. Prompts, outputs and file contents are never accessed.

Not here: the tables and their translators (agents/<agent>/reports.py), the line that is installed
(agents/installing/hook_line_mailbox.py).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Set
from enum import Enum

import msgspec
from msgspec import Struct

from headcount.agents.kit import safe_reading
from headcount.agents.kit.labels import one_line
from headcount.agents.kit.safe_reading import NO_RAW, id_of, text_of
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

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Payload:
    """The fields of one payload. Values are Raw, or plain ones if the JSON had to be read leniently."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, object]) -> None:
        self._fields = fields

    @property
    def names(self) -> Set[str]:
        return self._fields.keys()

    def __getitem__(self, name: str) -> object:
        """The field's value; None: it is missing or unreadable."""
        value = self._fields.get(name)
        return safe_reading.value_of(value) if isinstance(value, msgspec.Raw) else value

    def raw(self, name: str) -> msgspec.Raw:
        """The field as JSON, for a decoder that reads only part of it."""
        value = self._fields.get(name)
        if isinstance(value, msgspec.Raw):
            return value
        try:
            return msgspec.Raw(msgspec.json.encode(safe_reading.whole(value)))
        except RecursionError:
            return NO_RAW


def read(payload: bytes) -> Payload | str:
    """The payload's fields, or why there are none."""
    try:
        return Payload(_fields.decode(payload))
    except msgspec.ValidationError:
        return "not a JSON object"
    except safe_reading.FAULTS:
        found = safe_reading.document(payload)
        return found if isinstance(found, str) else Payload(found)


class HookFields(Struct, frozen=True):
    """The fields specific to one event. A Struct, because one is made for every event."""

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
    edits: str | None = None
    would_edit: str | None = None


NOTHING = HookFields()
NO_ANCHOR = Anchor()  # the edge establishes it


class Use(Enum):
    ALWAYS = "observed, always written"
    LISTENING = "observed, written while the daemon listens"
    IGNORED = "ignored"
    NEVER = "never registered"


class HookEvent(Struct, frozen=True):
    name: str
    use: Use
    why: str
    fields: str = ""  # in addition to those of every event
    says: Callable[[Payload], HookFields] | None = None  # None: only a sign of life
    since: str | None = None  # the first measured version of the CLI that knows it; None: all of them do

    @property
    def is_installed(self) -> bool:
        return self.use in (Use.ALWAYS, Use.LISTENING) and self.since is None


class HookTable(dict[str, HookEvent]):
    """An agent's hook events by their names. `common`: the fields that any event may have."""

    def __init__(self, common: str, rows: Iterable[HookEvent]) -> None:
        super().__init__((row.name, row) for row in rows)
        self.installed = tuple(row for row in self.values() if row.is_installed)
        self.fields = frozenset(common.split()).union(*(row.fields.split() for row in self.values()))

    def said(self, event: str, payload: Payload) -> HookFields:
        row = self.get(event)
        return NOTHING if row is None or row.says is None else row.says(payload)

    def unknown(self, event: object, payload: Payload) -> tuple[str, ...]:
        """What the payload has that the table does not know, for counting: `event:Name` first, then field names."""
        known = isinstance(event, str) and event in self
        named = () if known else (f"event:{one_line(str(event), 40)}",)
        return named + tuple(sorted(one_line(key, 40) for key in payload.names - self.fields))[:UNKNOWN_MOST]


def report(
    agent: str,
    conversation: str,
    at: float,
    source: str,
    event: str,
    said: HookFields,
    details: Details,
    *,
    subagent: str | None = None,
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
        edits=said.edits,
        would_edit=said.would_edit,
        beside=beside,
        details=details,
        anchor=NO_ANCHOR,
    )


def event_of(value: object, form: re.Pattern[str] = EVENT_NAME) -> str:
    return id_of(value, form) or UNNAMED


def code_in_words(error: object) -> str | None:
    """A failure's code as words: "server error". A whole sentence is dropped: it may quote the conversation."""
    return error.replace("_", " ") if isinstance(error, str) and CODE.fullmatch(error) else None


def left(reason: object) -> HookFields:
    return HookFields(leaving=one_line(reason, 40) if isinstance(reason, str) else "other")


def subagent_began(subagent: str | None, kind: object) -> HookFields:
    return (
        NOTHING
        if subagent is None
        else HookFields(started=Background(subagent, "subagent", one_line(text_of(kind))))
    )
