"""OpenCode's database: state of the last turn, the last lines for a person, what a process was started with.

Rules
  1. Read-only: one query per table by conversation id, with a short wait for locks and a work limit, so that OpenCode
     is not slowed down.
  2. Reading creates no file. While a process has the database open its -wal exists; otherwise it is read as an
     immutable file.
  3. A glimpse has no text: of a message only its role, time, model and how it ended. The title is not read: a model
     makes it from the first prompt, and the database does not say whether a user changed it.
  4. It does not show dialogs: a pending permission is in no table.
  5. The database is one file for all processes and holds no pid, so it cannot say which process has a conversation.
     Neither can a directory or "the newest" (accidents I2, I4). The command line can: `--session ID`, unless with
     `--fork`.
  6. `peek` reads only the last messages, and only the beginning of each part. It returns text as it was written; the
     caller cleans it before printing. A tool is shown by its label, without its result. What OpenCode itself added to
     a prompt is left out.

Not here: when it is read (daemon/observers/transcripts.py), what the plugin reports (reports.py), who may ask
(daemon/routes/peek.py).
"""

import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec

from headcount.agents.interface import Hosted
from headcount.agents.kit.labels import plain
from headcount.agents.kit.safe_reading import COUNT_MOST, NO_RAW, JsonReader, count_of, id_of
from headcount.agents.kit.transcripts import ConversationLine, spoken
from headcount.agents.opencode import NAME
from headcount.agents.opencode.reports import ABORTED, TOO_MANY, label
from headcount.core.values.activity import Turned
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import OpenFiles, ProcessFacts
from headcount.core.values.report import Turn
from headcount.core.values.session import Spent
from headcount.times import FOREIGN_LOCK_WITHIN

FILE = "opencode.db"
STEPS = 10_000  # steps of the engine between two checks of the limit
LOOKS_MOST = 200  # some millions of steps: a conversation's last message needs a few hundred
MILLI = 1000.0
COST_MOST = 10**7

SESSION = "SELECT 1 FROM session WHERE id = ?"
FIGURES = """SELECT version, cost, tokens_input + tokens_cache_read + tokens_cache_write,
    tokens_output + tokens_reasoning FROM session WHERE id = ?"""
MESSAGE = "SELECT data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1"

ID = "ses_"

MESSAGES_MOST = 100
PART_MOST = 64 * 1024  # a longer one is a tool call with its result; it is skipped

MESSAGES = """SELECT id, time_created, json_extract(data, '$.role'), json_extract(data, '$.path.cwd') FROM message
    WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT ?"""
PARTS = "SELECT data FROM part WHERE message_id = ? AND length(data) <= ? ORDER BY id"
WHO = {"user": "user", "assistant": "agent"}


class Time(msgspec.Struct, frozen=True):
    created: object = None
    completed: object = None


class Cache(msgspec.Struct, frozen=True):
    read: object = 0
    write: object = 0


class MessageTokens(msgspec.Struct, frozen=True):
    input: object = 0
    cache: Cache = Cache()


class ErrorData(msgspec.Struct, frozen=True):
    statusCode: object = None


class Error(msgspec.Struct, frozen=True):
    name: object = None
    data: ErrorData = ErrorData()


class MessageRow(msgspec.Struct, frozen=True):
    role: object = None
    modelID: object = None
    finish: object = None
    time: Time = Time()
    tokens: MessageTokens = MessageTokens()
    error: Error | None = None
    parts: msgspec.Raw = NO_RAW


_messages = JsonReader(MessageRow)


def directory(env: Mapping[str, str], home: Path) -> Path:
    return Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"


def glimpse(path: Path, conversation: str) -> Glimpse | None:
    try:
        with opened(path) as database:
            known = database.execute(SESSION, (conversation,)).fetchone()
            last = database.execute(MESSAGE, (conversation,)).fetchone()
            version, cost, given, made = _figures(database, conversation)
    except (sqlite3.Error, OSError):
        return None  # locked, damaged, or a version with other tables: no evidence
    if known is None:
        return None
    read = _messages.read(str(last[0]).encode("utf-8", "replace")) if last is not None else None
    message = read if isinstance(read, MessageRow) else MessageRow()
    return Glimpse(
        NAME,
        conversation,
        None,
        plain(message.modelID, 100),
        _used(message.tokens),
        _turned(message),
        spent=_spent(given, made, cost),
        version=plain(version, 40),
        model_at=time_of(message.time.completed) or time_of(message.time.created),
    )


def _figures(database: sqlite3.Connection, conversation: str) -> tuple[object, ...]:
    """Tokens and cost. Older versions have no totals; the turn's state is known without them."""
    try:
        found: tuple[object, ...] | None = database.execute(FIGURES, (conversation,)).fetchone()
    except sqlite3.Error:
        found = None
    return found or (None, None, None, None)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A regular file of our own user, else OSError."""
    if path.name != FILE or not _is_ours(path):
        raise FileNotFoundError(path)
    way = "mode=ro" if _is_ours(Path(f"{path}-wal")) else "mode=ro&immutable=1"
    looks = iter(range(LOOKS_MOST))
    address = f"file:{quote(str(path))}?{way}"
    with closing(sqlite3.connect(address, uri=True, timeout=FOREIGN_LOCK_WITHIN)) as database:
        database.set_progress_handler(lambda: next(looks, None) is None, STEPS)
        yield database


def _is_ours(path: Path) -> bool:
    try:
        seen = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(seen.st_mode) and seen.st_uid == os.geteuid()


def _used(tokens: MessageTokens) -> int | None:
    return sum(map(count_of, (tokens.input, tokens.cache.read, tokens.cache.write))) or None


def _spent(given: object, made: object, cost: object) -> Spent | None:
    if type(given) is not int or type(made) is not int or not 0 < given + made < COUNT_MOST:
        return None
    # a model without a price: cost unknown
    return Spent(given, made, cost if isinstance(cost, float) and 0 < cost < COST_MOST else None)


def _turned(message: MessageRow) -> Turned | None:
    began, ended = time_of(message.time.created), time_of(message.time.completed)
    if began is None:
        return None
    if message.error is not None:
        return _word(ended or began, *_failed(message.error))
    if message.role == "user" or ended is None:
        return _word(began, Turn.PROMPTED)
    return _word(ended, Turn.TOOL_DONE if message.finish == "tool-calls" else Turn.STOPPED)


def _failed(error: Error) -> tuple[Turn, str | None]:
    if error.name == ABORTED:
        return Turn.SETTLED, None
    return Turn.FAILED, "limit" if error.data.statusCode == TOO_MANY else "error"


def _word(at: float, turn: Turn, failure: str | None = None) -> Turned:
    return Turned(at, turn, "last message", "database", None, None, failure)


def time_of(value: object) -> float | None:
    return count_of(value) / MILLI or None


def hosted(facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...] | None:
    conversation = _resumed(facts.argv)
    if conversation is None:
        return None  # it may have many open, or none: its files do not show it
    database = next((file.path for file in files if file.path.endswith(f"/{FILE}")), None)
    return (Hosted(conversation, database, "command line", facts.cwd, beside=True),)


def _resumed(argv: tuple[str, ...]) -> str | None:
    if "--fork" in argv or "--" in argv:
        return None
    for nth, word in enumerate(argv):
        if word in ("-s", "--session"):
            return _id(argv[nth + 1]) if nth + 1 < len(argv) else None
        if word.startswith("--session="):
            return _id(word.partition("=")[2])
    return None


def _id(text: str) -> str | None:
    return id_of(text) if text.startswith(ID) else None


class State(msgspec.Struct, frozen=True):
    input: msgspec.Raw = NO_RAW


class PartRow(msgspec.Struct):
    type: object = None
    text: object = None
    tool: object = None
    synthetic: object = None
    ignored: object = None
    state: State = State()


_parts = JsonReader(PartRow)


def peek(path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
    """The last `most` lines; None: there is no such conversation."""
    said: list[ConversationLine] = []
    try:
        with opened(path) as database:
            messages = database.execute(MESSAGES, (conversation, MESSAGES_MOST)).fetchall()
            for id, created, role, cwd in messages:
                parts = database.execute(PARTS, (id, PART_MOST)).fetchall()
                said[:0] = [each for [data] in parts for each in _said(data, role, time_of(created), cwd)]
                if len(said) >= lines:
                    break
    except (sqlite3.Error, OSError):
        return None
    return said[-lines:] if messages else None


def _said(data: object, role: object, at: float | None, cwd: object) -> list[ConversationLine]:
    part = _parts.read_or_empty(str(data).encode("utf-8", "replace"))
    if part.type == "tool" and isinstance(part.tool, str):
        return [ConversationLine("tool", label(part.tool, part.state.input, cwd), at)]
    who = WHO.get(role) if isinstance(role, str) else None
    if part.type != "text" or who is None or part.synthetic is True or part.ignored is True:
        return []
    return spoken(who, part.text, at)
