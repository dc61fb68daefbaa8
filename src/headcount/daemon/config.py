"""The daemon's settings: one table (`Config`), read from `config.toml` and a few environment variables.

Rules
  1. Settings are read once, at the start. An unknown or wrong setting is a clear error, not a guess.
  2. Every setting has a default that suits nearly everybody: no file is needed.
  3. A setting can name a command that the daemon runs. So a file that another user could have written is
     refused.
  4. A new setting is one row of `Config`. Reading, errors, the table in docs/cli.md and the note that the file
     was changed follow from it.

Not here: where the file is (paths.py), who may own it (private_files.py).
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from headcount import private_files
from headcount.times import DAY, HOUR, LONG_TURN, MINUTE, RETENTION, STALL_AFTER

MEGABYTE = 1024 * 1024
SIZE_MOST = MEGABYTE
NUMBER_MOST = 10**9  # no setting means more; a float would not hold what TOML can write
PORT_MOST = 65_535
TABLES = frozenset({"tmux", "close", "notify"})
SPAN = re.compile("([0-9]{1,6})([smhd]?)")
UNITS = {"": 1, "s": 1, "m": MINUTE, "h": HOUR, "d": DAY}

BY_COMMAND = "notify.command can post with curl (see: headcount notify --help)"
REMOVED = {
    "notify.webhook_url": BY_COMMAND,
    "notify.webhook_secret": BY_COMMAND,
    "notify.quiet_hours": "notify.command can name a program that looks at the time",
}
"""Settings that no longer exist, and what to do instead."""


class BadSetting(Exception):
    pass


# --- forms: what a value must be -------------------------------------------------------------------


def switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise BadSetting("must be true or false")
    return value


def text(value: object) -> str:
    if not isinstance(value, str):
        raise BadSetting("must be a string")
    return value


def texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadSetting("must be a list of strings")
    return tuple(value)


def kinds(value: object) -> tuple[str, ...]:
    """A kind that does not exist would keep every notice back, and nothing would say so."""
    from headcount.core.notifications import NotificationKind

    known = [kind.value for kind in NotificationKind if kind is not NotificationKind.TEST]
    given = texts(value)
    for each in given:
        if each not in known:
            raise BadSetting(f"has no kind {each!r}; the kinds are {', '.join(known)}")
    return given


def span(value: object) -> str:
    if value != "" and (not isinstance(value, str) or parse_span(value) is None):
        raise BadSetting('must be a span of time as "12h", "30m" or "2d"')
    return str(value)


def number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= NUMBER_MOST:
        raise BadSetting(f"must be a number above zero, and not beyond {NUMBER_MOST:,}")
    return float(value)


def count(value: object) -> int:
    return int(number(value))


def port(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= PORT_MOST:
        raise BadSetting(f"must be a port, 1 to {PORT_MOST}; 0 takes a free one")
    return value


def parse_span(text: str) -> float | None:
    """`90`, `30m`, `12h`, `2d` in seconds; None: it is none of these."""
    match = SPAN.fullmatch(text)
    return float(match[1]) * UNITS[match[2]] if match and float(match[1]) > 0 else None


# --- the table -------------------------------------------------------------------------------------


def _setting(form: Callable[[Any], object], default: Any, meaning: str, variable: str = "") -> Any:
    return field(default=default, metadata={"form": form, "meaning": meaning, "variable": variable})


@dataclass(frozen=True, slots=True)
class Config:
    """A field `notify_desktop` is `desktop` below `[notify]` in the file, for each of TABLES."""

    retention_days: float = _setting(number, RETENTION / DAY, "how long ended sessions and events are kept")
    store_max_mb: float = _setting(number, 512.0, "how large the store may grow; then the oldest events go")
    sessions_kept: int = _setting(count, 5_000, "how many ended sessions are kept, the newest")
    web_port: int = _setting(port, 0, "of the page; 0: a free one")
    claude_roots: tuple[str, ...] = _setting(texts, (), "further directories with Claude Code's own files")
    stall_minutes: float = _setting(
        number, STALL_AFTER / MINUTE, "a working session without a sign of work for so long is `working?`"
    )
    tmux_sessions: tuple[str, ...] = _setting(
        texts, (), "tmux sessions kept for agents: a window in them that no session owns is a leftover"
    )
    tmux_reserved_windows: tuple[str, ...] = _setting(
        texts, (), "names or numbers of windows in them that are your own"
    )
    close_idle_after: str = _setting(span, "", '`"12h"`: idle sessions are closed after that; empty: never')
    notify_desktop: bool = _setting(switch, False, "notify by notify-send or osascript")
    notify_command: tuple[str, ...] = _setting(texts, (), "run with the notices as JSON on its stdin")
    notify_kinds: tuple[str, ...] = _setting(kinds, (), "notify of these only; empty: of all")
    notify_long_turn_minutes: float = _setting(
        number, LONG_TURN / MINUTE, "notify of the end of a turn that took so long"
    )
    notify_tmux_segment: bool = _setting(switch, False, "push the summary to tmux as `@headcount`")
    processes: str = _setting(
        text, "", '`"linux"` or `"portable"`; empty: what fits the system', "HEADCOUNT_PROCESSES"
    )
    without: str = _setting(
        text, "", 'kernel features not to use, such as `"inode"`; for tests', "HEADCOUNT_WITHOUT"
    )
    fleet_pace: float = _setting(
        number, 1.0, "shortens all times of a fleet, on all its hosts; for tests", "HEADCOUNT_FLEET_PACE"
    )

    @property
    def idle_limit(self) -> float | None:
        """How long a session may be idle before it is closed; None: for ever."""
        return parse_span(self.close_idle_after)

    @classmethod
    def read(cls, path: Path, env: Mapping[str, str]) -> "Config":
        config = _from_file(path) if path.exists() else cls()
        return replace(config, **_from_environment(env))

    def drift(self, path: Path, env: Mapping[str, str]) -> str | None:
        """That a start would make something else of the file as it is now; None: it would not. What is wrong with a
        file is for its owner, and this is told to agents too."""
        changed = "the settings were changed since the daemon started"
        try:
            if Config.read(path, env) == self:
                return None
        except (BadSetting, OSError):
            return f"{changed}, and it would not start with them; what is wrong: headcount doctor"
        return f"{changed}, which reads them once; to use them: headcount down && headcount up"


class Setting(NamedTuple):
    name: str  # as in the file: `notify.desktop`
    field: str
    default: Any
    form: Callable[[Any], object]
    meaning: str
    variable: str  # of the environment, which wins over the file; empty: none


def _settings() -> list[Setting]:
    found = []
    for each in fields(Config):
        table, _, rest = each.name.partition("_")
        name = f"{table}.{rest}" if table in TABLES else each.name
        found.append(Setting(name, each.name, each.default, **each.metadata))
    return found


SETTINGS = _settings()


# --- reading ---------------------------------------------------------------------------------------


def _read(path: Path) -> dict[str, object]:
    try:
        private_files.check_directory(str(path.parent), may_be_link=True, settings=True)
        return _flat(tomllib.loads(private_files.read(str(path), SIZE_MOST, settings=True).decode()))
    except OSError as error:  # not to be read, or not ours alone
        raise BadSetting(f"{error.filename}: {error.strerror}. Mend that, or remove {path}.") from error
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, nested without end
        raise BadSetting(f"{path}: {error}. Mend or remove the file.") from error


def removed_in(path: Path) -> list[str]:
    """Settings of the file that no longer do anything, and what to do instead."""
    try:
        given = _read(path) if path.exists() else {}
    except BadSetting:
        return []
    return [f"{name} is no longer a setting: {REMOVED[name]}" for name in given if name in REMOVED]


def _from_file(path: Path) -> Config:
    known = {each.name: each for each in SETTINGS}
    given: dict[str, Any] = {}
    for name, value in _read(path).items():
        if name in REMOVED:  # an upgrade must not leave nobody who watches; `status` says it
            continue
        if name not in known:
            raise BadSetting(f"{path}: unknown setting {name!r}; known are {', '.join(sorted(known))}")
        given[known[name].field] = _checked(f"{path}: {name}", known[name], value)
    return Config(**given)


def _flat(data: dict[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in data.items():
        if name in TABLES and isinstance(value, dict):
            found |= {f"{name}.{key}": each for key, each in value.items()}
        else:
            found[name] = value
    return found


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for each in SETTINGS:
        said: object = env.get(each.variable) if each.variable else None
        if said:
            with suppress(ValueError):  # then its form says what is wrong with it
                said = type(each.default)(said)
            given[each.field] = _checked(each.variable, each, said)
    return given


def _checked(where: str, setting: Setting, value: object) -> object:
    try:
        return setting.form(value)
    except BadSetting as bad:
        raise BadSetting(f"{where} {bad}") from None
