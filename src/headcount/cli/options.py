"""Parse the words of a verb: the usual calls by a small table, everything else by argparse.

Rules
  1. argparse takes a tenth of a `ps` to import. So the quick parser takes the calls that the table QUICK describes and
     returns None for all others: help, mistakes, `--wait=5m`. Then argparse decides, and writes the error.
  2. Both give the same arguments. What a verb accepts is in its own add_arguments; the table only repeats names.
  3. Every verb has --json. A wrong call exits 2 with one line; with --json the error is a document too.
  4. What several verbs accept (times, fencing tokens, states, kinds) is parsed here: commands import no commands.

Not here: the verbs' own arguments (commands/), the list of verbs (command_table.py).
"""

from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.command_table import Verb

STATES = (
    "working", "waiting", "done", "failed", "idle", "unknown",
    "permission", "question", "plan", "limit", "error", "alive", "ended",
)  # fmt: skip
KINDS = ("process", "second-writer", "pane", "worktree", "record")
DIGITS_MOST = 15  # of a fencing token


class Quick(NamedTuple):
    """What a usual call of a verb may consist of."""

    words: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()  # words that may be missing
    switches: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


QUICK = {
    "ps": Quick(optional=("where",), switches=("-a", "--all", "-w", "--wide", "--fleet"), values=("--host",)),
    "claim": Quick(words=("item",), switches=("--until-empty",), values=("--wait", "--note", "--as")),
    "release": Quick(words=("item",), switches=("--force", "--yes"), values=("--fence", "--as")),
    "claims": Quick(switches=("--accept-loss",), values=("--history",)),
    "check": Quick(words=("item", "fence")),
    "hold": Quick(words=("item",), values=("--wait", "--note")),
    "whoami": Quick(switches=("--explain",)),
    "statusline": Quick(),
    "up": Quick(switches=("--foreground",)),
    "tui": Quick(),
    "completion": Quick(words=("shell",), switches=("--words",)),
}
RUN_A_COMMAND = (
    "hold",
    "launch",
    "completion",
)  # what follows `--` is another command, whatever it looks like
ATTRIBUTES = {"-a": "all", "-w": "wide", "--as": "acting_as"}


def parsed(name: str, module: ModuleType, words: list[str]) -> "argparse.Namespace | SimpleNamespace":
    """The arguments of a call; a wrong call exits here."""
    if name not in RUN_A_COMMAND:
        return quick(name, words) or _by_argparse(name, module, words)
    if "--" not in words:
        return _by_argparse(name, module, words)
    at = words.index("--")
    if at == 0 and name in QUICK:  # `hold -- ITEM CMD`
        return _by_argparse(name, module, words)
    args = quick(name, words[:at]) or _by_argparse(name, module, words[:at])
    args.command = [*getattr(args, "command", ()), *words[at + 1 :]]
    return args


def quick(name: str, words: list[str]) -> SimpleNamespace | None:
    """The arguments of a usual call; None: ask argparse."""
    form = QUICK.get(name)
    if form is None:
        return None
    found: dict[str, object] = {_attribute(each): False for each in ("--json", *form.switches)}
    found |= {_attribute(each): None for each in (*form.words, *form.optional, *form.values)}
    places, rest = iter((*form.words, *form.optional)), iter(words)
    for word in rest:
        if word == "--json" or word in form.switches:
            found[_attribute(word)] = True
            continue
        is_option = word in form.values
        place, value = (_attribute(word), next(rest, "")) if is_option else (next(places, ""), word)
        if not place or not value or (value[0] == "-" and (place != "note" or value[:2] == "--")):
            return None
        found[place] = fencing_token(value) if place == "fence" else value
        if found[place] is None:
            return None
    return None if any(found[each] is None for each in form.words) else SimpleNamespace(**found)


def is_json(words: list[str]) -> bool:
    """Whether JSON was asked for; what is behind `--` is another command's."""
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _attribute(word: str) -> str:
    """As argparse names it."""
    return ATTRIBUTES.get(word) or word.lstrip("-").replace("-", "_")


def _by_argparse(name: str, module: ModuleType, words: list[str]) -> "argparse.Namespace":
    from headcount.cli.command_table import VERBS

    parser = parser_of(VERBS[name], module, as_json=is_json(words))
    # an option between two words, the second of which may be missing: argparse has to be asked for that
    mixed = getattr(module, "MAY_BE_MIXED", False)
    return parser.parse_intermixed_args(words) if mixed else parser.parse_args(words)


def parser_of(verb: "Verb", module: ModuleType, *, as_json: bool = False) -> "argparse.ArgumentParser":
    import argparse

    examples = "\n".join(f"  {example}" for example in verb.examples)
    note = getattr(module, "NOTE", "")
    parser = argparse.ArgumentParser(
        prog=f"headcount {verb.name}",
        description=verb.help[:1].upper() + verb.help[1:] + ".",
        epilog=f"{note}\n\nexamples:\n{examples}".strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )

    def error(message: str) -> NoReturn:
        from headcount.cli import output

        if as_json:
            output.print_fault("usage", f"{message}.", f"See: {parser.prog} --help")
        parser.exit(exit_codes.USAGE, f"headcount: {message}. See: {parser.prog} --help\n")

    parser.error = error  # type: ignore[method-assign]
    parser.add_argument("--json", action="store_true", help="for programs")
    module.add_arguments(parser)
    return parser


# --- what several verbs accept ---------------------------------------------------------------------


def fencing_token(text: str) -> int | None:
    text = text.removeprefix("#")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= DIGITS_MOST else None


def fence(text: str) -> int:
    """A fencing token, for argparse."""
    from argparse import ArgumentTypeError

    from headcount.clean_text import clean

    number = fencing_token(text)
    if number is None:
        raise ArgumentTypeError(f'"{clean(text)}" is no number of a claim')
    return number


def seconds(text: str) -> float:
    """A length of time, for argparse."""
    from argparse import ArgumentTypeError

    from headcount.clean_text import clean
    from headcount.present.time_text import parse_span

    span = parse_span(text)
    if span is None:
        raise ArgumentTypeError(f'"{clean(text)}" is no time; write 90, 5m or 2h')
    return span


def seconds_to_wait(text: str | None, verb: str) -> float:
    """Of --wait, which the quick parser leaves as text; 0 without one."""
    if text is None:
        return 0.0
    from headcount.present.time_text import parse_span

    span = parse_span(text)
    if span is None:
        from headcount.clean_text import clean
        from headcount.client.faults import WrongCall

        raise WrongCall(
            f'headcount: "{clean(text)}" is no time; write 90, 5m or 2h. See: headcount {verb} --help'
        )
    return span
