"""Unsaved work in a checkout: uncommitted changes, and commits that are in no other repository.

Rules
  1. Git only reads: it takes no lock and writes nothing, not even its index.
  2. A repository's own settings can name programs that git runs on a read (filters, a file monitor). They
     are not run: otherwise anyone who can write there could run programs as us.
  3. Every git call has a deadline. An unknown count is None, not zero.

Not here: which repository a directory is in (repository.py), whose work it was
(daemon/leftovers/worktrees.py).
"""

import os
import re
import subprocess

from msgspec import Struct

from headcount.times import GIT_WITHIN

FILTER = re.compile(r"filter\.(.+)\.(?:clean|smudge|process|required)", re.DOTALL)
AHEAD = re.compile(r"# branch\.ab \+([0-9]{1,9}) -[0-9]{1,9}", re.ASCII)
QUIET = (
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "keep"),
    ("core.hooksPath", "/dev/null"),
    ("status.submoduleSummary", "false"),
)


class Work(Struct, frozen=True):
    uncommitted: int  # changed, added, deleted and untracked paths
    unpushed: int  # commits that no remote has; 0 where there is no remote at all
    branch: str | None

    @property
    def is_nothing(self) -> bool:
        return not (self.uncommitted or self.unpushed)


def read_work(top: str) -> Work | None:
    """Unsaved work of a checkout. Blocking: git reads every file that may have changed."""
    settings = _settings(top)
    if settings is None:
        return None
    said = _git(
        top,
        settings,
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--ignore-submodules=all",
        "--untracked-files=normal",
    )
    if said is None:
        return None
    lines = said.split("\0")
    branch = next(
        (line[len("# branch.head ") :] for line in lines if line.startswith("# branch.head ")), None
    )
    ahead = next((int(found[1]) for line in lines if (found := AHEAD.fullmatch(line))), None)
    unpushed = ahead if ahead is not None else _nowhere_else(top, settings)
    return None if unpushed is None else Work(_changed(lines), unpushed, branch)


def _changed(lines: list[str]) -> int:
    count, skip = 0, False
    for line in lines:
        if skip:  # the path that a renamed one had before is an entry of its own
            skip = False
        elif line[:2] in ("1 ", "2 ", "u ", "? "):
            count += 1
            skip = line.startswith("2 ")
    return count


def _nowhere_else(top: str, settings: list[tuple[str, str]]) -> int | None:
    """Commits of a branch without an upstream that no remote's branch holds."""
    remotes = _git(top, settings, "for-each-ref", "--count=1", "refs/remotes")
    if not remotes:
        return 0 if remotes is not None else None
    if _git(top, settings, "rev-parse", "--verify", "--quiet", "HEAD") is None:
        return 0  # nothing was ever committed
    said = _git(top, settings, "rev-list", "--count", "HEAD", "--not", "--remotes")
    return int(said) if said is not None and said.strip().isdecimal() else None


def _settings(top: str) -> list[tuple[str, str]] | None:
    """Settings that override the repository's own, so that none of its programs is run."""
    listed = _git(top, list(QUIET), "config", "--list", "--name-only", "-z")
    if listed is None:
        return None
    filters = {found[1] for name in listed.split("\0") if (found := FILTER.fullmatch(name))}
    return [
        *QUIET,
        *(
            (f"filter.{name}.{key}", value)
            for name in sorted(filters)
            for key, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
        ),
    ]


def _git(top: str, settings: list[tuple[str, str]], *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", top, *words],
            env=_environment(settings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_WITHIN,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def _environment(settings: list[tuple[str, str]]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME") if name in os.environ}
    kept |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": str(len(settings))}
    for nth, (name, value) in enumerate(settings):
        kept |= {f"GIT_CONFIG_KEY_{nth}": name, f"GIT_CONFIG_VALUE_{nth}": value}
    return kept
