"""`headcount launch -- CMD…`: start an agent as a session that is known from its first moment.

Rules
  1. A conversation that is alive elsewhere is not opened twice, unless --anyway.
  2. With --tmux the agent runs in a window of its own, which is remembered as ours: `close` closes it.

Not here: how it is started (actions/start_agent.py), resuming what ended (resume.py).
"""

import os
import shutil
from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.cli.actions import start_agent
from headcount.client.daemon_access import DaemonAccess, quoted
from headcount.client.faults import NotFound, Refused, WrongCall

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments
    from headcount.wire.views import SessionRow

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
    "With --tmux it runs in a new window, of that session of tmux if one is named.\n"
    "Exit codes: the command's; 2 usage, 3 its conversation is alive elsewhere, 4 daemon unavailable."
)


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.usage = "headcount launch [--name N] [--role R] [--group G]... [--agent A] [--tmux [SESSION]] [--anyway] -- CMD ..."
    parser.add_argument("--name", help="what the session is called in listings")
    parser.add_argument("--role", help="what it is for: reviewer, builder")
    parser.add_argument(
        "--group", action="append", default=[], metavar="G", help="may be given several times"
    )
    parser.add_argument(
        "--agent", help="which agent it is, when the command's name does not say: claude, codex, or your own"
    )
    parser.add_argument("--anyway", action="store_true", help="although the conversation is alive elsewhere")
    parser.add_argument("--tmux", nargs="?", const="", metavar="SESSION", help="in a new tmux window")
    parser.add_argument("--window", action="store_true", help="this terminal was opened for it")
    parser.add_argument("--launched-by", metavar="S", help="the session that opened this terminal")
    parser.add_argument("command", nargs="*", metavar="CMD", help="the command and its words, after --")


def run(args: "VerbArguments") -> int:
    if not args.command:
        raise WrongCall("headcount: launch needs a command after --. See: headcount launch --help")
    program = shutil.which(args.command[0])
    if program is None:
        return output.no_such(args.command[0])
    if args.name:
        _check_name(args.name)
    client = output.client()
    if args.name and not args.window:  # who opened the window has said it
        _warn_of_namesake(client, args.name)
    if args.agent and not args.window:
        _warn_of_stranger(agent_of(args))
    if args.tmux is None:
        return start_agent.become(client, program, args.command, registration(args))
    _check_free(client, args)
    words = ["launch", *_own_words(args), "--", *args.command]
    return start_agent.in_window(client, args.tmux, os.getcwd(), words, as_json=args.json)  # noqa: PTH109


def _own_words(args: "VerbArguments") -> list[str]:
    """What was asked, for the headcount that runs in the window."""
    given = (("--name", args.name), ("--role", args.role), ("--agent", args.agent))
    words = [word for option, value in given if value for word in (option, str(value))]
    words += [word for group in args.group for word in ("--group", str(group))]
    return ["--window", *words, *(["--anyway"] if args.anyway else [])]


def _check_name(name: str) -> None:
    """Before a window is opened, as the daemon would."""
    from headcount.core.values.session import looks_like_an_id

    if looks_like_an_id(name):
        better = f"a name is not only hex digits, for instance fix-{name}."
        raise Refused(400, "bad-name", f'"{name}" looks like an id: {better}')


def _check_free(client: DaemonAccess, args: "VerbArguments") -> None:
    """Before a window is opened; the one that runs in it is asked again."""
    conversation = conversation_of(args.command)
    if conversation is None or args.anyway:
        return
    try:
        raw: SessionRow = client.get(f"/v1/sessions/{quoted(conversation)}")
    except NotFound:
        return
    if raw.get("liveness") != "ended" and raw.get("conversation") == conversation:
        raise start_agent.alive_elsewhere(raw)


def _warn_of_namesake(client: DaemonAccess, name: str) -> None:
    """A name is for people, and two may have it: then it no longer tells which is meant."""
    try:
        raw: SessionRow = client.get(f"/v1/sessions/{quoted(name)}")
    except NotFound:
        return
    except Refused as fault:
        if fault.code != "ambiguous":
            raise
        raw = {"name": name}
    if raw.get("name") == name and raw.get("liveness") != "ended":
        output.note(f'"{name}" fits another live session too: only its id tells them apart.')


def _warn_of_stranger(agent: str) -> None:
    """Whoever embeds an agent of their own gives it a name of their own, so it is no fault; a slip looks the same."""
    from headcount.agents.catalog import AGENTS as known

    if agent not in known:
        output.note(
            f'Nobody here can read the agent "{agent}": whether it lives is known, what it does is not.'
            f" Known are {', '.join(known)}."
        )


def agent_of(args: "VerbArguments") -> str:
    called = str(args.agent or args.command[0].rpartition("/")[2])
    return AGENTS.get(called, called)


def registration(args: "VerbArguments") -> dict[str, object]:
    command = [str(word) for word in args.command]
    given = {
        "agent": agent_of(args),
        "conversation": conversation_of(command),
        "name": args.name,
        "role": args.role,
        "groups": list(args.group) or None,
        "anyway": True if args.anyway else None,
        "window": True if args.window else None,
        "launched_by": args.launched_by,
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
