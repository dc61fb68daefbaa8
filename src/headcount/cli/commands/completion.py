"""`headcount completion SHELL`: completion scripts, made from the verbs and their parsers.

Rules of this file
  1. Nothing is listed twice: verbs come from verbs.py, options from each verb's own parser.
  2. A Tab never starts a daemon, never prints an error, and offers only names that a shell takes as one word.

Not here: the verbs (verbs.py).
"""

import re
from typing import TYPE_CHECKING, Any

from headcount.cli import printing
from headcount.client.faults import ClientFault
from headcount.wire import codes

if TYPE_CHECKING:
    import argparse

TAKES_SESSION = (
    "show",
    "explain",
    "wait",
    "log",
    "handoff",
    "jump",
    "resume",
    "leftovers",
    "reap",
    "stop",
    "close",
)
PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@:+-]*")

BASH = """\
_headcount() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{verbs} --help --version" -- "$word")); return
  fi
  case "$verb" in
{cases}
  esac
}}
complete -F _headcount headcount"""

ZSH = """\
#compdef headcount
_headcount() {{
  local -a verbs; verbs=(
{described}
  )
  if (( CURRENT == 2 )); then _describe verb verbs; return; fi
  case "$words[2]" in
{cases}
  esac
}}
compdef _headcount headcount"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "shell", choices=["bash", "zsh", "fish", "sessions"], help="sessions: what a script completes S with"
    )


def run(args: Any) -> int:
    if args.shell == "sessions":
        printing.print_lines(session_words())
        return codes.DONE
    text = {"bash": bash, "zsh": zsh, "fish": fish}[args.shell]()
    if args.json:
        printing.print_document({"shell": args.shell, "script": text})
    else:
        print(text)
    return codes.DONE


def session_words() -> list[str]:
    from headcount.cli.rows import short_ids

    try:
        sessions = printing.client(autostart=False).get("/v1/sessions")["sessions"]
    except ClientFault:
        return []
    names = [raw.get("name") or "" for raw in sessions]
    words = [*short_ids([raw["id"] for raw in sessions]).values(), *names]
    return [word for word in words if PLAIN_WORD.fullmatch(word)]


def options() -> dict[str, list[str]]:
    """Each verb's option strings and fixed words."""
    from headcount.cli.parsing import all_parsers

    found = {}
    for name, parser in all_parsers().items():
        words = [option for action in parser._actions for option in action.option_strings]
        words += [
            str(choice)
            for action in parser._actions
            if not action.option_strings
            for choice in action.choices or ()
        ]
        found[name] = words
    return found


def _quoted(text: str) -> str:
    """In single quotes, in the one way that bash, zsh and fish all read."""
    return "'" + text.replace("'", "'\\''") + "'"


def bash() -> str:
    cases = []
    for name, words in options().items():
        sessions = " $(headcount completion sessions 2>/dev/null)" if name in TAKES_SESSION else ""
        cases.append(f'    {name}) COMPREPLY=($(compgen -W "{" ".join(words)}{sessions}" -- "$word"));;')
    return BASH.format(verbs=" ".join(options()), cases="\n".join(cases))


def zsh() -> str:
    from headcount.cli.verbs import VERBS

    described = "\n".join(f"    {_quoted(f'{verb.name}:{verb.help}')}" for verb in VERBS.values())
    cases = []
    for name, words in options().items():
        sessions = " ${(f)$(headcount completion sessions 2>/dev/null)}" if name in TAKES_SESSION else ""
        cases.append(f"    {name}) compadd -- {' '.join(words)}{sessions};;")
    return ZSH.format(described=described, cases="\n".join(cases))


def fish() -> str:
    from headcount.cli.verbs import VERBS

    lines = ["complete -c headcount -f"]
    for name, words in options().items():
        lines.append(
            f"complete -c headcount -n __fish_use_subcommand -a {name} -d {_quoted(VERBS[name].help)}"
        )
        of = f"-n '__fish_seen_subcommand_from {name}'"
        for word in words:
            kind = (
                f"-l {word[2:]}"
                if word.startswith("--")
                else f"-s {word[1:]}"
                if word.startswith("-")
                else f"-a {word}"
            )
            lines.append(f"complete -c headcount {of} {kind}")
        if name in TAKES_SESSION:
            lines.append(f"complete -c headcount {of} -a '(headcount completion sessions 2>/dev/null)'")
    return "\n".join(lines)
