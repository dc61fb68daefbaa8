"""The last lines of a Gemini chat as people read them: who said what, and which tools were used.

Rules of this file
  1. Only when a person asks, only the end of the file; nothing is kept.
  2. An answer is written again, under the same id, when its tools have ended: the later form stands in the place of
     the earlier. What the CLI itself tells the model, and what a tool gave, is left out.
  3. The text is foreign: it leaves here as it was written, and whoever prints it cleans it.

Not here: who may ask (daemon/routes/peek.py), what a session does (transcript.py).
"""

from pathlib import Path

from headcount.agents.gemini.transcript import CONTEXT, Line, label_of, lines_of, read
from headcount.agents.kit.transcripts import Said
from headcount.agents.moment import moment_of
from headcount.agents.spoken import spoken

MOST = 512 * 1024
"""More than a glimpse takes: results of tools stand between what was said."""

WHO = {"user": "user", "gemini": "agent"}


def peek(path: Path, conversation: str, lines: int) -> list[Said] | None:
    """The last so many; None: there is no chat to read."""
    content = read(path, conversation, MOST)
    if content is None:
        return None
    said: dict[object, list[Said]] = {}
    for nth, line in enumerate(lines_of(content)):
        said[line.id if isinstance(line.id, str) else nth] = _said(line)
    return [each for some in said.values() for each in some][-lines:]


def _said(line: Line) -> list[Said]:
    at, who = moment_of(line.timestamp), WHO.get(line.type) if isinstance(line.type, str) else None
    if who is None:
        return []
    parts = [line.content] if isinstance(line.content, str) else [part.text for part in line.content or ()]
    texts = [text for text in parts if not (isinstance(text, str) and text.startswith(CONTEXT))]
    found = [each for text in texts for each in spoken(who, text, at)]
    return found + [
        Said("tool", label_of(call), moment_of(call.timestamp) or at) for call in line.toolCalls or ()
    ]
