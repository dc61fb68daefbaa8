"""What somebody said in a conversation, as the lines that a person reads.

Rules of this file
  1. The text is foreign: it leaves here as it was written, and whoever prints it cleans it.
  2. A long text is cut, empty lines are left out.

Not here: where it is read (each agent's own peek.py), who may ask (daemon/routes/peek.py).
"""

from collections.abc import Callable

from headcount.agents.kit.transcripts import Said

TEXT_MOST = 4_000


def spoken(who: str, text: object, at: float | None) -> list[Said]:
    if not isinstance(text, str):
        return []
    kept = text if len(text) <= TEXT_MOST else f"{text[:TEXT_MOST]} …"
    return [Said(who, line, at) for line in kept.splitlines() if line.strip()]


def last_spoken(content: bytes, lines: int, said_in: Callable[[bytes], list[Said]]) -> list[Said]:
    """The last so many of a file of lines, from its end: most of it is never looked at."""
    said: list[Said] = []
    for row in reversed(content.split(b"\n")):
        said[:0] = said_in(row)
        if len(said) >= lines:
            break
    return said[-lines:]
