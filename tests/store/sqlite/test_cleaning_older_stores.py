"""An older store: what may have been made from a prompt is taken out of every row, and out of the file's free space."""

import asyncio
import shutil
import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from headcount.core.values.activity import Activity, Doing, Turned
from headcount.core.values.events import Event, EventType
from headcount.core.values.report import Background, Turn
from headcount.core.values.session import Origin, Registration
from headcount.store.sqlite.schema import version
from tests.store.conftest import Opener
from tests.store.sample_values import BEGAN, event, session
from tests.store.sqlite.run_under_faults import STORAGE, run, strace, writer
from tests.store.sqlite.test_damage import assert_set_aside

PROMPT = "fix the login of customer 4711"
MARK = b"4711"
OLDER = 5
ALARM = "also edited by 7f3a {}: /srv/a.py"
AT_WORK = "also at work in web@main (/srv/web): 7f3a {}"

TOLD = session(
    "told",
    name=PROMPT,
    title=PROMPT,
    origins=(Origin("cwd", "hook", BEGAN), Origin("name", "registry", BEGAN), Origin("title", "transcript", BEGAN)),
    background=(Background("a4711-do-547a8bc07c0221d4", "subagent", PROMPT), Background("b1", "shell", "tail -f")),
    alarms=(ALARM.format(PROMPT), AT_WORK.format(PROMPT), "conversation also open in 12 (7f3a)"),
    turned=Turned(BEGAN, Turn.FAILED, "StopFailure", label=PROMPT, failure="limit"),
    activity=Activity(Doing.FAILED, label=PROMPT, failure="limit"),
)  # fmt: skip
CLEANED = replace(
    TOLD,
    name=None,
    title=None,
    origins=TOLD.origins[:1],
    background=(Background("547a8bc07c0221d4", "subagent", ""), Background("b1", "shell", "tail -f")),
    alarms=("also edited by 7f3a", "also at work in web@main (/srv/web): 7f3a", TOLD.alarms[2]),
    turned=Turned(BEGAN, Turn.FAILED, "StopFailure", failure="limit"),
    activity=Activity(Doing.FAILED, failure="limit"),
)
GIVEN = Registration(BEGAN, "operator", name="auth")
REGISTERED = session("registered", name="auth", title=PROMPT, registration=GIVEN)
EVENTS = [
    event(1, "told", name=PROMPT, cwd="/srv"),
    event(2, "registered", name="auth", registration=GIVEN),
    event(3, "told", title=PROMPT, background=TOLD.background),
    Event(4, BEGAN, EventType.ALARM_RAISED, TOLD.id, {"alarms": TOLD.alarms}, {"alarm": TOLD.alarms[0]}),
    event(5, "told", activity=TOLD.activity, turned=TOLD.turned),
    event(6, "told", last_event_at=BEGAN + 6),
]


def older(path: Path, opener: Opener, *, sums: bool = True) -> None:
    """A store of version 5 as a kill leaves it: rows, a log, and text of rows that were written over and deleted."""
    store = opener()
    many = [session(f"gone{nth}", name=f"{PROMPT} {nth}") for nth in range(60)]
    asyncio.run(
        store._writer.run(lambda c: c.execute("PRAGMA secure_delete = OFF"))
    )  # as SQLite is, where it is built so
    asyncio.run(store.commit([], many))
    asyncio.run(store.commit([], [], dropped=[each.id for each in many]))
    store.close()  # writes the log into the file
    store = opener()
    asyncio.run(store.commit(EVENTS, [TOLD, REGISTERED]))
    back = sqlite3.connect(path, isolation_level=None)
    if not sums:
        back.execute("UPDATE sessions SET sum = NULL")
        back.execute("UPDATE events SET sum = NULL")
    back.execute(f"PRAGMA user_version = {OLDER}")
    killed = path.parent.with_name("killed")
    shutil.copytree(path.parent, killed)
    back.close()
    store.close()
    shutil.rmtree(path.parent)
    killed.rename(path.parent)


def found(path: Path) -> list[str]:
    """The files that hold a prompt."""
    return [each.name for each in path.parent.iterdir() if MARK in each.read_bytes()]


@pytest.mark.parametrize("sums", [True, False], ids=["with sums", "from before there were sums"])
def test_an_older_store_is_cleaned_of_what_may_have_been_a_prompt(
    open_store: Opener, path: Path, sums: bool
) -> None:
    older(path, open_store, sums=sums)
    assert sorted(found(path)) == ["headcount.db", "headcount.db-wal"], "the control: it is there"
    store = open_store()
    assert {each.id: each for each in store.loaded.sessions} == {
        "told": CLEANED,
        "registered": replace(REGISTERED, title=None),  # a name that was given to us stays
    }
    kept = asyncio.run(store.history())
    assert [each.seq for each in kept] == [each.seq for each in EVENTS]
    assert [each.delta for each in kept] == [
        {"cwd": "/srv"},
        {"name": "auth", "registration": GIVEN},
        {"background": CLEANED.background},
        {"alarms": CLEANED.alarms},
        {"activity": CLEANED.activity, "turned": CLEANED.turned},
        {"last_event_at": BEGAN + 6},
    ]
    assert kept[3].facts == {"alarm": "also edited by 7f3a"}
    assert found(path) == []  # neither in a free page nor in the log
    asyncio.run(store.commit([event(7)], []))
    store.close()
    assert found(path) == []
    assert open_store().loaded.sessions == store.loaded.sessions


def test_a_row_that_nobody_wrote_as_it_is_gets_no_new_sum(open_store: Opener, path: Path) -> None:
    older(path, open_store)
    bent = sqlite3.connect(path, isolation_level=None)
    bent.execute("UPDATE events SET body = replace(body, '4711', '4712') WHERE seq = 3")
    bent.close()
    assert_set_aside(open_store, path)


def test_a_cleaning_that_is_killed_is_done_again(open_store: Opener, path: Path, tmp_path: Path) -> None:
    """By a SIGKILL at one storage call after the other, in steps over all of them."""
    older(path, open_store)
    before = tmp_path / "before"
    shutil.move(path.parent, before)
    nth, killed = 1, 0
    while True:
        shutil.rmtree(path.parent, ignore_errors=True)
        shutil.copytree(before, path.parent)
        kill = f"inject={STORAGE}:signal=KILL:when={nth}"
        said = run([*strace("-o", "/dev/null", "-e", f"trace={STORAGE}", "-e", kill), *writer(path, 0)])
        look = sqlite3.connect(path)
        is_over = version(look) > OLDER
        look.close()
        store = open_store()
        assert {each.id: each for each in store.loaded.sessions}["told"] == CLEANED, nth
        assert found(path) == [], (nth, said)
        store.close()
        killed += not is_over
        if is_over:
            break
        nth += max(1, nth // 3)
    assert killed > 5, "the control: it was killed before it was done"
