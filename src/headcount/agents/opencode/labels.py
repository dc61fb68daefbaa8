"""What a tool call of OpenCode is called: "bash: npm test", "edit: src/app.ts".

Rules of this file
  1. A tool that is not in the table shows its name only: nobody knows what its input holds.
  2. Of an input only the one field in the table is read: no content, no prompt.

Not here: cutting and redacting (agents/kit/labels.py).
"""

from typing import Any

import msgspec

from headcount.agents.fields import text_of
from headcount.agents.kit.labels import tool_line, tool_path
from headcount.agents.kit.safe_reading import Reader


class Args(msgspec.Struct):
    command: Any = None
    filePath: Any = None
    filepath: Any = None
    pattern: Any = None
    path: Any = None
    url: Any = None
    query: Any = None
    description: Any = None


FIELD_OF = {
    "bash": "command",
    "read": "filePath",
    "edit": "filePath",
    "write": "filePath",
    "list": "path",
    "glob": "pattern",
    "grep": "pattern",
    "webfetch": "url",
    "websearch": "query",
    "task": "description",
}
PATHS = frozenset({"filePath", "path"})


_args = Reader(Args)


def args_of(given: msgspec.Raw) -> Args:
    return _args.read_or_empty(given)


def label(tool: str, args: msgspec.Raw, directory: Any) -> str:
    """ "bash: npm test"; of a tool that is not in the table only its name."""
    field = FIELD_OF.get(tool)
    given = args_of(args)
    value = (getattr(given, field) or (given.filepath if field == "filePath" else None)) if field else None
    if field in PATHS:
        return tool_path(tool, value, directory)
    if field == "url":
        value = text_of(value).partition("?")[0]
    return tool_line(tool, value)
