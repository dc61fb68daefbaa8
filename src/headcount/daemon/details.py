"""One session in full: its row, and where each fact of it comes from.

Rules of this file
  1. Made when somebody asks for one session; the list and the stream do not pay for it.
  2. A fact that nobody said has no source. What the kernel said is re-proved by `explain`, not here.

Not here: the row itself (daemon/views/session_row.py), the weighing of evidence (daemon/views/explain.py).
"""

from collections.abc import Iterator

from headcount.core.state.world import World
from headcount.core.values.session import Session
from headcount.daemon.views.session_row import session_row, time_text
from headcount.wire.closer import FactSource, SessionDetail
from headcount.wire.sessions import SessionRow

SHOWN_AS = {"spent": ("tokens", "cost_usd"), "checkout": ("repo", "branch", "worktree")}
"""Fields of a session that a row shows under other names."""


def session_detail(session: Session, world: World) -> SessionDetail:
    row = session_row(session, world)
    shown = {name: getattr(row, name) for name in SessionRow.__struct_fields__}
    known = {name for name, value in shown.items() if value is not None} | {"transcript"}
    sources = {name: FactSource(source=source, at=_text(at)) for name, source, at in _told(session)}
    return SessionDetail(
        **shown,
        transcript=session.transcript,
        sources={name: source for name, source in sources.items() if name in known},
    )


def _told(session: Session) -> Iterator[tuple[str, str, float]]:
    yield from _of_the_process(session)
    activity = session.activity
    if activity.source != "none":
        for name in ("activity", "waiting_on", "failure", "doing"):
            yield name, activity.source, activity.at
    for origin in session.origins:
        for name in SHOWN_AS.get(origin.field, (origin.field,)):
            yield name, origin.source, origin.at
    given = session.registration
    if given is not None:
        names = [name for name in ("name", "role", "groups") if getattr(given, name)]
        yield from ((name, "registration", given.at) for name in names)
    if session.quiet is not None:
        for name in ("quiet_until", "quiet_why"):
            yield name, session.quiet.by, session.quiet.at
    if session.ended is not None:
        yield "ended", "kernel" if session.ended.proven else "hook", session.ended.at


def _of_the_process(session: Session) -> Iterator[tuple[str, str, float]]:
    if session.process is None:
        return
    by = session.bound_by or "kernel"
    yield "pid", by, session.hosted_at
    yield "conversation", by, session.hosted_at
    yield "liveness", "kernel", session.liveness_at
    yield "parent", "kernel", session.hosted_at


def _text(at: float) -> str | None:
    return time_text(at) if at else None
