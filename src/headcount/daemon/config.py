"""Configuration: zero is enough. A file and a few variables change what must be changeable.

Rules of this file
  1. Read once, at the start; a value. An unknown or wrong setting is a clear error, not a guess.
  2. Every setting has a default that suits nearly everybody.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from headcount.times import DAY, HOUR, MINUTE, RETENTION, STALL_AFTER

MEGABYTE = 1024 * 1024
TABLES = frozenset({"tmux", "close"})
SPAN = re.compile("([0-9]{1,6})([smhd]?)")
UNITS = {"": 1, "s": 1, "m": MINUTE, "h": HOUR, "d": DAY}


class BadSetting(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Config:
    retention_days: float = RETENTION / DAY
    store_max_mb: float = 512.0
    sessions_kept: int = 5_000  # ended ones, the newest
    claude_roots: tuple[str, ...] = ()  # further places of Claude Code's own files
    stall_minutes: float = STALL_AFTER / MINUTE  # nothing stirs in a working session: `working?`
    tmux_sessions: tuple[
        str, ...
    ] = ()  # tmux sessions kept for agents: a window that no session owns is a leftover
    tmux_reserved_windows: tuple[str, ...] = ()  # of those: names or numbers of windows that are people's own
    close_idle_after: str = ""  # "12h": idle sessions are closed after that long; empty: never
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


def _from_file(path: Path) -> Config:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadSetting(f"{path}: {error}. Mend or remove the file.") from error
    known = {setting_name(field.name): field.name for field in fields(Config)}
    given: dict[str, Any] = {}
    for name, value in _flat(data).items():
        if name not in known:
            raise BadSetting(f"{path}: unknown setting {name!r}; known are {', '.join(sorted(known))}")
        given[known[name]] = _checked(path, name, known[name], value)
    return Config(**given)


def setting_name(field: str) -> str:
    """As it is written in the file: `tmux.sessions`."""
    table, _, rest = field.partition("_")
    return f"{table}.{rest}" if table in TABLES else field


def parse_span(text: str) -> float | None:
    """`90`, `30m`, `12h`, `2d` in seconds; None: it is none of these."""
    match = SPAN.fullmatch(text)
    return float(match[1]) * UNITS[match[2]] if match and float(match[1]) > 0 else None


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in data.items():
        if name in TABLES and isinstance(value, dict):
            found |= {f"{name}.{key}": each for key, each in value.items()}
        else:
            found[name] = value
    return found


def _checked(path: Path, name: str, field: str, value: Any) -> Any:
    default = getattr(Config(), field)
    if (
        field == "close_idle_after"
        and value != ""
        and (not isinstance(value, str) or parse_span(value) is None)
    ):
        raise BadSetting(f'{path}: {name} must be a span of time as "12h", "30m" or "2d"')
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise BadSetting(f"{path}: {name} must be a list of strings")
        return tuple(value)
    if isinstance(default, str):
        if not isinstance(value, str):
            raise BadSetting(f"{path}: {name} must be a string")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise BadSetting(f"{path}: {name} must be a number above zero")
    return type(default)(value)
