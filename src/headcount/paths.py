"""Places: where Headcount's files sit.

Rules
  1. `$HEADCOUNT_HOME` holds everything when it is set; else the XDG places. Nothing else decides.
  2. Every place is absolute: the daemon runs in `/` and must mean the same files as its clients.
  3. Directories are made 0700; nobody else's business is in them, and one that another user owns is refused.
  4. Imports next to nothing: the command line's hot path reads it.

Not here: what is in the files, whether a daemon listens (client/).
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from headcount.private_files import check_directory, check_owner

PRIVATE = 0o700


class Places(NamedTuple):  # a tuple, not a dataclass: importing dataclasses costs a tenth of `ps`
    state: str
    socket: str
    database: str
    lock: str
    mailbox: str
    flag: str  # while it exists hooks also drop per-tool events; a crash leaves it, `down` removes it
    log: str
    config: str
    record: str  # in which namespaces the daemon runs
    home: str | None  # $HEADCOUNT_HOME, made absolute; None: the XDG places

    @classmethod
    def from_environ(cls, env: Mapping[str, str]) -> "Places":
        home = env.get("HEADCOUNT_HOME")
        if home:
            return cls.below(os.path.abspath(os.path.expanduser(home)))  # noqa: PTH100, PTH111
        state = os.path.join(_xdg(env, "XDG_STATE_HOME", ".local/state"), "headcount")  # noqa: PTH118
        config = os.path.join(_xdg(env, "XDG_CONFIG_HOME", ".config"), "headcount", "config.toml")  # noqa: PTH118
        return cls._of(state, config, None)

    @classmethod
    def below(cls, home: str) -> "Places":
        """Everything under one directory."""
        return cls._of(home, f"{home}/config.toml", home)

    @classmethod
    def _of(cls, state: str, config: str, home: str | None) -> "Places":
        return cls(
            state=state,
            socket=f"{state}/headcount.sock",
            database=f"{state}/headcount.db",
            lock=f"{state}/headcount.lock",
            mailbox=f"{state}/mailbox",
            flag=f"{state}/mailbox/.listening",
            log=f"{state}/log/headcount.log",
            config=config,
            record=f"{state}/namespaces",
            home=home,
        )

    @property
    def log_directory(self) -> str:
        return self.log.rpartition("/")[0]

    def make(self) -> None:
        """Make the directories that are missing, private; those that exist are left as they are. Raises OSError,
        also for one in which others could put things in the place of ours."""
        check_owner(self.state)
        for directory in (self.state, self.mailbox, self.log_directory):
            os.makedirs(directory, PRIVATE, exist_ok=True)  # noqa: PTH103
            check_directory(directory, may_be_link=directory == self.state)


def _xdg(env: Mapping[str, str], name: str, below_home: str) -> str:
    place = env.get(name, "")
    if place.startswith("/"):
        return place  # the XDG specification: a relative path is invalid and ignored
    home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
    return f"{home}/{below_home}"
