"""A store with something in every table, the files of it, and every state that it was ever in.

Rules of this file
  1. The store is the real one. Its files are taken while it is open, as a kill leaves them: a part is in the log.
"""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headcount.core.state.claims import AnsweredRequest, Entries
from headcount.core.values.claim import Claim, Freed, freed
from headcount.core.values.events import Event, EventType
from headcount.core.values.item import Item
from headcount.core.values.leftover import Leftover, LeftoverId, LeftoverKind
from headcount.core.values.session import SessionId
from headcount.store.interface import Loaded
from headcount.store.sqlite.adapter import SqliteStore
from headcount.store.sqlite.tokens_and_notes import TokenRow
from tests.campaign.storage.corruption_kinds import Files
from tests.store.sample_values import BEGAN, ended, event, session

MACHINE = "machine-1"
SESSIONS = 60
CLAIMS = 40
LEFTOVERS = 20
TOKENS = 12
EVENTS = 900  # in the file; those in the log come on top
IN_THE_LOG = 40
HOLDER = session("s0").process


@dataclass(frozen=True, slots=True)
class State:
    """What a start must load, whatever happened since."""

    sessions: dict[str, Any]
    claims: dict[str, Any]
    requests: dict[str, Any]
    leftovers: dict[str, Any]
    seq: int
    machine: str | None

    @classmethod
    def of(cls, loaded: Loaded) -> "State":
        return cls(
            {each.id: each for each in loaded.sessions},
            {each.item: each for each in loaded.claims},
            {each.id: each for each in loaded.requests},
            {each.id: each for each in loaded.leftovers},
            loaded.seq,
            loaded.machine,
        )


@dataclass(frozen=True, slots=True)
class Sample:
    files: Files
    states: list[State]  # after each commit that is in the log; the first is the file's alone
    events: list[Event]
    tokens: set[str]


def open_store(path: Path) -> SqliteStore:
    return SqliteStore.open(path, machine=MACHINE, now=lambda: BEGAN + 1_000_000)


def make(home: Path) -> Sample:
    path = home / "headcount.db"
    store = open_store(path)
    events = asyncio.run(_fill(store, 1, EVENTS))
    store.close()
    store = open_store(path)
    states = [State.of(store.loaded)]
    events += asyncio.run(_go_on(store, states))
    log = path.with_name(path.name + "-wal")
    files = Files(path.read_bytes(), log.read_bytes())
    tokens = {row.hash for row in asyncio.run(store.tokens.load())}
    store.close()
    return Sample(files, states, events, tokens)


async def _fill(store: SqliteStore, first: int, last: int) -> list[Event]:
    made = [event(seq, f"s{seq % SESSIONS}", cwd=f"/home/somebody/{seq}") for seq in range(first, last + 1)]
    rows = [ended(f"s{n}", BEGAN + n) if n % 3 else session(f"s{n}") for n in range(SESSIONS)]
    claims = [_claim(n, fence=1000 + first + n) for n in range(CLAIMS)]
    book = Entries(claims={each.item: each for each in claims}, requests=_requests(claims))
    left = [_leftover(n) for n in range(LEFTOVERS)]
    await store.commit(made, rows, (), book, left)
    await store.tokens.keep(
        [TokenRow(f"{n:064x}", f"file-{n}", HOLDER, BEGAN, BEGAN) for n in range(TOKENS) if HOLDER]
    )
    return made


async def _go_on(store: SqliteStore, states: list[State]) -> list[Event]:
    """Commits that stay in the log, each with a row of every kind."""
    made = []
    for nth in range(IN_THE_LOG):
        seq = EVENTS + nth + 1
        claim = _claim(nth % CLAIMS, fence=10_000 + nth)
        row = session(f"s{3 * nth % SESSIONS}", name=f"after {seq}", started_at=BEGAN + nth)
        told = Event(seq, BEGAN + seq, EventType.CLAIM_GRANTED, claim.session, claim=claim)
        book = Entries(claims={claim.item: claim}, requests=_requests([claim]))
        await store.commit([told], [row], (), book)
        made.append(told)
        before = states[-1]
        states.append(
            replace(
                before,
                sessions={**before.sessions, row.id: row},
                claims={**before.claims, claim.item: claim},
                requests={**before.requests, **book.requests},
                seq=seq,
            )
        )
    return made


def _claim(nth: int, fence: int) -> Claim:
    item = Item(f"task:AUTH-{nth}" if nth % 2 else f"path:/home/somebody/code/{nth}/**")
    held = Claim(item, fence, HOLDER, SessionId("s0"), "c0", BEGAN + fence, "a note", f"request-{fence}")
    return held if nth % 4 else freed(held, Freed.DIED, BEGAN + fence)


def _requests(claims: list[Claim]) -> dict[str, AnsweredRequest]:
    return {str(each.request): AnsweredRequest(str(each.request), each.since, each) for each in claims}


def _leftover(nth: int) -> Leftover:
    return Leftover(
        LeftoverId(f"left-{nth}"),
        LeftoverKind.PROCESS,
        SessionId(f"s{nth}"),
        HOLDER,
        f"sleep {nth}",
        ("its mark",),
        BEGAN,
    )
