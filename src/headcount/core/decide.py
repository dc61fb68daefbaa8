"""The decision: a batch of evidence and the time in, events and effects out.

Rules
  1. Pure: the same world, batch and time give the same decision.
  2. DEAD ends every session its process hosts, each with its own event; UNKNOWN ends nothing, ever.
  3. Time touches only sessions without a process.
  4. `DECIDERS` is the whole list of what can come in.
  5. A death frees what its process held, and whoever waits for it gets it, in the same decision.

Not here: what words mean (core/sessions/apply_report.py, core/values/activity.py), claims (core/claims/ledger.py), running effects (daemon/).
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from headcount.core import collisions
from headcount.core.claims.ledger import accept_loss, acquire, free_all_of, hand_off, release
from headcount.core.claims.queue import leave, look_again, next_look, serve, withdraw
from headcount.core.claims.shared_with_fleet import mirror_freed, mirror_granted
from headcount.core.leftovers import conversation_open_twice, death_summary, lifecycle
from headcount.core.leftovers.lifecycle import hear_gone, hear_left, lose_process
from headcount.core.sessions.apply_report import (
    hear_closed,
    hear_found,
    hear_glimpse,
    hear_record,
    hear_report,
)
from headcount.core.sessions.end_reason import ending
from headcount.core.sessions.location import hear_checkout, locate, visit
from headcount.core.sessions.registration import register, unregister
from headcount.core.sessions.stalls import weigh_look
from headcount.core.state.world import NOT_ASKED, Draft, Verdicts, World
from headcount.core.values import evidence as values_evidence
from headcount.core.values.claim import (
    AcceptLoss,
    Acquire,
    Answer,
    HandOff,
    Release,
    SharedFreed,
    SharedGranted,
    Withdraw,
)
from headcount.core.values.events import EventType
from headcount.core.values.evidence import (
    Awake,
    CheckoutSeen,
    ConversationClosed,
    Evidence,
    FleetNews,
    Glimpse,
    Judged,
    Located,
    Looked,
    Rebooted,
    Register,
    Retire,
    SignalAnnounced,
    Tick,
    Told,
    TurnedAway,
    Unregister,
    Visited,
)
from headcount.core.values.leftover import Left, LeftoverGone
from headcount.core.values.report import Found, Record, Report
from headcount.core.values.session import Ended, EndKind, Liveness, Session, SessionId, Turnpoint, after, can
from headcount.core.values.verdict import Proof, Standing
from headcount.times import LOST_AFTER

Outcome = SessionId | Answer | TurnedAway | None
"""Which session a report was about, or what a command is answered."""


def decide(
    world: World, batch: Iterable[Evidence], now: float, verdicts: Verdicts = NOT_ASKED
) -> tuple[Draft, list[Outcome]]:
    """The world as it will be once the draft's events are committed, and what came of each piece of
    evidence. `verdicts` is what was proved just before of those on whom a command turns."""
    draft = world.draft(verdicts)
    for process, verdict in verdicts.items():
        if verdict.standing is Standing.DEAD:  # seen by asking, before the kernel's own word came in
            _judged(draft, Judged(process, verdict, now), now)
    outcomes, told = [], 0
    for evidence in batch:
        outcomes.append(DECIDERS[type(evidence)](draft, evidence, now))
        told = _follow_moves(draft, told, now)
        if draft.page.freed:
            serve(draft, now)
    collisions.clear_alarms(draft, now)
    return draft, outcomes


def _follow_moves(draft: Draft, told: int, now: float) -> int:
    """What follows from sessions that were bound, swapped or ended since; piece by piece, so that one batch or many
    come to the same. Returns how many events were looked at."""
    events = draft.decision.events
    moved = lifecycle.moved(draft, events[told:]) if len(events) > told else []
    if moved:
        lifecycle.drop_own_processes(draft, moved, now)
        conversation_open_twice.find_second_writers(draft, moved, now)
    return len(draft.decision.events)


def next_deadline(world: World) -> float | None:
    """When time itself will next be evidence."""
    adrift = world.unproven[Liveness.UNBOUND]
    lost = min(adrift.values()) + LOST_AFTER if adrift else None
    return min(
        (at for at in (lost, next_look(world), collisions.next_expiry(world)) if at is not None), default=None
    )


def _report(draft: Draft, report: Report, now: float) -> SessionId | None:
    session = hear_report(draft, report, now)
    if report.edits or report.would_edit or report.worktree or session in draft.traces.wishes:
        collisions.notice(draft, session, report, now)
    return session


def _judged(draft: Draft, judged: Judged, now: float) -> None:
    if judged.verdict.standing is Standing.DEAD:
        draft.bury(judged.process)
    hosted = draft.hosted(judged.process)
    for session in hosted:
        _judge_session(draft, session, judged)
    if judged.verdict.standing is Standing.DEAD:
        if len(hosted) == 1 and judged.left:  # of several sessions the tree does not say whose; marks do
            hear_left(draft, Left(hosted[0].id, judged.left, judged.at), now)
        lose_process(draft, judged.process, judged.at, judged.verdict.because)
        free_all_of(draft, judged.process, judged.at)
        leave(draft, judged.process)


def _judge_session(draft: Draft, session: Session, judged: Judged) -> None:
    if judged.verdict.standing is Standing.DEAD:
        _die(draft, session, judged)
    elif judged.verdict.standing is Standing.UNKNOWN:
        if session.liveness is Liveness.ALIVE:
            _stand(draft, session, EventType.SESSION_DOUBTED, Turnpoint.DOUBT, judged)
    elif session.liveness is Liveness.DOUBTED:
        _stand(draft, session, EventType.SESSION_BOUND, Turnpoint.BOUND, judged)


def _stand(draft: Draft, session: Session, type: EventType, point: Turnpoint, judged: Judged) -> None:
    draft.emit(
        type,
        judged.at,
        session.id,
        liveness=after(session, point),
        liveness_because=judged.verdict.because,
        liveness_at=judged.at,
    )


def _die(draft: Draft, session: Session, judged: Judged) -> None:
    """A session still in doubt since the start ended while nobody could look: it counts as away."""
    verdict = judged.verdict
    if verdict.proof is Proof.REPLACED:
        draft.count("pid_reuse_caught")
    point = Turnpoint.REBOOTED if verdict.proof is Proof.REBOOTED else Turnpoint.DEATH_PROVEN
    draft.emit(
        EventType.SESSION_ENDED,
        judged.at,
        session.id,
        liveness=after(session, point),
        liveness_because=verdict.because,
        liveness_at=judged.at,
        ended=ending(
            verdict, session.leaving, judged.at, judged.away or session.liveness is Liveness.DOUBTED
        ),
    )


def _rebooted(draft: Draft, rebooted: Rebooted, now: float) -> None:
    """Sessions without a process end with the boot they were heard in; the others are judged one by one."""
    for session in list(draft.sessions.values()):
        if session.process is None and draft.is_over(session.boot) and can(session, Turnpoint.REBOOTED):
            draft.emit(
                EventType.SESSION_ENDED,
                rebooted.at,
                session.id,
                liveness=after(session, Turnpoint.REBOOTED),
                liveness_because="the machine was restarted since",
                liveness_at=rebooted.at,
                ended=Ended(rebooted.at, EndKind.REBOOTED, "ended by reboot", away=True, told=False),
            )


def _told(draft: Draft, told: Told, now: float) -> None:
    """From here on they are history like all others."""
    for session in list(draft.sessions.values()):
        if session.ended is not None and not session.ended.told:
            ended = replace(session.ended, told=True)
            draft.emit(EventType.SESSION_CHANGED, told.at, session.id, ended=ended)


def _tick(draft: Draft, tick: Tick, now: float) -> None:
    for id, heard in list(draft.unproven[Liveness.UNBOUND].items()):
        if now - heard >= LOST_AFTER:
            session = draft.sessions[id]
            draft.emit(
                EventType.SESSION_LOST,
                now,
                id,
                liveness=after(session, Turnpoint.UNHEARD),
                liveness_because="no process known, and nothing heard",
                liveness_at=now,
            )
    look_again(draft, now)


def _retire(draft: Draft, retire: Retire, now: float) -> None:
    ended = [session for session in draft.sessions.values() if session.ended is not None]
    ended.sort(key=_ended_at, reverse=True)
    for nth, session in enumerate(ended):
        if nth >= retire.keep_most or _ended_at(session) < retire.before:
            draft.drop(session.id)
    for session in list(draft.sessions.values()):  # nothing would ever end these but a reboot
        if session.liveness is Liveness.LOST and session.last_event_at < retire.before:
            draft.drop(session.id)
    for leftover in draft.remains.of_session(None):
        if leftover.gone_at is not None and leftover.gone_at < retire.before:
            draft.remains.drop(leftover)
    for request in [each.id for each in draft.page.requests.values() if each.at < retire.before]:
        draft.page.forget(request)


def _ended_at(session: Session) -> float:
    assert session.ended is not None
    return session.ended.at


def _awake(draft: Draft, awake: Awake, now: float) -> None:
    if awake.store_lost:
        draft.tell(EventType.STORE_LOST, awake.at, set_aside=awake.store_lost)
    if awake.stopping:
        draft.tell(EventType.HEADCOUNT_STOPPED, awake.at)
    else:
        draft.tell(EventType.HEADCOUNT_STARTED, awake.at, version=awake.version, blind_since=awake.seen_until)
        collisions.forget(draft, now)


def _ending(draft: Draft, ending: SignalAnnounced, now: float) -> None:
    type = EventType.ENDING_FINISHED if ending.finished else EventType.ENDING_INTENDED
    session = draft.sessions.get(ending.session) if ending.session is not None else None
    if session is None:
        draft.tell(type, ending.at, **ending.facts)
    else:
        changes = {"archived_at": ending.at} if ending.archived else {}
        draft.emit(type, ending.at, session.id, facts=ending.facts, **changes)


def _fleet_news(draft: Draft, news: FleetNews, now: float) -> None:
    draft.tell(EventType(f"fleet.{news.what}"), news.at, because=news.because)


DECIDERS: dict[type, Callable[[Draft, Any, float], Any]] = {
    Report: _report,
    Record: hear_record,
    Found: hear_found,
    Glimpse: hear_glimpse,
    CheckoutSeen: hear_checkout,
    Looked: weigh_look,
    Visited: visit,
    Told: _told,
    Judged: _judged,
    ConversationClosed: hear_closed,
    Located: locate,
    Rebooted: _rebooted,
    Tick: _tick,
    Retire: _retire,
    Awake: _awake,
    Left: hear_left,
    LeftoverGone: hear_gone,
    SignalAnnounced: _ending,
    values_evidence.Examined: death_summary.examined,
    values_evidence.Noticed: death_summary.noticed,
    Acquire: acquire,
    Release: release,
    HandOff: hand_off,
    Withdraw: withdraw,
    AcceptLoss: accept_loss,
    SharedGranted: mirror_granted,
    SharedFreed: mirror_freed,
    FleetNews: _fleet_news,
    Register: register,
    Unregister: unregister,
}
