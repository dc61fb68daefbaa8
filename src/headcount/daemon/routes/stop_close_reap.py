"""Stop, close and reap on the wire: the operator's, and an agent's for what it started.

Rules
  1. Nothing is signalled in a dry run, and `reap` is one unless it is told otherwise.
  2. Who survived is told with 200: the wish was carried out as far as it was allowed. Only what was refused
     altogether is a 409.
  3. An agent ends the sessions that it launched or that run below it, and reaps what those left. Nothing else: also
     not through `--all`, and no window that headcount did not open.
  4. The audit says who asked: the caller's ancestors by pid and name, and its terminal. Never their arguments.

Not here: the order of things (daemon/ending/stop_close_reap.py), the signal (daemon/ending/signal_process.py).
"""

from headcount.agents.catalog import AGENTS
from headcount.clean_text import clean
from headcount.core.sessions.descent import is_of
from headcount.core.values.leftover import Leftover, LeftoverKind
from headcount.core.values.session import Session, SessionId
from headcount.daemon.api.permissions import not_started
from headcount.daemon.api.route import Call
from headcount.daemon.api.session_selector import LISTED_MOST, ended_words
from headcount.daemon.ending.signal_process import REFUSED, Result, Wish
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.system.processes.procfs import terminal_of
from headcount.times import KILL_AFTER_MOST
from headcount.wire.stop_close_reap import (
    CloseAnswer,
    CloseWish,
    ReapAnswer,
    ReapWish,
    Signalled,
    StopAnswer,
    StopWish,
)

CHAIN_MOST = 16  # of the caller's ancestors in the audit, nearest first


async def stop(call: Call) -> StopAnswer:
    asked = call.body(StopWish)
    session = call.session()
    await _need_started(call, "stop", session)
    if not session.is_open:
        raise HttpRefusal(
            410, "ended", f"{session.id[:4]} {ended_words(session)}.", f"See: headcount show {session.id[:4]}"
        )
    _need_process(session)
    wish = _wish(call, "stop", asked.kill_after, asked.all)
    await _need_alone(call, session, wish)
    result = await call.parts.closing.stop(session, wish)
    _raise_if_refused(result)
    return StopAnswer(session=session.id, ended=result.is_over, results=[_row(result)])


async def close(call: Call) -> CloseAnswer:
    asked = call.body(CloseWish)
    session = call.session()
    others = call.parts.closing.others(session)
    await _need_started(call, "close", session, *(others if asked.all else ()))
    if asked.close_window:
        call.for_people("close --close-window")
    if session.is_open:
        _need_process(session)
    wish = _wish(call, "close", asked.kill_after, asked.all)
    if session.is_open:
        await _need_alone(call, session, wish)
    done = await call.parts.closing.close(session, others, wish, all=asked.all, window=asked.close_window)
    if not done.is_closed and all(result.outcome == REFUSED for result in done.results):
        _raise_if_refused(done.results[-1])
    return CloseAnswer(
        session=session.id,
        closed=done.is_closed,
        results=[_row(result) for result in done.results],
        others=[each.process.pid for each in done.others if each.process is not None],
        window=done.window,
        resume=_resume(session),
        again=session.archived_at is not None,
    )


async def reap(call: Call) -> ReapAnswer:
    asked = call.body(ReapWish)
    wish = _wish(call, "reap", asked.kill_after)
    closing, chosen = call.parts.closing, await _chosen(call, asked)
    if asked.yes:
        await closing.refresh(chosen)
        chosen = await _chosen(call, asked)
        results = await closing.reap(chosen, wish)
    else:
        results = await closing.try_reap(chosen, wish, with_children=not (asked.pids or asked.ids))
    others = [each for each in chosen if each.kind is not LeftoverKind.PROCESS]
    return ReapAnswer(
        dry=not asked.yes,
        results=[_row(result) for result in results],
        left_alone=[f"{each.kind.value}: {each.what}" for each in others],
    )


async def _chosen(call: Call, asked: ReapWish) -> list[Leftover]:
    chosen = _named(call, asked)
    own = [each for each in chosen if await _is_own(call, each)] if call.actor.is_agent else chosen
    if len(own) < len(chosen) and (asked.sessions or asked.pids or asked.ids):
        other = next(each for each in chosen if each not in own)
        raise not_started(call.actor, f"the session that left {other.what}", "reap")
    return own


async def _is_own(call: Call, leftover: Leftover) -> bool:
    """Left by a session that the calling agent started, or by an earlier one of its own process."""
    session = call.parts.loop.world.sessions.get(leftover.session or SessionId(""))
    process = call.actor.process
    if session is None or process is None:
        return False
    return is_of(session, process) or await call.parts.actors.started(process, session)


def _named(call: Call, asked: ReapWish) -> list[Leftover]:
    chosen = sorted(call.parts.loop.world.remains.there(), key=lambda each: (each.found_at, each.id))
    if asked.kind is not None:
        if asked.kind not in [kind.value for kind in LeftoverKind]:
            raise HttpRefusal(
                400, "bad-parameter", f"kind is one of {', '.join(kind.value for kind in LeftoverKind)}."
            )
        chosen = [each for each in chosen if each.kind.value == asked.kind]
    if asked.sessions:
        wanted = {call.select(each).id for each in asked.sessions}
        chosen = [each for each in chosen if each.session in wanted]
    if asked.pids:
        chosen = [each for each in chosen if each.process is not None and each.process.pid in asked.pids]
        missing = set(asked.pids) - {each.process.pid for each in chosen if each.process is not None}
        if missing:
            listed = ", ".join(map(str, sorted(missing)))
            raise HttpRefusal(
                404, "no-such-leftover", f"No leftover is process {listed}.", "See: headcount leftovers"
            )
    if asked.ids:
        wanted_ids = {_meant(chosen, id).id for id in asked.ids}
        chosen = [each for each in chosen if each.id in wanted_ids]
    return chosen


def _meant(leftovers: list[Leftover], wanted: str) -> Leftover:
    """By its id, or the beginning of one that no other has: more is never ended than was meant."""
    fits = [each for each in leftovers if wanted and each.id.startswith(wanted)]
    whole = [each for each in fits if each.id == wanted]
    if len(whole or fits) == 1:
        return (whole or fits)[0]
    if not fits:
        raise HttpRefusal(
            404, "no-such-leftover", f'No leftover matches "{wanted[:60]}".', "See: headcount leftovers"
        )
    listed = ", ".join(f"{each.id} {each.what}" for each in fits[:LISTED_MOST])
    raise HttpRefusal(400, "ambiguous", f'"{wanted[:60]}" matches {listed}. Type more.')


def _wish(call: Call, verb: str, kill_after: float | None, all: bool = False) -> Wish:
    if kill_after is not None and not 0 <= kill_after <= KILL_AFTER_MOST:
        raise HttpRefusal(400, "bad-parameter", f"kill_after is between 0 and {KILL_AFTER_MOST:g} seconds.")
    actor = call.actor
    agents = (actor.process, *actor.above) if actor.process is not None else actor.above
    by = actor.session or "operator"
    return Wish(verb, by, (*call.seen.identities, *agents), kill_after, all, caller=_caller(call))


def _caller(call: Call) -> dict[str, object] | None:
    """For the audit; None: a tab of the page has no process here."""
    chain = call.seen.chain[:CHAIN_MOST]
    if not chain:
        return None
    told = [{"pid": each.pid, "program": clean(each.comm)} for each in chain]
    return {"chain": told, "terminal": terminal_of(chain[0].pid)}


async def _need_started(call: Call, verb: str, *sessions: Session) -> None:
    actor = call.actor
    for session in sessions if actor.is_agent else ():
        if actor.process is None or not await call.parts.actors.started(actor.process, session):
            raise not_started(actor, session.id[:4], verb, itself=session.id == actor.session)


async def _need_alone(call: Call, session: Session, wish: Wish) -> None:
    """Ending a process ends all that it hosts, and may end what runs below it: that must have been said."""
    others = [] if wish.all else await call.parts.closing.goes_with(session)
    if others:
        names = ", ".join(dict.fromkeys(each.id[:4] for each in others))
        verb = f"headcount {wish.verb} {session.id[:4]}"
        message = f"With {session.id[:4]} other living sessions would end: {names}."
        raise HttpRefusal(409, "not-alone", message, f"All of them: {verb} --all")


def _need_process(session: Session) -> None:
    if session.process is None:
        raise HttpRefusal(
            409, "no-process", f"No process of {session.id[:4]} is known, so there is nothing to end.",
            f"See: headcount explain {session.id[:4]}",
        )  # fmt: skip


def _raise_if_refused(result: Result) -> None:
    if result.outcome == REFUSED:
        pid = result.target.process.pid
        raise HttpRefusal(409, "not-ended", f"{pid} is not ended: {result.because}.", "Nothing was done.")


def _resume(session: Session) -> list[str] | None:
    agent = AGENTS.get(session.agent)
    command = agent.resume(session.conversation) if agent is not None and session.conversation else None
    return list(command) if command else None


def _row(result: Result) -> Signalled:
    target = result.target
    return Signalled(
        pid=target.process.pid,
        what=target.what,
        session=target.session,
        leftover=target.leftover,
        outcome=result.outcome,
        because=result.because,
        seconds=result.seconds,
    )
