"""What a process is called: its program and script, and nothing that may be private.

Rules
  1. Arguments may hold prompts, keys and names: of them only the script of an interpreter is shown, by its file name,
     and of a tool that runs named tasks (npm, make) the plain words that name the task.
  2. A shell's `-c` is what its first command is called by the same rule, past `cd`, `source`, `eval` and assignments.

Not here: recognising agents (agents/), cleaning for a terminal (clean_text.py).
"""

import re
import shlex
from itertools import takewhile
from pathlib import PurePosixPath

from headcount.agents.kit.labels import one_line
from headcount.core.values.process import ProcessFacts

INTERPRETERS = re.compile(
    r"(?:node|nodejs|bun|deno|ruby|perl|php|java|lua|bash|sh|dash|zsh|fish|python[0-9.]*|pypy[0-9.]*|uv|npx)"
)
SCRIPT = re.compile(r"[\w.@+-]+")  # what a file or a module is called
TASKS = frozenset({"npm", "pnpm", "yarn", "bun", "make", "just", "cargo", "go", "uv", "npx", "docker", "git"})
WORD = re.compile(r"[a-z][a-z0-9:-]{0,19}")  # a task's name; a path, an option or a value is none
WORDS_MOST = 2
SHELLS = frozenset({"bash", "sh", "dash", "zsh", "fish"})
COMMANDS = frozenset({"-c", "-lc", "-ic"})
SKIPPED = frozenset(
    {
        "cd",
        "source",
        ".",
        "export",
        "set",
        "shopt",
        "unset",
        "umask",
        "ulimit",
        "alias",
        "trap",
        "true",
        ":",
        "[",
        "for",
    }
)
PREFIXES = frozenset(
    {
        "eval",
        "exec",
        "nohup",
        "time",
        "command",
        "builtin",
        "setsid",
        "env",
        "(",
        "{",
        "while",
        "until",
        "if",
        "do",
        "then",
        "else",
    }
)
ASSIGNMENT = re.compile(r"\w+=")
ENDS = frozenset({"&&", "||", ";", "&", "|", "\n"})
LOOKED_AT = 2_000  # of a command: its first words are at its beginning
NAME_MOST = 40


def called(facts: ProcessFacts) -> str:
    """`node vite`, `python3 http.server`, `bash`."""
    program = _name(facts.argv[0]) if facts.argv else ""
    program = (program or facts.comm).lstrip("-")
    return one_line(f"{program} {_runs(program, facts.argv[1:])}".strip(), NAME_MOST) or "?"


def _runs(program: str, arguments: tuple[str, ...]) -> str:
    if program in SHELLS and len(arguments) > 1 and arguments[0] in COMMANDS:
        return _first_command(arguments[1][:LOOKED_AT])
    if program in TASKS:
        return " ".join(list(takewhile(WORD.fullmatch, arguments))[:WORDS_MOST])
    return _script(arguments) if INTERPRETERS.fullmatch(program) else ""


def _first_command(text: str) -> str:
    """`npm run dev` of `cd web && PORT=1 npm run dev`; nothing where it cannot be told."""
    try:
        words = list(shlex.shlex(text, posix=True, punctuation_chars=True))
    except ValueError:
        return ""
    command: list[str] = []
    for word in [*words, ";"]:
        if word not in ENDS:
            command.append(word)
            continue
        while command and (command[0] in PREFIXES or ASSIGNMENT.match(command[0])):
            if command[0] == "eval" and len(command) > 1:
                return _first_command(command[1])
            command = command[1:]
        if command and command[0] not in SKIPPED:
            program = _plain(command[0])
            return f"{program} {_runs(program, tuple(command[1:]))}".strip()
        command = []
    return ""


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
