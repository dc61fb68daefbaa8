"""`headcount completion SHELL`: a stub for the shell, which asks `headcount completion SHELL --words` at every Tab.

Rules
  1. One function answers for all shells: offers(). Verbs come from cli/command_table.py, options from the verb's own parser,
     and only that one verb is imported.
  2. A Tab never starts a daemon and never prints an error. It offers only words that need no quotes in a shell.

Not here: the list of verbs (cli/command_table.py), what a verb accepts (its own file).
"""

import re
from importlib import import_module
from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.cli.command_table import VERBS
from headcount.client.faults import ClientFault, WrongCall
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments

PLAIN_WORD = re.compile(r"[A-Za-z0-9-][A-Za-z0-9._/@:+#-]*")
TAKE_SESSIONS = (
    "show",
    "explain",
    "peek",
    "wait",
    "log",
    "jump",
    "resume",
    "leftovers",
    "reap",
    "stop",
    "close",
)
TAKE_ITEMS = ("release", "check", "handoff")
VALUES = {"--as": "sessions", "--until": "states", "--type": "types", "--agent": "agents"}
BEFORE_HELP = {"zsh": ":", "fish": "\t"}  # between a verb and what it is for; bash shows words alone

STUBS = {
    "bash": """\
_headcount() {
  local line=${COMP_LINE:0:COMP_POINT} word prefix
  local -a said; read -ra said <<<"$line"
  word=${line##*[[:space:]]}; [ -n "$word" ] || said+=("")
  COMPREPLY=($(headcount completion bash --words -- "${said[@]}" 2>/dev/null))
  if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then  # bash replaces only what follows the colon
    prefix=${word%"${word##*:}"}; COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
  fi
}
complete -F _headcount headcount""",
    "zsh": """\
#compdef headcount
_headcount() {
  local -a found; found=(${(f)"$(headcount completion zsh --words -- "${(@)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)"})
  if (( CURRENT == 2 )); then _describe verb found; else compadd -- $found; fi
}
compdef _headcount headcount""",
    "fish": """\
function __headcount_words
  set -l word (commandline -ct)
  headcount completion fish --words -- (commandline -opc) "$word" 2>/dev/null
end
complete -c headcount -f -a '(__headcount_words)'""",
}


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    from argparse import SUPPRESS

    parser.add_argument("shell", choices=list(STUBS))
    parser.add_argument(
        "--words", action="store_true", help=SUPPRESS
    )  # what to offer behind the words after --


def run(args: "VerbArguments") -> int:
    if args.shell not in STUBS:  # `completion tcsh --`: the quick parser knows no choices
        raise WrongCall(
            "headcount: there is completion for bash, zsh and fish. See: headcount completion --help"
        )
    if args.words:
        for offer in offers(args.shell, getattr(args, "command", [])):
            print(offer)
    elif args.json:
        output.print_document({"shell": args.shell, "script": STUBS[args.shell]})
    else:
        print(STUBS[args.shell])
    return exit_codes.DONE


def offers(shell: str, words: list[str]) -> list[str]:
    """What may follow; the first word is the program, the last is the one that is being typed."""
    *before, word = words[1:] or [""]
    if not before:
        apart = BEFORE_HELP.get(shell)
        verbs = [f"{name}{apart}{verb.help}" if apart else name for name, verb in VERBS.items()]
        return [each for each in (*verbs, "--help", "--version") if each.startswith(word)]
    verb = before[0]
    if verb not in VERBS:
        return []
    known = _options(verb)
    kind = VALUES.get(before[-1]) if before[-1] in known else None
    if kind is not None:
        found = _words_of(kind)
    else:
        found = known + (_words_of("items") if verb in TAKE_ITEMS else [])
        found += _words_of("sessions") if verb in (*TAKE_SESSIONS, "handoff") else []
    return [each for each in found if each.startswith(word) and PLAIN_WORD.fullmatch(each)]


def _options(verb: str) -> list[str]:
    """A verb's options and fixed words."""
    from argparse import SUPPRESS

    from headcount.cli.options import parser_of

    actions = parser_of(VERBS[verb], import_module(f"headcount.cli.commands.{verb}"))._actions
    shown = [each for each in actions if each.help != SUPPRESS]
    fixed = [str(choice) for each in shown if not each.option_strings for choice in each.choices or ()]
    return [option for each in shown for option in each.option_strings] + fixed


def _words_of(kind: str) -> list[str]:
    if kind == "states":
        from headcount.cli.options import STATES

        return list(STATES)
    if kind == "types":
        from headcount.core.values.events import EventType

        return [each.value for each in EventType]
    if kind == "agents":
        from headcount.agents.catalog import AGENTS

        return list(AGENTS)
    try:
        return _held() if kind == "items" else _sessions()
    except ClientFault:
        return []


def _held() -> list[str]:
    return [str(each["item"]) for each in output.client(autostart=False).get("/v1/claims")["claims"]]


def _sessions() -> list[str]:
    from headcount.core.values.session import looks_like_an_id
    from headcount.present.session_words import short_ids

    sessions = output.client(autostart=False).get("/v1/sessions")["sessions"]
    names = [name for raw in sessions if (name := raw.get("name")) and not looks_like_an_id(name)]
    return [*short_ids([raw["id"] for raw in sessions]).values(), *names]
