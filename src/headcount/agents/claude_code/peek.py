"""The last lines of a conversation as people read them: who said what, and which tools were used.

Rules of this file
  1. Only when a person asks, only the end of the file; nothing is kept.
  2. A tool is told by its label, its result not at all. Reminders and commands of the CLI itself are left out.
  3. The text is foreign: it leaves here as it was written, and whoever prints it cleans it.

Not here: who may ask (daemon/routes/peek.py), what a session does (transcript.py).
"""

from pathlib import Path

from headcount.agents.claude_code.transcript import NOT_A_PROMPT, label_of, line_of
from headcount.agents.file_end import read_end
from headcount.agents.kit.transcripts import Said
from headcount.agents.moment import moment_of
from headcount.agents.spoken import last_spoken, spoken

MOST = 512 * 1024
"""More than a glimpse takes: the newest CLI writes each request beside the conversation, in lines of 20 KB."""


def peek(path: Path, conversation: str, lines: int) -> list[Said] | None:
    """The last so many; None: there is no transcript to read."""
    end = read_end(path, MOST) if path.name == f"{conversation}.jsonl" else None
    return None if end is None else last_spoken(end.content, lines, _said)


def _said(row: bytes) -> list[Said]:
    line = line_of(row)
    if line is None or line.isSidechain or line.isMeta or line.isCompactSummary:
        return []
    message, at = line.message, moment_of(line.timestamp)
    if message is None or line.type not in ("user", "assistant"):
        return []
    who = "agent" if line.type == "assistant" else "user"
    if isinstance(message.content, str):
        return _texts(who, message.content, at)
    found: list[Said] = []
    for block in message.content:
        if block.type == "tool_use" and isinstance(block.name, str):
            found.append(Said("tool", label_of(block.name, block, line.cwd), at))
        elif block.type == "text":
            found += _texts(who, block.text, at)
    return found


def _texts(who: str, text: object, at: float | None) -> list[Said]:
    if isinstance(text, str) and text.lstrip().startswith(NOT_A_PROMPT):
        return []
    return spoken(who, text, at)
