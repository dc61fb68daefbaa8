"""Configuration: zero is enough. A file and a few variables change what must be changeable.

Rules of this file
  1. Read once, at the start; a value. An unknown or wrong setting is a clear error, not a guess.
  2. Every setting has a default that suits nearly everybody.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from headcount.times import DAY, RETENTION

MEGABYTE = 1024 * 1024


class BadSetting(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Config:
    retention_days: float = RETENTION / DAY
    store_max_mb: float = 512.0
    sessions_kept: int = 5_000  # ended ones, the newest
    web_port: int = 0  # of the page; 0: a free one
    claude_roots: tuple[str, ...] = ()  # further places of Claude Code's own files
    processes: str = ""  # "linux", "portable", or what fits
    without: str = ""  # kernel features not to use, for tests

    @classmethod
    def read(cls, path: Path, env: Mapping[str, str]) -> "Config":
        config = _from_file(path) if path.exists() else cls()
        if env.get("HEADCOUNT_PROCESSES"):
            config = replace(config, processes=env["HEADCOUNT_PROCESSES"])
        return replace(config, without=env.get("HEADCOUNT_WITHOUT", config.without))


def _from_file(path: Path) -> Config:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadSetting(f"{path}: {error}. Mend or remove the file.") from error
    known = {field.name: field for field in fields(Config)}
    given: dict[str, Any] = {}
    for name, value in data.items():
        if name not in known:
            raise BadSetting(f"{path}: unknown setting {name!r}; known are {', '.join(sorted(known))}")
        given[name] = _checked(path, name, value)
    return Config(**given)


def _checked(path: Path, name: str, value: Any) -> Any:
    default = getattr(Config(), name)
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
