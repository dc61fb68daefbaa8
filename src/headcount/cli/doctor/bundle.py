"""Redaction: what of the wire's documents may leave the machine in a report.

Rules of this file
  1. An allow-list: a field that is not named here leaves as its shape (`<text, 27 characters>`), never as itself.
  2. Our own words, numbers, times and ids stay: they are what a wrong row is explained by. What an agent or a person wrote
     (titles, commands, prompts, notes, names) never does.
  3. Of a path the last part stays, or all of it when that was asked for. Sentences stay when they are ours, known by
     their form.
  4. Pure.

Not here: what is collected (bundle.py).
"""

import re
from typing import Any

PLAIN = frozenset({
    "id", "agent", "liveness", "activity", "waiting_on", "failure", "since", "started_at", "last_event_at", "source",
    "provisional", "parent", "predecessor", "kind", "exit_code", "signal", "away", "successor", "at", "seq", "type",
    "value", "says", "stands", "agree", "version", "uptime_s", "counts", "agents", "processes", "watched", "polled",
    "bytes", "sessions", "pid", "fence", "session", "oldest", "stalled",
    "context_tokens", "check", "level", "python", "system", "kernel", "machine", "terminal", "headcount",
    "unknown_events", "hidden", "waiting",
})  # fmt: skip
"""Fields whose text is ours, or one of a few words; checked by form all the same."""

PATHS = frozenset({"cwd", "socket", "mailbox", "path", "repo", "unit", "set_aside"})
SENTENCES = frozenset({"because", "why_not", "would_change", "warnings"})

FOREIGN = {
    "entrypoint": re.compile(r"[A-Za-z_-]{1,20}"),
    "permission_mode": re.compile(r"[A-Za-z_-]{1,20}"),
    "model": re.compile(r"(?:claude|gpt|gemini|codex)[a-z0-9.-]{0,40}"),
}
"""What agents say of themselves in a few words of their own: only in the form that those words have."""

_WORD = re.compile(
    r"[A-Za-z._ -]{1,32}|[0-9a-f]{4,32}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,16}Z|[0-9][0-9A-Za-z.+-]{0,31}|pid [0-9]{1,10}"
)  # a word, an id, a time, a version, a process
_NAME = re.compile(r"[A-Za-z_.]{1,40}")  # of an event or a field, without digits: no secret looks like it
_STATUS = re.compile(r"status=[a-z_-]{1,20}(?: \"[a-z]{1,12}\")?")
_EVENT = re.compile(r"([A-Z][A-Za-z]{2,24})(?: (.+))?", re.DOTALL)
_CUT = re.compile(r"[^\s();,:'\"/-]+")
_NUMBER = re.compile(r"[0-9]{1,10}|[0-9a-f]{4}|SIG[A-Z0-9]{2,8}")

VOCABULARY = frozenset(
    """a above ago agent agents all already an and another any are as asked at away be because before being belongs
    belonged below binding boot booted bound busy by caller cannot change changed claude clear closed code codex
    continued conversation could dead death descriptor did differ different does done dropped each end ended ending ends
    error Esc event every evidence exit exited file first for forked found from gemini gone had has have headcount header
    heard helper here hook hooks host hosts http idle if in inode instead is it its kernel killed known learned leaving
    limit line lives lost machine match minutes more named names namespace never new newer newest next no nobody not
    nothing now of old older on one only open opencode or other out over peer permission pid pidfd place plan portable
    process processes prompt proof proved proven question read readable reboot recognised recorded registry reported
    report request restarted result resume rewritten running said same says SessionEnd session since so source stale
    standing stands start started stat state status still stopped superseded swapped taken ten than that the then there
    this ticks time to token tool transport tree turn unknown unreadable until user waiting was were what when which while
    who with without word working written yet zombie silence""".split()  # noqa: SIM905 (a text of words is what it is)
)
"""The words of our own sentences. One that is not here makes its sentence a shape."""


def redacted(value: Any, *, paths: bool = False, field: str = "") -> Any:
    if isinstance(value, dict):
        return {
            _key(key): redacted(each, paths=paths, field=_field(field, key)) for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(each, paths=paths, field=field) for each in value]
    if isinstance(value, str):
        return _text(value, field, paths)
    return value


def _key(key: object) -> str:
    return str(key) if _NAME.fullmatch(str(key)) else shape(str(key))


def _field(outer: str, key: object) -> str:
    """Numbers by name (`counts`) keep the outer field's rule."""
    return outer if outer in ("counts", "agents", "unknown_events") else str(key)


def _text(text: str, field: str, paths: bool) -> str:
    if field == "conversation":
        return f"{text[:8]}…" if re.fullmatch(r"[0-9a-f-]{8,64}", text) else shape(text)
    if field in PATHS:
        return path_of(text, paths=paths)
    if field in SENTENCES:
        return sentence(text)
    form = FOREIGN.get(field, _WORD if field in PLAIN else None)
    if form is not None and form.fullmatch(text):
        return text
    return shape(text)


def sentence(text: str) -> str:
    """Ours stay; of a report its event's name does, and its label leaves as a shape."""
    if _STATUS.fullmatch(text) or all(_is_ours(word) for word in _CUT.findall(text)):
        return text
    event = _EVENT.fullmatch(text)
    if event is None:
        return shape(text)
    return f"{event.group(1)} {shape(event.group(2))}" if event.group(2) else event.group(1)


def _is_ours(word: str) -> bool:
    return word.lower() in VOCABULARY or word in VOCABULARY or _NUMBER.fullmatch(word) is not None


def path_of(text: str, *, paths: bool) -> str:
    if not text.startswith("/"):
        return shape(text)
    return text if paths else f"…/{text.rstrip('/').rpartition('/')[2]}"


def shape(text: str) -> str:
    return f"<text, {len(text)} characters>" if text else ""
