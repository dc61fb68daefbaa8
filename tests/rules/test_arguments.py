"""What commands read from their arguments (cli/arguments.py) is what their parsers put there.

Rules of this file
  1. Every argument of every verb is in VerbArguments, and nothing else is.
  2. A switch is a bool; what may be missing is optional; what may be repeated is a list.
"""

import argparse
from importlib import import_module
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from headcount.cli.arguments import VerbArguments
from headcount.cli.command_table import VERBS
from headcount.cli.options import parser_of

TYPES = get_type_hints(VerbArguments)


def arguments() -> list[tuple[str, argparse.Action]]:
    return [
        (name, action)
        for name, verb in VERBS.items()
        for action in parser_of(verb, import_module(f"headcount.cli.commands.{name}"))._actions
        if action.dest != "help"
    ]


def fits(action: argparse.Action, kind: Any) -> bool:
    may_be_missing = action.default is None and not action.required
    alone = next((each for each in get_args(kind) if each is not NoneType), kind) if may_be_missing else kind
    if may_be_missing and NoneType not in get_args(kind):
        return False
    if isinstance(action.const, bool) and action.nargs == 0:
        return kind is bool
    is_repeated = action.nargs == "*" or isinstance(action, argparse._AppendAction)
    return is_repeated == (get_origin(alone) is list)


def test_every_argument_of_every_verb_is_named_and_nothing_else() -> None:
    assert {action.dest for _, action in arguments()} == TYPES.keys()


def test_every_argument_has_the_type_that_its_parser_gives_it() -> None:
    wrong = [f"{verb} {action.dest}" for verb, action in arguments() if not fits(action, TYPES[action.dest])]
    assert wrong == []


def test_a_wrong_type_is_found() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    optional = parser.add_argument("--name")
    switch = parser.add_argument("--all", action="store_true")
    several = parser.add_argument("--id", action="append")
    assert fits(optional, str | None) and not fits(optional, str)
    assert fits(switch, bool) and not fits(switch, str)
    assert fits(several, list[str] | None) and not fits(several, str | None)
