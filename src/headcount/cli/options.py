"""Parsing: the arguments of one verb, by argparse, imported only when it is needed.

Rules of this file
  1. Every verb has --json (except where one document makes no sense), and examples under --help.
  2. A wrong call exits 2 with one line and the way to the help; who asked for JSON has it as a document too.

Not here: the verbs' own arguments (commands/), which verbs there are (command_table.py).
"""

import argparse
from typing import Any, NoReturn

from headcount.cli import output
from headcount.cli.command_table import VERBS, Verb
from headcount.wire import exit_codes


class OneLineParser(argparse.ArgumentParser):
    as_json = False

    def error(self, message: str) -> NoReturn:
        if self.as_json:
            output.print_fault("usage", f"{message}.", f"See: {self.prog} --help")
        self.exit(exit_codes.USAGE, f"headcount: {message}. See: {self.prog} --help\n")


def parser_of(verb: Verb, module: Any, *, as_json: bool = False) -> argparse.ArgumentParser:
    examples = "\n".join(f"  {example}" for example in verb.examples)
    note = getattr(module, "NOTE", "")
    parser = OneLineParser(
        prog=f"headcount {verb.name}",
        description=verb.help[:1].upper() + verb.help[1:] + ".",
        epilog=f"{note}\n\nexamples:\n{examples}".strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.as_json = as_json
    parser.add_argument("--json", action="store_true", help="for programs")
    module.add_arguments(parser)
    return parser


def all_parsers() -> dict[str, argparse.ArgumentParser]:
    """Every verb's parser, for completion and the documents."""
    from importlib import import_module

    return {
        name: parser_of(verb, import_module(f"headcount.cli.commands.{name}")) for name, verb in VERBS.items()
    }
