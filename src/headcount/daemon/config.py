"""Configuration: zero is enough. A file and a few variables change what must be changeable.

Rules of this file
  1. Read once, at the start; a value. An unknown or wrong setting is a clear error, not a guess.
  2. Every setting has a default that suits nearly everybody.
  3. A setting can name a command that we run: the file is refused where another user could have written it.
"""

import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from headcount import private_files
from headcount.present.clean_text import command
from headcount.times import DAY, HOUR, LONG_TURN, MINUTE, RETENTION, STALL_AFTER

MEGABYTE = 1024 * 1024
SIZE_MOST = MEGABYTE
NUMBER_MOST = 10**9  # no setting means more; a float would not hold what TOML can write
PORT_MOST = 65_535
TABLES = frozenset({"tmux", "close", "notify"})
SPAN = re.compile("([0-9]{1,6})([smhd]?)")
UNITS = {"": 1, "s": 1, "m": MINUTE, "h": HOUR, "d": DAY}
HOURS = re.compile("([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")
URL = re.compile("https?://[!-~]+")


class BadSetting(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Config:
    retention_days: float = RETENTION / DAY
    store_max_mb: float = 512.0
    sessions_kept: int = 5_000  # ended ones, the newest
    web_port: int = 0  # of the page; 0: a free one
    claude_roots: tuple[str, ...] = ()  # further places of Claude Code's own files
    stall_minutes: float = STALL_AFTER / MINUTE  # nothing stirs in a working session: `working?`
    tmux_sessions: tuple[
        str, ...
    ] = ()  # tmux sessions kept for agents: a window that no session owns is a leftover
    tmux_reserved_windows: tuple[str, ...] = ()  # of those: names or numbers of windows that are people's own
    close_idle_after: str = ""  # "12h": idle sessions are closed after that long; empty: never
    notify_desktop: bool = False  # by notify-send or osascript
    notify_webhook_url: str = ""
    notify_webhook_secret: str = field(default="", repr=False)  # signs what is sent; never shown
    notify_command: tuple[str, ...] = ()  # run with the notices as JSON on its stdin
    notify_kinds: tuple[str, ...] = ()  # only these; none named: all
    notify_quiet_hours: str = ""  # "22:00-07:00", local time
    notify_long_turn_minutes: float = LONG_TURN / MINUTE  # a turn that took this long is told of when it ends
    notify_tmux_segment: bool = False  # push the glance to tmux as @headcount
    processes: str = ""  # "linux", "portable", or what fits
    without: str = ""  # kernel features not to use, for tests
    fleet_pace: float = 1.0  # shortens all times of a fleet, for tests; the same on every host of it

    @property
    def idle_limit(self) -> float | None:
        """How long a session may be idle before it is closed; None: for ever."""
        return parse_span(self.close_idle_after)

    @classmethod
    def read(cls, path: Path, env: Mapping[str, str]) -> "Config":
        config = _from_file(path) if path.exists() else cls()
        if env.get("HEADCOUNT_PROCESSES"):
            config = replace(config, processes=env["HEADCOUNT_PROCESSES"])
        if env.get("HEADCOUNT_FLEET_PACE"):
            config = replace(config, fleet_pace=float(env["HEADCOUNT_FLEET_PACE"]))
        return replace(config, without=env.get("HEADCOUNT_WITHOUT", config.without))

    def drift(self, path: Path, env: Mapping[str, str]) -> str | None:
        """That a start would make something else of the file as it is now; None: it would not. What is wrong with a
        file is for its owner, and this is told to agents too."""
        changed = "the settings were changed since the daemon started"
        try:
            if Config.read(path, env) == self:
                return None
        except (BadSetting, OSError, ValueError):
            return f"{changed}, and it would not start with them; what is wrong: headcount doctor"
        return f"{changed}, which reads them once; to use them: headcount down && headcount up"


def _from_file(path: Path) -> Config:
    try:
        private_files.check_directory(str(path.parent), may_be_link=True, settings=True)
        data = tomllib.loads(private_files.read(str(path), SIZE_MOST, settings=True).decode())
    except OSError as error:  # not to be read, or not ours alone
        raise BadSetting(f"{error.filename}: {error.strerror}. Mend that, or remove {path}.") from error
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, nested without end
        raise BadSetting(f"{path}: {error}. Mend or remove the file.") from error
    known = {setting_name(each.name): each.name for each in fields(Config)}
    given: dict[str, Any] = {}
    for name, value in _flat(data).items():
        if name not in known:
            raise BadSetting(f"{path}: unknown setting {name!r}; known are {', '.join(sorted(known))}")
        given[known[name]] = _checked(path, name, known[name], value)
    _check_private(path, given)
    return Config(**given)


def setting_name(field: str) -> str:
    """As it is written in the file: `notify.desktop`."""
    table, _, rest = field.partition("_")
    return f"{table}.{rest}" if table in TABLES else field


def parse_span(text: str) -> float | None:
    """`90`, `30m`, `12h`, `2d` in seconds; None: it is none of these."""
    match = SPAN.fullmatch(text)
    return float(match[1]) * UNITS[match[2]] if match and float(match[1]) > 0 else None


def _flat(data: dict[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in data.items():
        if name in TABLES and isinstance(value, dict):
            found |= {f"{name}.{key}": each for key, each in value.items()}
        else:
            found[name] = value
    return found


def _check_private(path: Path, given: dict[str, object]) -> None:
    """An address that takes notices, and what signs them, are the user's own."""
    if given.get("notify_webhook_url") or given.get("notify_webhook_secret"):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            raise BadSetting(
                f"{path} holds a webhook and others may read it ({mode:o}): {command('chmod', '600', str(path))}"
            )


def _check_kinds(path: Path, name: str, given: list[str]) -> None:
    """A kind that does not exist would keep every notice back, and nothing would say so."""
    from headcount.core.notifications import Kind

    known = [kind.value for kind in Kind if kind is not Kind.TEST]
    strange = [each for each in given if each not in known]
    if strange:
        raise BadSetting(f"{path}: {name} has no kind {strange[0]!r}; the kinds are {', '.join(known)}")


FORMS = {
    "notify_quiet_hours": (HOURS, 'hours of the day as "22:00-07:00"'),
    "notify_webhook_url": (URL, "an http or https address"),
}


def _checked(path: Path, name: str, field: str, value: Any) -> Any:
    default = getattr(Config(), field)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise BadSetting(f"{path}: {name} must be true or false")
        return value
    if (
        field == "close_idle_after"
        and value != ""
        and (not isinstance(value, str) or parse_span(value) is None)
    ):
        raise BadSetting(f'{path}: {name} must be a span of time as "12h", "30m" or "2d"')
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise BadSetting(f"{path}: {name} must be a list of strings")
        if field == "notify_kinds":
            _check_kinds(path, name, value)
        return tuple(value)
    if isinstance(default, str):
        if not isinstance(value, str):
            raise BadSetting(f"{path}: {name} must be a string")
        form = FORMS.get(field)
        if form is not None and value and form[0].fullmatch(value) is None:
            raise BadSetting(f"{path}: {name} must be {form[1]}")
        return value
    if field == "web_port":
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= PORT_MOST:
            raise BadSetting(f"{path}: {name} must be a port, 1 to {PORT_MOST}; 0 takes a free one")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= NUMBER_MOST:
        raise BadSetting(f"{path}: {name} must be a number above zero, and not beyond {NUMBER_MOST:,}")
    return type(default)(value)
