"""Rows: a session of the wire in the words that people see.

Rules
  1. The words and the order are those of the table below; JSON never sees them.
  2. Every foreign string is cleaned here, once; what leaves this file may be printed.
  3. A trailing `?` is an inference: no process vouches for that session, or nothing stirs in one that works.

Not here: widths and colours (table.py), liveness and activity themselves (the daemon decides).
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from headcount.clean_text import clean, said
from headcount.present import time_text

if TYPE_CHECKING:
    from headcount.wire.views import BackgroundWork, Ended, SessionRow

SHORTEST_ID = 4

GROUPS = ("needs you", "stopped", "done", "working", "unknown", "idle", "ended")
"""In the order of the table. Unknown stands above idle because it may be waiting."""

GROUP_OF_ACTIVITY = {
    "waiting": "needs you",
    "failed": "stopped",
    "done": "done",
    "working": "working",
    "idle": "idle",
}

MARKS = {
    "needs you": "▲",
    "stopped": "■",
    "done": "✓",
    "working": "●",
    "unknown": "?",
    "idle": "○",
    "ended": "✗",
}
ASCII_MARKS = {
    "needs you": ">",
    "stopped": "#",
    "done": "+",
    "working": "*",
    "unknown": "?",
    "idle": "-",
    "ended": "x",
}

AGENT_NAMES = {"claude-code": "claude"}
AGENTS_CALLED = {shown: agent for agent, shown in AGENT_NAMES.items()}  # as people type what they see


class Row(NamedTuple):
    id: str  # as short as can be told apart
    group: str
    state: str
    age: str
    agent: str
    name: str
    repo: str
    doing: str
    where: str
    alarms: tuple[str, ...]
    liveness: str
    colour: str
    since: float
    full_id: str
    host: str = ""  # of another machine's


def rows_of(sessions: "Iterable[SessionRow]", now: float) -> list[Row]:
    """The rows in the order of the table: by group, the oldest first, ended ones the newest first."""
    listed = list(sessions)
    short = short_ids([str(raw.get("id")) for raw in listed])
    rows = [row_of(raw, short[str(raw.get("id"))], now) for raw in listed]
    return in_order(rows)


def in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=_place)


def row_of(raw: "SessionRow", short: str, now: float) -> Row:
    group = group_of(raw)
    ended = raw.get("ended") or {}
    since = time_text.parse(ended.get("at") or raw.get("since")) or now
    return Row(
        id=clean(short),
        group=group,
        state=state_of(raw, now),
        age=time_text.span(now - since),
        agent=agent_name(raw),
        name=clean(raw.get("name")) or "-",
        repo=repo_of(raw),
        doing=doing_of(raw, group),
        where=clean(raw.get("where")) or "-",
        alarms=tuple(clean(alarm) for alarm in raw.get("alarms") or ()),
        liveness=clean(raw.get("liveness")),
        colour="killed" if ended.get("signal") is not None else group,
        since=since,
        full_id=clean(raw.get("id")),
        host=clean(raw.get("host")),
    )


def _place(row: Row) -> tuple[int, float, str]:
    rank = GROUPS.index(row.group)
    return rank, -row.since if row.group == "ended" else row.since, row.full_id


def group_of(raw: "SessionRow") -> str:
    liveness = raw.get("liveness")
    if liveness == "ended":
        return "ended"
    if liveness == "lost":
        return "unknown"
    return GROUP_OF_ACTIVITY.get(str(raw.get("activity")), "unknown")


def state_of(raw: "SessionRow", now: float) -> str:
    """The word of the STATE column."""
    liveness = raw.get("liveness")
    if liveness == "ended":
        return end_of(raw.get("ended") or {})
    if liveness == "lost":
        heard = time_text.parse(raw.get("last_event_at"))
        return "unheard" if heard is None else f"unheard {time_text.span(now - heard)}"
    word = activity_word(raw)
    inferred = raw.get("stalled") or (liveness != "alive" and word != "unknown")
    return f"{word}?" if inferred else word


def activity_word(raw: "SessionRow") -> str:
    activity = clean(raw.get("activity")) or "unknown"
    if activity == "waiting":
        return clean(raw.get("waiting_on")) or "waiting"
    if activity == "failed":
        return clean(raw.get("failure")) or "error"
    return activity


def end_of(ended: "Ended") -> str:
    """exited, killed (SIGKILL), continued as 5e61 (/clear), ended by reboot, ended while headcount was away."""
    if ended.get("kind") == "rebooted":
        return "ended by reboot"
    if ended.get("away") and ended.get("kind") != "superseded":
        return "ended while headcount was away"
    if ended.get("kind") == "exited" and not ended.get("exit_code"):
        return "exited"
    return clean(ended.get("because")) or "ended"


def repo_of(raw: "SessionRow") -> str:
    """`api@auth-12`, else the directory's own name, or `-`."""
    name, branch = clean(raw.get("repo")), clean(raw.get("branch"))
    if name:
        return f"{name}@{branch}" if branch else name
    cwd = str(raw.get("cwd") or "")
    return clean(cwd.rstrip("/").rpartition("/")[2] or cwd) or "-"


def is_in_repo(raw: "SessionRow") -> bool:
    """Whether what `repo_of` says is a repository, and not a mere directory."""
    return bool(raw.get("repo"))


def who(raw: "SessionRow") -> str:
    """`02b7 i18n`; a name of more than a word in quotes."""
    return " ".join(part for part in (clean(raw.get("id"))[:SHORTEST_ID], said(raw.get("name"))) if part)


def agent_name(raw: "SessionRow") -> str:
    agent = clean(raw.get("agent")) or "-"
    return AGENT_NAMES.get(agent, agent)


def doing_of(raw: "SessionRow", group: str) -> str:
    doing = clean(raw.get("doing"))
    background = raw.get("background") or []
    if group == "ended":
        because = clean((raw.get("ended") or {}).get("because"))
        return "" if because == end_of(raw.get("ended") or {}) else because
    if group == "idle" and background:
        return f"{len(background)} background: {clean(background[0].get('label')) or clean(background[0].get('kind'))}"
    if not doing and group == "done":
        doing = "finished, not visited"
    if not doing and group == "unknown" and raw.get("liveness") == "alive":
        doing = "alive; nothing heard yet"
    return " ".join(part for part in (doing, beside(background)) if part)


def beside(background: "list[BackgroundWork]") -> str:
    """`+2 subagents`, `+1 shell`."""
    counts: dict[str, int] = {}
    for work in background:
        kind = clean(work.get("kind")) or "task"
        counts[kind] = counts.get(kind, 0) + 1
    return " ".join(f"+{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items())


def short_ids(ids: list[str]) -> dict[str, str]:
    """Each id's shortest prefix that no other has, of at least four characters."""
    ordered = sorted(set(ids))
    lengths = {one: SHORTEST_ID for one in ordered}
    for left, right in pairwise(ordered):  # only neighbours share the longest prefix
        shared = 0
        while shared < min(len(left), len(right)) and left[shared] == right[shared]:
            shared += 1
        lengths[left] = max(lengths[left], shared + 1)
        lengths[right] = max(lengths[right], shared + 1)
    return {one: one[: lengths[one]] for one in ordered}
