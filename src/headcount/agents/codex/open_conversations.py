"""Which conversations a Codex process has open: by the writer locks it holds, and its rollout files.

Rules
  1. A lock held by this process names the conversation, even before the first prompt. A lock file alone proves
     nothing: it outlives its process (accident L7).
  2. Where the kernel shows no lock file at all (another platform, an older CLI) an open rollout names it.
  3. A subagent has a rollout of its own in the same process. It is not a session.
  4. Only the first bytes of a rollout are read here, and only from a regular file of our own user.

Not here: the end of a rollout (transcript.py), reading what a process has open (system/processes).
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from headcount.agents.interface import Hosted, WatchedDirectory
from headcount.agents.kit.safe_reading import UUID, absolute, read_plain
from headcount.core.values.process import OpenFiles

HEAD = 4 * 1024  # the fields we need come before the instructions, which are long

LOCK = re.compile(rf".*/thread-writer-locks/({UUID.pattern})\.lock", re.ASCII | re.DOTALL)
ROLLOUT = re.compile(rf".*/rollout-[0-9T-]+-({UUID.pattern})\.jsonl", re.ASCII | re.DOTALL)
CWD = re.compile(rb'"cwd":("(?:[^"\\]|\\.)*")')
THREAD_SOURCE = re.compile(rb'"thread_source":"([a-z_]+)"')
PARENT = re.compile(rb'"source":\{"sub_?agent"')


class RolloutHead(Struct, frozen=True):
    """The fields in the first bytes of a rollout."""

    cwd: str | None = None
    is_subagent: bool = False


def root(env: Mapping[str, str], home: Path) -> Path:
    named = env.get("CODEX_HOME", "")
    return Path(named) if named.startswith("/") else home / ".codex"


def places(env: Mapping[str, str], home: Path) -> list[WatchedDirectory]:
    """Directories to watch. Codex takes a lock when a conversation opens, before the rollout exists."""
    return [WatchedDirectory(root(env, home) / "thread-writer-locks")]


def hosted(files: OpenFiles) -> tuple[Hosted, ...]:
    locks = {match.group(1): each for each in files if (match := LOCK.fullmatch(each.path))}
    rollouts = {match.group(1): each.path for each in files if (match := ROLLOUT.fullmatch(each.path))}
    held = [id for id, each in locks.items() if each.locked is not False]
    named = held if locks else list(rollouts)
    found = (_hosted(id, rollouts.get(id), "lock" if id in locks else "open file") for id in named)
    return tuple(each for each in found if each is not None)


def _hosted(conversation: str, rollout: str | None, by: str) -> Hosted | None:
    if rollout is None:
        return Hosted(conversation, by=by, beside=True)
    head = read_head(Path(rollout))
    if head.is_subagent:
        return None
    return Hosted(conversation, rollout, by, head.cwd, beside=True)


def read_head(path: Path) -> RolloutHead:
    """The rollout's head; all fields empty if it cannot be read."""
    return read_plain(path, lambda fd, _: parse_head(os.pread(fd, HEAD, 0))) or RolloutHead()


def parse_head(content: bytes) -> RolloutHead:
    first = content.partition(b"\n")[0]
    source = THREAD_SOURCE.search(first)
    is_subagent = PARENT.search(first) is not None or (source is not None and source.group(1) == b"subagent")
    found = CWD.search(first)
    try:
        cwd = absolute(json.loads(found.group(1))) if found else None
    except (ValueError, UnicodeDecodeError):
        cwd = None
    return RolloutHead(cwd, is_subagent)
