"""What a process is called: its program and script, and nothing that may be private.

Rules of this file
  1. Arguments may hold prompts, keys and names: of them only the script of an interpreter is shown, by its file name.
  2. A command line that says nothing (a shell's `-c`) is only its program.

Not here: recognising agents (agents/), cleaning for a terminal (cli/sanitize.py).
"""

import re
from pathlib import PurePosixPath

from headcount.agents.label import one_line
from headcount.core.identity import ProcessFacts

INTERPRETERS = re.compile(
    r"(?:node|nodejs|bun|deno|ruby|perl|php|java|lua|bash|sh|dash|zsh|fish|python[0-9.]*|pypy[0-9.]*|uv|npx)"
)
SCRIPT = re.compile(r"[\w.@+-]+")  # what a file or a module is called
NAME_MOST = 40


def called(facts: ProcessFacts) -> str:
    """`node vite`, `python3 http.server`, `bash`."""
    program = _name(facts.argv[0]) if facts.argv else ""
    program = (program or facts.comm).lstrip("-")
    script = _script(facts.argv[1:]) if INTERPRETERS.fullmatch(program) else ""
    return one_line(f"{program} {script}".strip(), NAME_MOST) or "?"


def _script(arguments: tuple[str, ...]) -> str:
    for nth, word in enumerate(arguments):
        if word == "-m" and nth + 1 < len(arguments):
            return _plain(arguments[nth + 1])
        if word in ("-c", "-e", "-", "--eval", "-lc", "-ic"):
            return ""
        if not word.startswith("-"):
            return _plain(word)
    return ""


def _plain(word: str) -> str:
    name = _name(word)
    return name if SCRIPT.fullmatch(name) else ""


def _name(word: str) -> str:
    return PurePosixPath(word.split(" ", 1)[0]).name if word else ""
