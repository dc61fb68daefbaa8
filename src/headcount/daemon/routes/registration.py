"""Registering a session, and taking that back.

Rules
  1. The process must be seen alive now, of our user. An agent registers itself and what it started; the
     operator whatever is theirs.
  2. Whoever is in the way is asked once more whether it lives, and only a proof of its end lets it be replaced.
  3. A token's path is answered, the token never.
  4. Terminal ids, ports and directories are no conversation: refused by name. A name that looks like an id is none.

Not here: what a registration changes (core/sessions/registration.py), tokens (daemon/identity/tokens.py).
"""

import os
import re

from headcount.clean_text import said
from headcount.core.values.evidence import Judged, Register, TurnedAway, Unregister
from headcount.core.values.process import Match, ProcessFacts, ProcessIdentity, same_process
from headcount.core.values.session import Registration as Given
from headcount.core.values.session import Session, looks_like_an_id
from headcount.core.values.verdict import Standing
from headcount.daemon.api.route import Call
from headcount.daemon.engine.loop import NotStored
from headcount.daemon.http.answer import json_answer
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.identity.caller_ancestry import Lineage, host_of
from headcount.daemon.identity.weak_identities import weak_conversation
from headcount.daemon.views.session_row import session_row
from headcount.store.interface import StoreFault
from headcount.system.processes.interface import ProcessGone, Unreadable
from headcount.wire.faults import Fault
from headcount.wire.registration import NotRegistered, Registered, Registration, Withdrawn

AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
CONVERSATION = re.compile(r"[!-~]{1,200}")  # printable ASCII without spaces: what agents use as ids
LABEL_MOST = 100
GROUPS_MOST = 20


async def register(call: Call) -> object:
    call.refuse_weak()
    asked = call.body(Registration)
    _check_words(call, asked)
    facts, lineage = await _process(call, asked.pid)
    parts, now = call.parts, call.parts.clock.now()
    _ask_who_is_in_the_way(call, asked, facts.identity, now)
    above = [
        host.process for host in lineage.hosts if host.process and not _same(host.process, facts.identity)
    ]
    given = Given(
        now, _by(call, asked, facts.identity), asked.name, asked.role, tuple(asked.groups), asked.window
    )
    outcome = await parts.loop.ask(
        Register(
            agent=asked.agent,
            conversation=asked.conversation,
            process=facts.identity,
            given=given,
            cwd=await parts.worktrees.spaces.cwd_of(facts.identity, facts.cwd),
            parent=above[0] if above else None,
            anyway=asked.anyway,
        )
    )
    if isinstance(outcome, TurnedAway):
        return json_answer(_turned_away(call, asked, outcome), 409)
    token_file = await _token_file(call, facts.identity) if asked.launch else None
    return json_answer(Registered(session=str(outcome), pid=facts.pid, token_file=token_file), 201)


async def withdraw(call: Call) -> Withdrawn:
    session = call.session()
    await _check_is_own(call, session)
    taken = await call.parts.loop.ask(Unregister(session.id, call.parts.clock.now()))
    if session.process is not None and taken is not None:
        await _end_tokens(call, session.process)
    now = call.parts.loop.world.sessions.get(session.id)
    return Withdrawn(session=session.id, withdrawn=taken is not None, alive=now is not None and now.is_open)


# --- what is registered ------------------------------------------------------------------------------


def _check_words(call: Call, asked: Registration) -> None:
    if not AGENT.fullmatch(asked.agent):
        raise HttpRefusal(400, "bad-agent", "An agent's name is a word of letters, digits, dots and dashes.")
    if asked.conversation is not None:
        of = weak_conversation(asked.conversation)
        if of is not None:
            raise call.weak_identity(asked.conversation, of)
        if not CONVERSATION.fullmatch(asked.conversation):
            raise HttpRefusal(400, "bad-conversation", "A conversation's id is printable and has no spaces.")
    labels = [each for each in (asked.name, asked.role, *asked.groups) if each is not None]
    if len(asked.groups) > GROUPS_MOST or not all(_is_label(each) for each in labels):
        raise HttpRefusal(
            400, "bad-label", f"Name, role and groups are printable, at most {LABEL_MOST} characters each."
        )
    if asked.name is not None and looks_like_an_id(asked.name):
        better = f"a name is not only hex digits, for instance fix-{asked.name}."
        raise HttpRefusal(400, "bad-name", f'"{asked.name}" looks like an id: {better}')


def _is_label(text: str) -> bool:
    return 0 < len(text) <= LABEL_MOST and text.isprintable() and text == text.strip()


async def _process(call: Call, pid: int | None) -> tuple[ProcessFacts, Lineage]:
    actor = call.actor
    own = actor.process or actor.caller
    wanted = pid if pid is not None else own.pid if own is not None else None
    if wanted is None:  # an agent has a process, an operator in a shell was seen; a tab is neither
        raise HttpRefusal(400, "bad-pid", "A page has no process of its own; name the pid.")
    facts = _look(call, wanted)
    if pid is None and own is not None and not _same(facts.identity, own):
        raise HttpRefusal(409, "dead-process", f"The process {own.pid} has ended.")
    lineage = await call.parts.actors.lineages.of(facts)
    is_caller = actor.caller is not None and _same(facts.identity, actor.caller)
    if actor.is_agent and not is_caller and not _is_under(lineage, actor.process):
        raise HttpRefusal(
            403, "not-yours", f"Pid {facts.pid} is not yours: an agent registers itself and what it started."
        )
    return facts, lineage


def _by(call: Call, asked: Registration, process: ProcessIdentity) -> str:
    """Who launched it. Whoever may register a process may name the session that opened its window: that session then
    may end it, and nothing else follows. A session that registers itself again keeps its launcher."""
    world, actor = call.parts.loop.world, call.actor
    if asked.launched_by is not None and asked.launched_by in world.sessions:
        return asked.launched_by
    known = host_of(world, process)
    if known is not None and known.registration is not None and known.id == actor.session:
        return known.registration.by
    return actor.session or "operator"


def _look(call: Call, pid: int) -> ProcessFacts:
    if pid <= 1 or pid == os.getpid():
        raise HttpRefusal(400, "bad-pid", f"Pid {pid} is never a session's process.")
    facts = call.parts.processes.look(pid)
    if isinstance(facts, ProcessGone):
        raise HttpRefusal(409, "dead-process", f"No process has pid {pid}.")
    if isinstance(facts, Unreadable):
        raise HttpRefusal(409, "unverified", f"Pid {pid} cannot be asked: {facts.why}.")
    if facts.uid != os.getuid():
        raise HttpRefusal(403, "not-yours", f"Pid {pid} belongs to another user.")
    return facts


def _ask_who_is_in_the_way(call: Call, asked: Registration, process: ProcessIdentity, now: float) -> None:
    """A proof of its end goes in ahead of the registration."""
    loop, world = call.parts.loop, call.parts.loop.world
    for id in world.by_conversation.get((asked.agent, asked.conversation or ""), ()):
        rival = world.sessions[id].process
        if world.sessions[id].is_open and rival is not None and not _same(rival, process):
            verdict = call.parts.processes.prove(rival, world.machine_of(rival.boot))
            if verdict.standing is Standing.DEAD:
                loop.put(Judged(rival, verdict, now))


# --- answers -----------------------------------------------------------------------------------------


def _turned_away(call: Call, asked: Registration, away: TurnedAway) -> NotRegistered:
    session = call.parts.loop.world.sessions[away.session]
    if away.code == "alive-elsewhere":
        call.parts.actors.count_inheritance("register")
    texts = {
        "alive-elsewhere": (
            f"Conversation is alive in {session.id[:4]} ({_where(session)}); a second writer would fork it.",
            f"headcount {'jump' if session.where else 'show'} {session.id[:4]}, or --anyway.",
        ),
        "hosts-another": (
            f"The process hosts {session.agent} session {session.id[:4]} already, by its own word.",
            f"See: headcount explain {session.id[:4]}",
        ),
        "dead-process": ("The process has ended.", None),
    }
    message, hint = texts[away.code]
    return NotRegistered(
        error=Fault(code=away.code, message=message, hint=hint),
        session=session_row(session, call.parts.loop.world),
    )


def _where(session: Session) -> str:
    """The terminal, as people know it; where none is known, the process."""
    if session.where is not None:
        return said(session.where.text)
    pid = f"pid {session.process.pid}" if session.process else ""
    return ", ".join(filter(None, (pid, said(session.cwd) if session.cwd else "")))


async def _token_file(call: Call, process: ProcessIdentity) -> str:
    try:
        return str(await call.parts.tokens.mint(process))
    except (StoreFault, OSError) as fault:
        raise NotStored(f"no token could be made: {fault}") from fault


async def _end_tokens(call: Call, process: ProcessIdentity) -> None:
    """Before the answer: a restart must not make them good again."""
    call.parts.tokens.withdraw(process)
    try:
        await call.parts.tokens.save()
    except StoreFault as fault:
        raise NotStored(f"its token is over, but that could not be stored: {fault}") from fault


async def _check_is_own(call: Call, session: Session) -> None:
    actor = call.actor
    if actor.is_agent and session.id != actor.session and not await _is_started_by(call, session):
        raise HttpRefusal(
            403, "not-yours", f"{session.id[:4]} is not yours: an agent acts for itself and what it started."
        )


async def _is_started_by(call: Call, session: Session) -> bool:
    facts = call.parts.processes.look(session.process.pid) if session.process else None
    if session.process is None or not isinstance(facts, ProcessFacts):
        return False
    lineage = await call.parts.actors.lineages.of(facts)
    return _same(facts.identity, session.process) and _is_under(lineage, call.actor.process)


def _is_under(lineage: Lineage, process: ProcessIdentity | None) -> bool:
    return process is not None and any(_same(facts.identity, process) for facts in lineage.chain)


def _same(a: ProcessIdentity, b: ProcessIdentity) -> bool:
    return same_process(a, b) is Match.SAME
