"""Claude Code's own list of its live sessions: `sessions/<pid>.json` under each of its roots.

Rules
  1. A file is a hint: it outlives SIGKILL (L7) and is missing at the trust dialog. Its process decides.
  2. Read only. We never write, lock, move or delete anything there (K8).
  3. Only a regular file of our own user, of plausible size, named after the pid it describes, is read.
  4. An incomplete, missing or unreadable file is None, which is evidence of nothing.
  5. Unknown fields and statuses are named for counting, and harmless (S6).
  6. A name is taken only if `nameSource` says that a user gave it or that it is the directory's. Other names
     are made from the conversation. 2.1.197 has no sources: there `--bg PROMPT` writes the prompt as the name.

Not here: watching the directory (daemon/), proving the process (system/processes).
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from headcount.agents.claude_code import NAME
from headcount.agents.interface import RegistryEntry
from headcount.agents.kit.labels import one_line, plain
from headcount.agents.kit.safe_reading import absolute, decoded, id_of, read_plain, text_of
from headcount.core.values.process import ProcessFacts
from headcount.core.values.report import Anchor, Details, Record, WaitingOn

ENTRY_NAME = re.compile(r"([1-9][0-9]{0,9})\.json", re.ASCII)
LARGEST = 64 * 1024  # a record is about a kilobyte; the list of former names grows it slowly

NAMED = frozenset({"user", "peer", "derived"})
"""Sources of a name: the user, the user through another process (`--bg -n`), the directory. Not taken: `auto` (from a
prompt or by a model), `hook`, and `collision`, which may be any of them with a number."""

STATUSES = frozenset({"busy", "idle", "waiting", "shell"})

WAITING_FOR: dict[str, WaitingOn | None] = {
    "permission prompt": WaitingOn.PERMISSION,
    "sandbox request": WaitingOn.PERMISSION,
    "worker request": WaitingOn.PERMISSION,
    "goal proposal": WaitingOn.PLAN,
    "input needed": WaitingOn.QUESTION,
    "dialog open": None,  # a menu that the user opened
}

SERVICE_KINDS = frozenset({"daemon", "daemon-worker"})

NAMESPACE = re.compile(r"linux:(.*):pid:\[([0-9]{1,10})\]", re.ASCII)

KNOWN = frozenset({
    "pid", "sessionId", "cwd", "startedAt", "procStart", "version", "peerProtocol", "peerFeatures",
    "kind", "entrypoint", "pidDomain", "asksForConvertedSkills", "messagingSocketPath", "name",
    "nameSource", "nameSince", "status", "waitingFor", "updatedAt", "statusUpdatedAt", "tmux", "jobId",
    "spare", "formerNames", "agent", "logPath", "bridgeSessionId",
})  # fmt: skip

_decoder = msgspec.json.Decoder(dict[str, object])

FROM_PROMPT = re.compile(r"\(Branch(?: [0-9]+)?\)|⑂")
"""Marks of a name that `/branch` or `/fork` made from a prompt, wherever a later name repeats it."""


class ClaudeRegistry:
    """The registry port, for Claude Code."""

    def roots(self, env: Mapping[str, str], home: Path) -> list[Path]:
        named = [Path(part) for part in env.get("CLAUDE_CONFIG_DIR", "").split(os.pathsep) if part]
        return list(dict.fromkeys(path for path in named if path.is_absolute())) or [home / ".claude"]

    def directory(self, root: Path) -> Path:
        return root / "sessions"

    def is_entry_name(self, name: str) -> bool:
        return ENTRY_NAME.fullmatch(name) is not None

    def read(self, path: Path) -> RegistryEntry | None:
        match = ENTRY_NAME.fullmatch(path.name)
        held = read_plain(path, _whole) if match else None
        if match is None or held is None:
            return None
        entry = parse(held[0], int(match.group(1)), written_at=held[1])
        return None if entry is None else replace(entry, transcript=_transcript(path.parent.parent, entry))

    def names(self, entry: RegistryEntry, facts: ProcessFacts) -> bool:
        identity = facts.identity
        if entry.pid != identity.pid or entry.started is None or entry.started != identity.started:
            return False
        return entry.namespace is None or entry.namespace == identity.namespace

    def record(self, entry: RegistryEntry, anchor: Anchor) -> Record:
        known = entry.status if entry.status in STATUSES else None
        return Record(
            agent=NAME,
            conversation=entry.conversation,
            at=entry.status_at if entry.status_at is not None else entry.written_at,
            status=known,
            waiting_on=WAITING_FOR.get(entry.waiting_for or "") if known == "waiting" else None,
            details=Details(
                cwd=entry.cwd, name=entry.name, transcript=entry.transcript, version=entry.version
            ),
            anchor=anchor,
            written_at=entry.written_at,
            entrypoint=entry.entrypoint,
            kind=entry.kind,
        )


def parse(content: bytes, pid: int, written_at: float = 0.0) -> RegistryEntry | None:
    """The record of that pid; None if it is incomplete or describes another pid."""
    found = decoded(_decoder, content)
    if found is None:
        return None
    conversation = id_of(found.get("sessionId"))
    if conversation is None or found.get("pid") != pid or isinstance(found.get("pid"), bool):
        return None
    status, waiting_for = plain(found.get("status"), 40), plain(found.get("waitingFor"), 80)
    return RegistryEntry(
        pid=pid,
        started=_ticks(found.get("procStart")),
        namespace=_namespace(found.get("pidDomain")),
        machine=_machine(found.get("pidDomain")),
        conversation=conversation,
        is_session=text_of(found.get("kind")) not in SERVICE_KINDS and not found.get("spare"),
        cwd=absolute(found.get("cwd")),
        status=status,
        waiting_for=waiting_for,
        status_at=_seconds(found.get("statusUpdatedAt")) or _seconds(found.get("updatedAt")),
        opened_at=_seconds(found.get("startedAt")),
        written_at=written_at,
        name=name_of(found.get("name")) if text_of(found.get("nameSource")) in NAMED else None,
        version=plain(found.get("version"), 40),
        kind=plain(found.get("kind"), 40),
        entrypoint=plain(found.get("entrypoint"), 40),
        tmux=plain(found.get("tmux"), 200),
        unknown=_unknown(found, status, waiting_for),
    )


def home_of(cwd: str | None, transcript: str | None) -> str | None:
    """The directory that the conversation belongs to. The CLI resumes it only there, even if the session has moved
    to a subdirectory since."""
    if cwd is None or transcript is None:
        return cwd
    project = Path(transcript).parent.name
    return next(
        (str(each) for each in (Path(cwd), *Path(cwd).parents) if _project(str(each)) == project), cwd
    )


def _transcript(root: Path, entry: RegistryEntry) -> str | None:
    if entry.cwd is None:
        return None
    return str(root / "projects" / _project(entry.cwd) / f"{entry.conversation}.jsonl")


def _project(directory: str) -> str:
    """The name of the conversation's project folder: its directory, with every special character as a dash."""
    return re.sub(r"[^0-9A-Za-z]", "-", directory)


def _whole(fd: int, seen: os.stat_result) -> tuple[bytes, float] | None:
    """The file's bytes and when it was written."""
    content = os.read(fd, LARGEST + 1)
    return (content, seen.st_mtime) if len(content) <= LARGEST else None


def _unknown(found: dict[str, object], status: str | None, waiting_for: str | None) -> tuple[str, ...]:
    strange = [one_line(key, 40) for key in sorted(found.keys() - KNOWN)[:8]]
    if status is not None and status not in STATUSES:
        strange.append(f"status={one_line(status, 40)}")
    if waiting_for is not None and waiting_for not in WAITING_FOR:
        strange.append(f"waitingFor={one_line(waiting_for, 40)}")
    return tuple(strange)


def _ticks(value: object) -> int | None:
    """Start ticks on Linux. macOS writes a date there, which proves nothing to us."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}", value, re.ASCII) else None


def _namespace(value: object) -> int | None:
    match = NAMESPACE.fullmatch(value) if isinstance(value, str) else None
    return int(match.group(2)) if match else None


def _machine(value: object) -> str | None:
    match = NAMESPACE.fullmatch(value) if isinstance(value, str) else None
    return match.group(1) or None if match else None


def _seconds(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value / 1000.0 if 0 < value < 1e14 else None


def name_of(value: object) -> str | None:
    """A name or custom title; None where the CLI made it from a prompt: prompts are not kept."""
    if not isinstance(value, str) or FROM_PROMPT.search(value):
        return None
    return one_line(value) or None
