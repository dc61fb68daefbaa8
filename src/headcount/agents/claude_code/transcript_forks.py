"""Forks of a transcript: the branches into which two writers split one conversation.

Rules
  1. Only the last TAIL bytes are read, and only their uuids and times: no text.
  2. A branch is identified by its leaf: a line of any kind that no other line follows (a turn ends with the CLI's own
     notes). One leaf is no fork.
  3. Subagents' lines are not part of the conversation.

Not here: the turn at the end of a transcript (transcript.py), who writes (core/leftovers/conversation_open_twice.py).
"""

from pathlib import Path

import msgspec

from headcount.agents.kit.labels import plain
from headcount.agents.kit.safe_reading import line_of, read_end

TAIL = 512 * 1024
LEAVES_MOST = 8
UUID_MOST = 64


class ForkLine(msgspec.Struct):
    """The fields that are read, under the CLI's own names."""

    uuid: object = None
    parentUuid: object = None
    timestamp: object = None
    isSidechain: object = False


_decoder = msgspec.json.Decoder(ForkLine)


def branches(path: Path, conversation: str) -> list[dict[str, str]]:
    """The leaves of the conversation's tail, newest last; empty if there is nothing to read."""
    end = read_end(path, TAIL) if path.name == f"{conversation}.jsonl" else None
    if end is None:
        return []
    lines: dict[str, ForkLine] = {}
    for row in end.split(b"\n"):
        line = line_of(_decoder, row)
        uuid = plain(line.uuid, UUID_MOST) if line is not None else None
        if line is not None and uuid is not None and not line.isSidechain:
            lines[uuid] = line
    parents = {plain(line.parentUuid, UUID_MOST) for line in lines.values()}
    leaves = [uuid for uuid in lines if uuid not in parents]
    return [{"leaf": uuid, "at": plain(lines[uuid].timestamp, 40) or ""} for uuid in leaves[-LEAVES_MOST:]]
