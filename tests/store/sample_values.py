"""Values for store tests: sessions and events as the core makes them."""

from typing import Any

from msgspec.structs import replace

from headcount.core.values.activity import Activity, Doing, RegistryStatus, Turned
from headcount.core.values.events import Event, EventType
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import Background, Turn, WaitingOn
from headcount.core.values.session import Ended, EndKind, Leaving, Liveness, Note, Session, SessionId

BEGAN = 1_700_000_000.0


def session(ident: str = "s1", /, **changes: Any) -> Session:
    """A session with something in every kind of field."""
    full = Session(
        id=SessionId(ident),
        agent="claude-code",
        conversation=f"conversation-of-{ident}",
        liveness=Liveness.ALIVE,
        started_at=BEGAN,
        last_event_at=BEGAN + 1,
        boot="boot-1",
        process=ProcessIdentity("boot-1", 4026531836, 4242, 123456, 987654),
        bound_by="peer",
        liveness_because="its process vouches",
        activity=Activity(
            Doing.WAITING, WaitingOn.PERMISSION, "Bash: npm test", because="a dialog", at=BEGAN
        ),
        turned=Turned(BEGAN, Turn.ASKED, "PermissionRequest", waiting_on=WaitingOn.PERMISSION),
        status=RegistryStatus(BEGAN, "waiting"),
        background=(Background("b1", "shell", "tail -f"),),
        groups=("blue", "green"),
        name="fix the ünïcode 🧮",
        cwd="/home/someone/project",
        leaving=Leaving(BEGAN, "other"),
        notes=(Note(BEGAN, "header", "pid 1 was offered"),),
    )
    return replace(full, **changes)


def ended(ident: str, at: float) -> Session:
    end = Ended(at, EndKind.KILLED, "killed by signal 9", signal=9)
    return session(ident, liveness=Liveness.ENDED, ended=end)


def event(seq: int, of: str = "s1", /, at: float | None = None, **delta: Any) -> Event:
    given = delta or {"last_event_at": BEGAN + seq}
    when = BEGAN + seq if at is None else at
    return Event(seq, when, EventType.SESSION_ACTIVITY, SessionId(of), given)


def own_event(seq: int, **facts: Any) -> Event:
    return Event(seq, BEGAN + seq, EventType.HEADCOUNT_STARTED, facts=facts)
