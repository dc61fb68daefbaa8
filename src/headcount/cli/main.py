"""The command `headcount`: find the verb, run it, turn every end into an exit code.

Rules
  1. Only the verb's own module is imported, and argparse only if the quick parser passes (options.py).
  2. An expected fault is a sentence and a next step on stderr. An unexpected one is a sentence, and its
     traceback goes to a file. What was done decides the exit code: output that nobody can read changes it only
     where printing was all there was to do, and a closed pipe not even there.

Not here: what a verb does (commands/), the list of verbs (command_table.py).
"""

import os
import sys
from errno import EPIPE
from importlib import import_module

from headcount.cli import output
from headcount.cli.options import is_json, parsed
from headcount.client.faults import ClientFault, WrongCall
from headcount.wire import exit_codes

CODES = {
    exit_codes.USAGE: "usage",
    exit_codes.REFUSED: "refused",
    exit_codes.UNAVAILABLE: "unavailable",
    exit_codes.NOT_FOUND: "not-found",
}
"""Of faults without a code of their own, so that it says the same as the exit code."""

DO = frozenset({
    "claim", "release", "hold", "handoff", "up", "down", "stop", "close", "reap", "launch", "resume",
    "hooks", "mcp", "service", "fleet", "notify", "guard", "jump",
})  # fmt: skip
"""Verbs that do something, so that their exit code says whether it was done. Of the others what they print is all."""

INTERRUPTED = 130  # as shells report a death by SIGINT
WRITE_IN_HOME = ("hooks", "mcp", "service")  # wherever our own files are

OTHERS_CALL_IT = {
    "list": "ps",
    "ls": "ps",
    "top": "ps",
    "kill": "stop",
    "start": "up",
    "run": "launch",
    "attach": "jump",
}


class NotAsRoot(ClientFault):
    exit_code = exit_codes.REFUSED


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    output.secure()
    try:
        return _unless_unwritten(_dispatch(words), words)
    except output.StreamEnded as end:
        return _die_of(end.number) if end.number else _unless_unwritten(exit_codes.DONE, words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except ClientFault as fault:
        return _told(fault, as_json=is_json(words))
    except Exception as error:
        return _unexpected(error)


def _unless_unwritten(code: int, words: list[str]) -> int:
    fault = output.fault()
    if fault is None or fault.errno == EPIPE:
        return code
    print(f"headcount: the output could not be written: {fault.strerror}", file=sys.stderr)
    return code if words and words[0] in DO else code or exit_codes.FAULT


def _die_of(number: int) -> int:
    """As if nothing had been unwound."""
    import signal

    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    return exit_codes.FAULT


def _dispatch(words: list[str]) -> int:
    typed, words = words, words or [_bare()]
    first = words[0]
    if first in ("-h", "--help", "help"):
        return _help(words[1:])
    if first in ("-V", "--version"):
        from headcount import __version__

        print(f"headcount {__version__}")
        return exit_codes.DONE
    if first.startswith((".", "/")) or (first.startswith("-") and first not in ("-", "--")):
        words = [
            "ps",
            *words,
        ]  # `headcount --json`, `headcount .`, `headcount /src/api`: the bare command's verb
    from headcount.cli.command_table import VERBS

    name = words[0]
    if name not in VERBS:
        raise _unknown(name, list(VERBS))
    if os.getuid() == 0:
        _check_home(name, typed)
    module = import_module(f"headcount.cli.commands.{name}")
    code = module.run(parsed(name, module, words[1:]))
    assert isinstance(code, int)
    return code


def _check_home(verb: str, typed: list[str]) -> None:
    """sudo keeps HOME: what root leaves there, its user could neither use nor remove."""
    home = os.environ.get("HOME") or "/"
    if verb == "completion" or ("HEADCOUNT_HOME" in os.environ and verb not in WRITE_IN_HOME):
        return
    try:
        owner = os.stat(home).st_uid  # noqa: PTH116
    except OSError:
        return
    if owner != 0:
        from headcount.clean_text import command

        raise NotAsRoot(
            f"You are root, but HOME ({home}) belongs to another user (uid {owner}). Nothing was done.",
            f"Run it without sudo. For agents that root runs: {command('sudo', '-H', 'headcount', *typed)}",
        )


def _bare() -> str:
    """The verb of no verb: a screen for a person, a list for whoever reads a pipe."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return "ps"
    from headcount.cli.commands.tui import is_possible

    return "tui" if is_possible() else "ps"


def _help(words: list[str]) -> int:
    from headcount.cli.command_table import VERBS, general_help

    if words and words[0] in VERBS:
        return _dispatch([words[0], "--help"])
    print(general_help())
    return exit_codes.DONE


def _unknown(name: str, verbs: list[str]) -> WrongCall:
    from difflib import get_close_matches

    from headcount.clean_text import clean

    known = OTHERS_CALL_IT.get(name.lower())
    near = [known] if known else get_close_matches(name.lower(), verbs, n=1)
    advice = f"Did you mean: headcount {near[0]}?" if near else "See: headcount --help"
    return WrongCall(f'headcount: no verb "{clean(name)}". {advice}')


def _told(fault: ClientFault, *, as_json: bool) -> int:
    """For people on stderr; for programs that asked for JSON also as a document, in the wire's own form."""
    from headcount.clean_text import clean

    sys.stdout.flush()
    if as_json:
        from headcount.cli.output import print_fault

        print_fault(getattr(fault, "code", CODES.get(fault.exit_code, "fault")), fault.message, fault.hint)
    print(clean(fault.message), file=sys.stderr)
    if fault.hint:
        print(clean(fault.hint), file=sys.stderr)
    return fault.exit_code


def _unexpected(error: Exception) -> int:
    from headcount.clean_text import clean
    from headcount.cli.output import write_traceback

    sys.stdout.flush()
    where = write_traceback(error)
    what = clean(f"{type(error).__name__}: {error}")
    print(
        f"headcount: something went wrong here ({what}). The traceback is in {clean(where)}", file=sys.stderr
    )
    return exit_codes.FAULT
