"""Placement: which session a report or a registry record belongs to.

Rules
  1. The process decides where it is known. Directory, terminal, name and newest are not asked.
  2. One process hosts one conversation at a time; another one in it supersedes. A late word of a
     superseded conversation does not bring it back. Where an agent says that its process has several at
     once (`beside`), another one opens beside them, and none ends but by the process.
  3. A proven end is final: what comes later under that conversation is another session.
  4. A word that fits two sessions belongs to neither.
  5. An agent may register under a name of its own before it takes the conversation it continues: a
     conversation of which nothing was heard but its name gives that name up, and is no session.

Not here: what the word changes (apply_report.py).
"""

from msgspec import Struct

from headcount.core.state.world import Draft
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import Anchor, Opening, Record, Report, counted
from headcount.core.values.session import EndKind, Liveness, Session
from headcount.times import RENAMED_WITHIN


class Existing(Struct, frozen=True):
    session: Session
    supersedes: Session | None = None  # what its process hosted until now


class Fresh(Struct, frozen=True):
    predecessor: Session | None = None
    supersedes: Session | None = None
    provisional: bool = False


class Misfit(Struct, frozen=True):
    """It belongs to no session as it now is; `session` is the one it was about, if that is known."""

    why: str
    session: Session | None = None


Seat = Existing | Fresh | Misfit


def place_report(draft: Draft, report: Report, now: float) -> Seat:
    anchor = report.anchor
    if anchor.process is None:
        return _without_process(draft, report, now)
    current = _host(draft, anchor.process, report.conversation, report.beside)
    if current is None and report.beside and report.leaving is not None:
        return Misfit("a farewell starts nothing", _newest(draft, report))
    if current is None and (closed := _closed_since(draft, report, now)) is not None:
        return Misfit("it happened before its conversation was closed", closed)
    if current is None:
        return _not_hosted(draft, report.agent, report.conversation, anchor, report.beside)
    if current.conversation == report.conversation:
        return Existing(current)
    if current.conversation is None:
        return _name_the_nameless(draft, current, report.agent, report.conversation)
    return _beside_another(draft, report, current, now)


def place_record(draft: Draft, record: Record, now: float) -> Seat:
    """A registry file is a level: what it says is so, if its process lives and nothing newer was heard."""
    anchor = record.anchor
    if anchor.process is None or not anchor.alive:
        return Misfit("a registry file whose process does not confirm it")
    current = _host(draft, anchor.process, record.conversation, record.beside)
    if current is None:
        return _not_hosted(draft, record.agent, record.conversation, anchor, record.beside)
    if current.conversation == record.conversation:
        return Existing(current)
    if current.conversation is None:
        return _name_the_nameless(draft, current, record.agent, record.conversation)
    if record.written_at < counted(current.hosted_at, now):
        return Misfit("the registry file is older than the swap", current)
    return _swap(draft, record.agent, record.conversation, current, record.written_at)


def _without_process(draft: Draft, report: Report, now: float) -> Seat:
    known = draft.of_conversation(report.agent, report.conversation)
    living = [session for session in known if session.is_open]
    if len(living) == 1:
        return Existing(living[0])
    if living:
        return Misfit("its conversation is open in several processes, and it names none")
    if not known:
        return Fresh(provisional=report.opening is not None)
    last = known[-1]
    assert last.ended is not None
    if report.at <= counted(last.ended.at, now):
        return Misfit("it happened before the end", last)
    if not last.ended.proven and report.leaving is None:
        return Existing(last)
    if report.leaving is not None:
        return Misfit("a farewell starts nothing", last)
    if last.ended.kind is EndKind.SUPERSEDED and _registry_speaks(draft, last) and report.opening is None:
        return Misfit("the registry names another conversation", last)
    return Fresh(predecessor=last, provisional=report.opening is not None)


def _host(draft: Draft, process: ProcessIdentity, conversation: str, beside: bool) -> Session | None:
    """The session of that process that a word of that conversation concerns: its own, else one without a
    conversation yet; else, where there is only ever one, whatever the process hosts."""
    if not beside:
        return draft.current(process)
    hosts = draft.hosted(process)
    own = [each for each in hosts if each.conversation == conversation]
    nameless = [each for each in hosts if each.conversation is None]
    return next(iter(own or nameless), None)


def _not_hosted(draft: Draft, agent: str, conversation: str, anchor: Anchor, beside: bool) -> Seat:
    assert anchor.process is not None
    if not beside or not draft.hosted(anchor.process):
        return _in_empty_process(draft, agent, conversation, anchor)
    known = draft.of_conversation(agent, conversation)
    unbound = [each for each in known if each.process is None and (each.is_open or _only_reported(each))]
    if unbound and anchor.alive:
        return Existing(unbound[-1])
    return Fresh(predecessor=known[-1] if known else None)


def _in_empty_process(draft: Draft, agent: str, conversation: str, anchor: Anchor) -> Seat:
    assert anchor.process is not None
    past = [each for each in draft.of_process(anchor.process) if not _was_closed(each)]
    if past:  # it hosted sessions and hosts none now: it is over, whatever is still on its way from it
        same = [each for each in past if each.conversation == conversation]
        return Misfit("its process has ended", same[-1] if same else past[-1])
    known = draft.of_conversation(agent, conversation)
    unbound = [each for each in known if each.process is None and (each.is_open or _only_reported(each))]
    if unbound and anchor.alive:
        return Existing(unbound[-1])
    return Fresh(predecessor=known[-1] if known else None)


def _name_the_nameless(draft: Draft, current: Session, agent: str, conversation: str) -> Seat:
    """A process that was found without a conversation says which one it has."""
    unbound = [
        each for each in draft.of_conversation(agent, conversation) if each.process is None and each.is_open
    ]
    if unbound:
        return Existing(unbound[-1], supersedes=current)
    return Existing(current)


def _beside_another(draft: Draft, report: Report, current: Session, now: float) -> Seat:
    """The process hosts one conversation and the report names another: a swap, a phantom, or late."""
    if report.leaving is not None:
        return Misfit("a farewell of a conversation that was superseded", _newest(draft, report))
    if report.at < counted(current.hosted_at, now):
        return Misfit("it is older than the swap", _newest(draft, report))
    gone = current.leaving is not None and report.at >= counted(current.leaving.at, now)
    swapped = report.opening in (Opening.CLEAR, Opening.RESUME, Opening.FORK)
    if gone or swapped:
        return _swap(draft, report.agent, report.conversation, current, report.at)
    pending = [
        each
        for each in draft.of_conversation(report.agent, report.conversation)
        if each.is_open and each.process is None
    ]
    if report.opening is Opening.STARTUP:
        return Existing(pending[-1]) if pending else Fresh(predecessor=None, provisional=True)
    if current.status is not None:
        return Misfit("the registry names another conversation", _newest(draft, report))
    return _swap(draft, report.agent, report.conversation, current, report.at)


def _swap(draft: Draft, agent: str, conversation: str, current: Session, at: float) -> Seat:
    known = draft.of_conversation(agent, conversation)
    unbound = [each for each in known if each.is_open and each.process is None]
    if unbound:
        return Existing(unbound[-1], supersedes=current)
    if _is_only_a_name(current, at):
        return Existing(current)
    return Fresh(predecessor=known[-1] if known else None, supersedes=current)


def _is_only_a_name(session: Session, at: float) -> bool:
    """`claude --continue` does this: its first registry file has a new id, and no status yet."""
    silent = session.turned is None and session.status is None and session.leaving is None
    return silent and at - session.hosted_at < RENAMED_WITHIN


def _registry_speaks(draft: Draft, session: Session) -> bool:
    host = draft.current(session.process) if session.process else None
    return host is not None and host.status is not None


def _closed_since(draft: Draft, report: Report, now: float) -> Session | None:
    """What the report is about, if that was closed after it."""
    last = _newest(draft, report)
    if last is None or last.ended is None or not _was_closed(last):
        return None
    return last if report.at <= counted(last.ended.at, now) else None


def _was_closed(session: Session) -> bool:
    """It ended in a process that lives on, and may open it, or another, again."""
    return session.ended is not None and session.ended.kind is EndKind.CLOSED


def _only_reported(session: Session) -> bool:
    return session.liveness is Liveness.ENDED and session.ended is not None and not session.ended.proven


def _newest(draft: Draft, report: Report) -> Session | None:
    known = draft.of_conversation(report.agent, report.conversation)
    return known[-1] if known else None
