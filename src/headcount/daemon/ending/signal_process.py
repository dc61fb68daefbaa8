"""Ending: the one way in which a process is signalled, always because somebody asked for it.

Rules
  1. Identify, verify through the handle, write the intent, signal through that same handle, wait on it, record what
     came of it and who survived. What was not stored is not signalled.
  2. Refused: what cannot be pinned here, another user's, pid 1, this daemon and whoever is above it, whoever is
     above the caller, and whoever is above a living session, unless that was said. Of leftovers also what is in a
     terminal. Doubt about any of these is a refusal. Refused too: what was never recognised as the agent's program,
     and what it left. Anybody can write a file that names a process; registering one is another matter.
  3. SIGTERM, and SIGCONT after it for one that is stopped. SIGKILL only when a time for it was named.
  4. A survivor is an answer, not an error. What was signalled is told and recorded, whatever fails after it.

Not here: who may ask (daemon/api/permissions.py), what is to be ended (stop_close_reap.py), sending itself (system/send_signal.py).
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from headcount.agents.catalog import AGENTS
from headcount.clean_text import said
from headcount.core.values.evidence import SignalAnnounced
from headcount.core.values.leftover import LeftoverId
from headcount.core.values.process import Match, ProcessFacts, ProcessIdentity, same_process
from headcount.core.values.session import Session, SessionId
from headcount.daemon.engine.loop import Loop
from headcount.daemon.leftovers.protected_processes import Lifelines, is_in_a_terminal, lifelines
from headcount.system.clock import Clock
from headcount.system.processes.ancestry import ancestors
from headcount.system.processes.interface import Processes
from headcount.system.processes.pidfds.handle import NotHeld, ProcessHandle
from headcount.system.send_signal import NotSent, send
from headcount.times import END_WITHIN, KILLED_WITHIN

INIT = 1
UNSEEN = "headcount cannot see whom it runs below"
NOT_RECOGNISED = (
    "only a file says that it is {}: its program was not recognised ({}), so headcount shows it and never ends it "
    "(by hand: kill {})"
)

EXITED, KILLED, SURVIVED, OVER, REFUSED, WOULD = "exited", "killed", "survived", "over", "refused", "would"


class EndTarget(Struct, frozen=True):
    process: ProcessIdentity
    what: str
    session: SessionId | None = None
    leftover: LeftoverId | None = None


class Wish(Struct, frozen=True):
    verb: str
    by: str  # "operator", "policy", or the session of the agent that asked
    above: tuple[ProcessIdentity, ...] = ()  # the caller and its ancestors: never ended
    kill_after: float | None = None
    all: bool = False  # an agent is ended also if other living sessions are in its process or below it
    still: Callable[[], bool] = lambda: True  # asked last before an agent is signalled
    caller: dict[str, object] | None = None  # for the audit: its ancestors and its terminal

    @property
    def facts(self) -> dict[str, object]:
        """Who asked, for the audit."""
        return {"verb": self.verb, "by": self.by} | ({"caller": self.caller} if self.caller else {})


class Result(Struct, frozen=True):
    target: EndTarget
    outcome: str
    because: str = ""
    seconds: float | None = None

    @property
    def is_over(self) -> bool:
        return self.outcome in (EXITED, KILLED, OVER)


class ProcessEnder:
    def __init__(self, processes: Processes, loop: Loop, clock: Clock) -> None:
        self._processes = processes
        self._loop = loop
        self._clock = clock

    async def try_out(self, targets: Sequence[EndTarget], wish: Wish) -> list[Result]:
        """What `end` would do, verified in the same way; nothing is written and nothing is sent."""
        results = []
        for target, held in await self._verified(targets, wish):
            if isinstance(held, ProcessHandle):
                held.close()
                results.append(Result(target, WOULD))
            else:
                results.append(_not_held(target, held))
        return results

    async def end(self, targets: Sequence[EndTarget], wish: Wish) -> list[Result]:
        """Raises NotStored when the intent could not be written: then nobody was signalled."""
        pairs = await self._verified(targets, wish)
        held = [(target, handle) for target, handle in pairs if isinstance(handle, ProcessHandle)]
        refused = [_not_held(target, handle) for target, handle in pairs if isinstance(handle, NotHeld)]
        self._loop.counts["signals_refused"] += sum(each.outcome == REFUSED for each in refused)
        try:
            await self._write(self._intent(target, wish) for target, _ in held)
            came = await asyncio.gather(
                *(self._end_one(target, handle, wish) for target, handle in held), return_exceptions=True
            )
            done = [_result(each, *pair) for each, pair in zip(came, held, strict=True)]
            await asyncio.gather(*(self._loop.keep(self._outcome(result, wish)) for result in done))
        finally:
            for _, handle in held:
                handle.close()
        return [*done, *refused]

    async def _end_one(self, target: EndTarget, handle: ProcessHandle, wish: Wish) -> Result:
        began = self._clock.boottime()
        if target.leftover is None and not wish.still():
            return Result(target, REFUSED, "it was heard from meanwhile")
        sent = send(handle, signal.SIGTERM)
        if isinstance(sent, NotSent):
            return Result(target, OVER if sent.over else REFUSED, sent.why)
        self._loop.counts["signals_sent"] += 1
        if handle.is_stopped():
            send(handle, signal.SIGCONT)  # a stopped process takes its SIGTERM only when it goes on
        ended = await handle.wait_ended(END_WITHIN if wish.kill_after is None else wish.kill_after)
        outcome, because = EXITED, "it ended after SIGTERM"
        if not ended and wish.kill_after is not None:
            send(handle, signal.SIGKILL)
            self._loop.counts["signals_sent"] += 1
            ended = await handle.wait_ended(KILLED_WITHIN)
            outcome, because = KILLED, "it ignored SIGTERM and was ended by SIGKILL"
        if not ended:
            outcome, because = SURVIVED, "it ignored SIGTERM and is still alive"
        return Result(target, outcome, because, round(self._clock.boottime() - began, 3))

    # --- verifying -----------------------------------------------------------------------------------

    async def _verified(
        self, targets: Sequence[EndTarget], wish: Wish
    ) -> list[tuple[EndTarget, ProcessHandle | NotHeld]]:
        sessions = list(self._loop.world.open_sessions())
        around = await asyncio.to_thread(self._look_around, sessions, targets)
        return [(target, self._hold(target, around, wish)) for target in targets]

    def _look_around(self, sessions: Sequence[Session], targets: Sequence[EndTarget]) -> "Around":
        """In a thread: it reads the ancestors of every session."""
        left = [target.process for target in targets if target.leftover is not None]
        return Around(
            [facts.identity for facts in ancestors(self._processes, os.getpid())],
            lifelines(self._processes, sessions),
            [each for each in left if is_in_a_terminal(self._processes, each)],
        )

    def _hold(self, target: EndTarget, around: "Around", wish: Wish) -> ProcessHandle | NotHeld:
        process = target.process
        why = forbidden(process, around.ours, wish.above) if around.ours else UNSEEN
        why = why or self._unrecognised(target)
        if why is None and not (wish.all and target.leftover is None):
            why = _session_below(process, around.lifelines)
        if why is None and process in around.in_terminals:
            why = "it is a terminal server, or runs in one"
        if why is not None:
            return NotHeld(why)
        handle = self._processes.hold(process)
        if isinstance(handle, NotHeld):
            return handle
        if handle.uid != os.geteuid():
            handle.close()
            return NotHeld("it is another user's process")
        return handle

    def _unrecognised(self, target: EndTarget) -> str | None:
        session = self._loop.world.sessions.get(target.session) if target.session is not None else None
        if session is None or session.registration is not None:
            return None
        facts = self._processes.look(target.process.pid) if target.process == session.process else None
        if isinstance(facts, ProcessFacts) and session.agent in AGENTS:
            known = AGENTS.runs(session.agent, facts)
        else:
            known = not session.is_only_named
        program = said(facts.comm) if isinstance(facts, ProcessFacts) else "it cannot be read"
        return None if known else NOT_RECOGNISED.format(session.agent, program, target.process.pid)

    # --- the audit -----------------------------------------------------------------------------------

    async def _write(self, entries: Iterable[SignalAnnounced]) -> None:
        await asyncio.gather(*[self._loop.submit(each) for each in entries])

    def _intent(self, target: EndTarget, wish: Wish) -> SignalAnnounced:
        facts = _facts(target, wish) | {"signal": "SIGTERM", "kill_after": wish.kill_after}
        return SignalAnnounced(self._clock.now(), target.session, facts)

    def _outcome(self, result: Result, wish: Wish) -> SignalAnnounced:
        facts = _facts(result.target, wish) | {
            "outcome": result.outcome,
            "because": result.because,
            "seconds": result.seconds,
        }
        return SignalAnnounced(self._clock.now(), result.target.session, facts, finished=True)


class Around(Struct, frozen=True):
    """What must not be hit, just before it is decided who is."""

    ours: list[ProcessIdentity]  # this daemon and its ancestors
    lifelines: Lifelines
    in_terminals: list[ProcessIdentity]  # those of the targets


def forbidden(
    process: ProcessIdentity, ours: Sequence[ProcessIdentity], above: Sequence[ProcessIdentity]
) -> str | None:
    """Why that process is never ended by us; None: it may be."""
    if process.pid <= INIT:
        return "it is the first process of the machine"
    if process.pid == os.getpid():
        return "it is headcount itself"
    if _may_be_among(process, ours):
        return "headcount runs below it"
    if _may_be_among(process, above):
        return "the caller is it, or runs below it"
    return None


def _may_be_among(process: ProcessIdentity, others: Sequence[ProcessIdentity]) -> bool:
    return any(
        each.pid == process.pid and same_process(each, process) is not Match.DIFFERENT for each in others
    )


def _session_below(process: ProcessIdentity, known: Lifelines) -> str | None:
    for each, sessions in known.items():
        if _may_be_among(process, [each]):
            return f"a living session runs below it: {sessions[0].id[:4]}"
    return None


def _result(came: Result | BaseException, target: EndTarget, handle: ProcessHandle) -> Result:
    """Also of one that was signalled and could not be waited for."""
    if isinstance(came, Result):
        return came
    if handle.has_ended():
        return Result(target, EXITED, "it ended after SIGTERM")
    return Result(target, SURVIVED, f"it was signalled and is still alive; waiting for it failed: {came}")


def _not_held(target: EndTarget, held: NotHeld) -> Result:
    return Result(target, OVER if held.over else REFUSED, held.why)


def _facts(target: EndTarget, wish: Wish) -> dict[str, object]:
    process = target.process
    return wish.facts | {
        "pid": process.pid,
        "started": process.started,
        "inode": process.inode,
        "what": target.what,
        "leftover": target.leftover,
    }
