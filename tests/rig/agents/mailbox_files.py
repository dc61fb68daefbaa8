"""Letters: reports as a hook drops them, written without the cost of a shell.

Rules of this file
  1. The file is what the installed line makes: the stat line of the agent, then its payload.
  2. Nothing is fast here at the daemon's cost: one file a report, opened, written, closed.
"""

import json
import os
from pathlib import Path

from tests.rig.agents.crowd import Member

_serial = 0


def payload(member: Member, event: str, **fields: object) -> bytes:
    return json.dumps(
        {
            "session_id": member.conversation,
            "transcript_path": f"/home/somebody/.claude/projects/-home-somebody-code/{member.conversation}.jsonl",
            "cwd": "/home/somebody/code",
            "permission_mode": "default",
            "hook_event_name": event,
            **fields,
        }
    ).encode()


def tool_use(member: Member, nth: int) -> bytes:
    if nth % 2:
        return payload(
            member,
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": "npm test"},
            tool_response="ok" * 50,
        )
    return payload(member, "PreToolUse", tool_name="Bash", tool_input={"command": f"npm test -- suite {nth}"})


def drop(mailbox: Path, member: Member, body: bytes, at: float | None = None) -> None:
    """`at`: the time of the file, set before it is closed."""
    global _serial
    _serial += 1
    name = f"{mailbox}/{member.pid}.{os.getpid()}{_serial:07d}"
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, member.stat + body)
    if at is not None:
        os.utime(fd, (at, at))
    os.close(fd)
