"""`headcount launch -- CMD…`: start an agent as a session that is known from its first moment.

Rules of this file
  1. This process registers itself and then becomes the command (exec): pid and incarnation stay the same.
  2. The token is in a private file. Its path is in the environment; the token is nowhere else.
  3. A conversation that is alive elsewhere is not opened twice, unless --anyway.

Not here: registering and tokens (daemon/), resuming what ended.
"""

import os
import shutil
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from headcount.cli import printing
from headcount.cli.sanitize import clean
from headcount.client.token import VARIABLE
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse

NO_SUCH_COMMAND = 127
CANNOT_RUN = 126

AGENTS = {
    "claude": "claude-code",
    "claude.exe": "claude-code",
    "codex": "codex",
    "opencode": "opencode",
    "gemini": "gemini",
}
CONVERSATION_OPTIONS = ("--resume", "-r", "--session-id")

NOTE = (
    "The command becomes this process. It finds the path of its token in HEADCOUNT_TOKEN_FILE.\n"
    "Exit codes: the command's; 2 usage, 3 its conversation is alive elsewhere, 4 daemon unavailable."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.usage = "headcount launch [--name N] [--role R] [--group G]... [--anyway] -- CMD ..."
    parser.add_argument("--name", help="what the session is called in listings")
    parser.add_argument("--role", help="what it is for: reviewer, builder")
    parser.add_argument(
        "--group", action="append", default=[], metavar="G", help="may be given several times"
    )
    parser.add_argument("--agent", help="which agent it is, when the command's name does not say")
    parser.add_argument("--anyway", action="store_true", help="although the conversation is alive elsewhere")
    parser.add_argument("command", nargs="*", metavar="CMD", help="the command and its words, after --")


def parse_plain(words: list[str]) -> SimpleNamespace | None:
    """Everything after `--` is the command's."""
    if "--" not in words:
        return None
    at = words.index("--")
    args = SimpleNamespace(
        name=None, role=None, group=[], agent=None, anyway=False, json=False, command=words[at + 1 :]
    )
    rest = iter(words[:at])
    for word in rest:
        if word == "--anyway":
            args.anyway = True
        elif word in ("--name", "--role", "--agent", "--group"):
            value = next(rest, None)
            if value is None:
                return None
            if word == "--group":
                args.group.append(value)
            else:
                setattr(args, word[2:], value)
        else:
            return None
    return args


def run(args: Any) -> int:
    if not args.command:
        print("headcount: launch needs a command after --. See: headcount launch --help", file=sys.stderr)
        return codes.USAGE
    program = shutil.which(args.command[0])
    if program is None:
        print(f"headcount: there is no command {clean(args.command[0])}.", file=sys.stderr)
        return NO_SUCH_COMMAND
    answer = printing.client().post("/v1/sessions/register", registration(args))
    environment = dict(os.environ)
    environment.pop(VARIABLE, None)  # another session's, if we were started inside one
    if answer.get("token_file"):
        environment[VARIABLE] = str(answer["token_file"])
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(program, args.command, environment)  # noqa: S606 (no shell is the point)
    except OSError as error:
        print(f"headcount: {clean(program)} cannot be run: {error.strerror}.", file=sys.stderr)
        return CANNOT_RUN


def registration(args: Any) -> dict[str, Any]:
    command = [str(word) for word in args.command]
    given = {
        "agent": args.agent or AGENTS.get(command[0].rpartition("/")[2], command[0].rpartition("/")[2]),
        "conversation": conversation_of(command),
        "pid": os.getpid(),
        "name": args.name,
        "role": args.role,
        "groups": list(args.group) or None,
        "anyway": True if args.anyway else None,
        "launch": True,
    }
    return {name: value for name, value in given.items() if value is not None}


def conversation_of(command: list[str]) -> str | None:
    """The conversation that the command line names; None: the agent will make one and tell."""
    for at, word in enumerate(command):
        option, equals, value = word.partition("=")
        if option in CONVERSATION_OPTIONS and equals:
            return value or None
        if word in CONVERSATION_OPTIONS and at + 1 < len(command) and not command[at + 1].startswith("-"):
            return command[at + 1]
    return None
