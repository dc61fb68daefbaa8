"""Write each event as one line of text; a death has a second line with what it freed and left.

Rules
  1. `14:02:11 ✗ 02b7 i18n killed (SIGKILL) after 2h06m`: time, mark, who, what became true.
  2. Events that change nothing people look at (`heard`, `bound`, `changed`) are shown only when asked for.
  3. `freed task:I18N-4; left 2 processes, 1 dirty worktree. To go on: headcount resume 02b7`: the second line
     of a death names only what there is. Items longer than a word are quoted, so that none looks like the
     command behind them.
  4. In `watch` that second line also covers what happened to the same session in between. It is printed once.

Not here: the words of a session's row (present/session_words.py), where events come from (client/), the list
  of leftovers (present/leftovers.py).
"""

from typing import TYPE_CHECKING

from headcount.clean_text import clean, said, said_item
from headcount.present import session_words, time_text
from headcount.present.screen import Screen

if TYPE_CHECKING:
    from headcount.wire.views import EventFacts, EventRow, SessionRow, Signalled

SUGGESTED = 5  # seconds of --kill-after
QUIET = frozenset({"session.heard", "session.bound", "session.changed", "leftover.changed"})

FREED = {
    "released": "{who} released {item}",
    "died": "{item} is free: its holder {who} died",
    "forced": "{item} was taken from {who} by force",
    "lease-lost": "{item} was lost by {who}: this host was away from the fleet for too long",
    "handed-off": "{who} handed {item} on",
    "withdrawn": "{who} was gone before it heard that {item} was its own",
}

CUT_SHORT = frozenset({"killed", "rebooted", "unseen"})
"""Ends that nobody asked the agent for: whoever reads of one may want to go on."""

ABOUT_US = {
    "headcount.started": "headcount started",
    "headcount.stopped": "headcount stopped; nothing is seen until it is up again",
    "fleet.joined": "joined a fleet",
    "fleet.left": "left the fleet",
    "fleet.away": "the fleet cannot be reached; shared claims are not vouched for",
    "fleet.back": "the fleet is reached again",
    "host.silent": "not heard",
    "store.lost": "the store was lost: damaged and set aside, or removed; rebuilt from the living",
}

NAMES = {
    "process": ("process", "processes"),
    "second-writer": ("second writer", "second writers"),
    "pane": ("pane", "panes"),
    "worktree": ("dirty worktree", "dirty worktrees"),
    "record": ("stale record", "stale records"),
}


def is_told(event: "EventRow") -> bool:
    return event.get("type") not in QUIET


def lines_of(event: "EventRow", screen: Screen, now: float) -> list[str]:
    at = time_text.parse(event.get("at"))
    clock = time_text.clock(now if at is None else at, now)
    raw = event.get("session")
    if str(event.get("type")).startswith("claim."):
        return [f"{clock}   {_of_a_claim(event)}"]
    if event.get("type") == "session.examined":
        left = text_of(event)
        return [f"{clock}   {session_words.who(raw)}: {left}"] if left and isinstance(raw, dict) else []
    if str(event.get("type")).startswith("ending."):
        return [f"{clock}   {_of_an_ending(event)}"]
    if str(event.get("type")).startswith("leftover."):
        return [f"{clock}   {of_a_leftover(event)}"]
    if not isinstance(raw, dict):
        facts = event.get("facts") or {}
        text = ABOUT_US.get(str(event.get("type"))) or clean(event.get("type"))
        because = clean(facts.get("because") or facts.get("message")) if isinstance(facts, dict) else ""
        return [f"{clock}   {text}{': ' + because if because else ''}"]
    moment = now if at is None else at
    group = session_words.group_of(raw)
    marks = session_words.MARKS if screen.unicode else session_words.ASCII_MARKS
    killed = (raw.get("ended") or {}).get("signal") is not None
    mark = screen.paint(marks[group], "killed" if killed else group)
    line = f"{clock} {mark} {session_words.who(raw)} {_what(event, raw, moment)}".rstrip()
    return [line, *(f"{' ' * len(clock)} {more}" for more in _more(event, raw))]


def _of_an_ending(event: "EventRow") -> str:
    """`SIGTERM to 41377 node vite (reap, by operator on pts/3: headcount 5123, bash 4100)`, then what came of it."""

    facts = event.get("facts") or {}
    id = (event.get("session") or {}).get("id")
    if facts.get("outcome") == "closed":
        return f"{clean(id)[: session_words.SHORTEST_ID]} was closed (by {_asker(facts)})"
    if event.get("type") == "ending.finished":
        result: EventFacts = {**facts, "session": id}
        return sentence(result)
    what = " ".join(word for word in (clean(facts.get("pid")), clean(facts.get("what"))) if word)
    return f"{clean(facts.get('signal'))} to {what} ({clean(facts.get('verb'))}, by {_asker(facts)})"


def _asker(facts: "EventFacts") -> str:
    """Who asked for an ending: the operator, our own policy, or an agent; from which terminal, below whom."""
    by, caller = clean(facts.get("by")), facts.get("caller") or {}
    who = by if by in ("operator", "policy") else f"agent {by[: session_words.SHORTEST_ID]}"
    terminal = f" on {clean(caller.get('terminal'))}" if caller.get("terminal") else ""
    chain = [f"{clean(each.get('program'))} {clean(each.get('pid'))}" for each in caller.get("chain") or ()]
    return f"{who}{terminal}{': ' if chain else ''}{', '.join(chain)}"


def _of_a_claim(event: "EventRow") -> str:
    """`7f3a auth-refactor claimed task:AUTH-12 (claim #12)`, `task:AUTH-12 is free: its holder 7f3a … died`."""
    from headcount.present.holders import name_of

    who, item = name_of(event.get("holder")), said_item(event.get("item"))
    if event.get("type") == "claim.granted":
        return f"{who} claimed {item} (claim #{clean(event.get('fence'))})"
    because = clean(event.get("because"))
    by = f" ({clean(event.get('by'))})" if event.get("by") and because == "forced" else ""
    return FREED.get(because, "{item} is free, once {who}'s").format(who=who, item=item) + by


def _what(event: "EventRow", raw: "SessionRow", moment: float) -> str:
    kind = event.get("type")
    if kind == "session.started":
        return f"started: {session_words.agent_name(raw)} in {session_words.repo_of(raw)}"
    if kind == "session.ended":
        started = time_text.parse(raw.get("started_at"))
        after = "" if started is None else f" after {time_text.exact_span(moment - started)}"
        return f"{session_words.state_of(raw, moment)}{after}"
    if kind == "session.closing":
        closes = time_text.parse((event.get("facts") or {}).get("closes_at"))
        when = "" if closes is None else f" at {time_text.clock(closes, moment)}"
        return f"has been idle for long and will be closed{when}; type in it to keep it"
    if kind == "session.reopened":
        return "is back: its end was only reported"
    if kind == "session.doubted":
        return "cannot be asked now; not taken for dead"
    if kind == "session.bound":
        return f"is process {clean(raw.get('pid'))}"
    if kind == "session.heard":
        return "heard"
    if kind in ("alarm.raised", "alarm.cleared"):
        return clean(kind).replace(".", " ")
    doing = session_words.doing_of(raw, session_words.group_of(raw))
    return ": ".join(part for part in (session_words.state_of(raw, moment), doing) if part)


def _more(event: "EventRow", raw: "SessionRow") -> list[str]:
    if event.get("type") == "alarm.raised":
        return [f"! {clean(alarm)}" for alarm in raw.get("alarms") or ()]
    if event.get("type") == "session.ended" and (raw.get("ended") or {}).get("kind") in CUT_SHORT:
        resume = clean(raw.get("resume"))
        return [f"resume: {resume}"] if resume else []
    return []


def sentence(result: "Signalled") -> str:
    who, outcome = subject(result), result.get("outcome")
    seconds = result.get("seconds")
    took = f" in {seconds:.1f} s" if isinstance(seconds, int | float) else ""
    if outcome == "exited":
        return f"{who} exited{took}."
    if outcome == "killed":
        return f"{who} ignored SIGTERM and was killed{took}."
    if outcome == "survived":
        return f"{who} ignored SIGTERM and is still alive: --kill-after {SUGGESTED}."
    if outcome == "over":
        return f"{who} had ended already."
    return f"{who} was not signalled: {clean(result.get('because'))}."


def subject(result: "Signalled") -> str:
    """`7f3a auth-refactor (pid 41377)`; of a leftover `node vite (pid 41402, left by 02b7)`."""
    pid, what = clean(result.get("pid")), clean(result.get("what"))
    session = clean(result.get("session"))[: session_words.SHORTEST_ID]
    if not what:
        return f"pid {pid}"
    if result.get("leftover"):
        return f"{what} (pid {pid}{f', left by {session}' if session else ''})"
    return f"{f'{session} {said(what)}'.strip()} (pid {pid})"


def text_of(event: "EventRow") -> str:
    facts, raw = event.get("facts") or {}, event.get("session") or {}
    parts = []
    freed = [said_item(item) for item in facts.get("freed") or ()]
    if freed:
        parts.append(f"freed {', '.join(freed)}")
    left = facts.get("left") or {}
    counted = [
        _counted(left[kind], kind) for kind in [*NAMES, *sorted(set(left) - set(NAMES))] if left.get(kind)
    ]
    if counted:
        parts.append(f"left {', '.join(counted)}")
    told = ["; ".join(parts)] if parts else []
    if facts.get("resumable"):
        told.append(f"To go on: headcount resume {clean(raw.get('id'))[: session_words.SHORTEST_ID]}")
    return ". ".join(told)


def of_a_leftover(event: "EventRow") -> str:
    """`02b7 i18n left a process: 41377 node vite`, `gone: …`."""
    left, raw = event.get("leftover") or {}, event.get("session")
    one, _ = NAMES.get(str(left.get("kind")), (clean(left.get("kind")), ""))
    pid = f"{clean(left.get('pid'))} " if left.get("pid") else ""
    what = f"{one} {pid}{clean(left.get('what'))}"
    if event.get("type") == "leftover.gone":
        return f"gone: {what}"
    return (
        f"{session_words.who(raw)} left: {what}"
        if isinstance(raw, dict)
        else f"left by nobody that is known: {what}"
    )


def _counted(count: object, kind: str) -> str:
    one, many = NAMES.get(kind, (clean(kind), clean(kind)))
    return f"{clean(count)} {one if count == 1 else many}"


class DeathLines:
    """Of a stream of events: which belong to a death that is still being looked into."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._last: str | None = None  # whose death was told last, with nothing told since

    def takes(self, event: "EventRow") -> bool:
        """Whether the event will be part of a death's second line, and is not told by itself."""
        kind = event.get("type")
        if kind in ("snapshot", "headcount.started"):
            self._open.clear()
        if kind == "claim.released" and event.get("because") == "died":
            return str((event.get("holder") or {}).get("session")) in self._open
        return kind == "leftover.found" and _id(event) in self._open

    def told(self, event: "EventRow") -> None:
        """Of every event that was told, in order."""
        ended = (
            (event.get("session") or {}).get("ended") or {} if event.get("type") == "session.ended" else {}
        )
        if ended and ended.get("kind") not in ("superseded", "reported", "rebooted"):
            self._open.add(_id(event))
            self._last = _id(event)
        else:
            self._last = None

    def follows(self, event: "EventRow") -> bool:
        """Whether that death was the last thing told: then its second line stands under it."""
        return event.get("type") == "session.examined" and self._last == _id(event)

    def is_over(self, event: "EventRow") -> None:
        if event.get("type") == "session.examined":
            self._open.discard(_id(event))


def _id(event: "EventRow") -> str:
    return str((event.get("session") or {}).get("id"))
