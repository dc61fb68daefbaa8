"""`headcount completion SHELL`: completion scripts, made from the verbs and their parsers.

Rules of this file
  1. Nothing is listed twice: verbs come from verbs.py, options from each verb's own parser.
  2. A Tab never starts a daemon, never prints an error, and offers only names that a shell takes as one word.

Not here: the verbs (verbs.py).
"""

import re
from typing import TYPE_CHECKING

from headcount.cli import output
from headcount.client.faults import ClientFault
from headcount.wire import exit_codes

if TYPE_CHECKING:
    import argparse

    from headcount.cli.arguments import VerbArguments

PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@:+#-]*")

# What a verb's words and an option's value are completed with, beside what its parser knows.
ASKED = {
    "show": ("sessions",),
    "explain": ("sessions",),
    "peek": ("sessions",),
    "wait": ("sessions",),
    "log": ("sessions",),
    "jump": ("sessions",),
    "resume": ("sessions",),
    "leftovers": ("sessions",),
    "reap": ("sessions",),
    "stop": ("sessions",),
    "close": ("sessions",),
    "release": ("items",),
    "check": ("items",),
    "handoff": ("items", "sessions"),
}
VALUES = {"--as": "sessions", "--until": "states", "--type": "types", "--agent": "agents"}

BASH = """\
_headcount() {{
  local line=${{COMP_LINE:0:COMP_POINT}} verb=${{COMP_WORDS[1]}} word before prefix offered
  local -a said; read -ra said <<<"$line"
  word=${{line##*[[:space:]]}}; [ -n "$word" ] && unset 'said[-1]'
  before=${{said[-1]}}
  if [ "${{#said[@]}}" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{verbs} --help --version" -- "$word")); return
  fi
  case "$verb $before" in
{values}
  *) case "$verb" in
{cases}
    esac;;
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$word"))
  if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then  # bash replaces only what follows the colon
    prefix=${{word%"${{word##*:}}"}}; COMPREPLY=("${{COMPREPLY[@]#"$prefix"}}")
  fi
}}
complete -F _headcount headcount"""

ZSH = """\
#compdef headcount
_headcount() {{
  local -a verbs; verbs=(
{described}
  )
  if (( CURRENT == 2 )); then _describe verb verbs; return; fi
  case "$words[2] $words[CURRENT-1]" in
{values}
  *) case "$words[2]" in
{cases}
    esac;;
  esac
}}
compdef _headcount headcount"""


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "shell",
        choices=["bash", "zsh", "fish", "sessions", "items"],
        help="sessions, items: what a script completes S and ITEM with",
    )


def run(args: "VerbArguments") -> int:
    if args.shell in ("sessions", "items"):
        words = session_words() if args.shell == "sessions" else item_words()
        plain = [word for word in words if PLAIN_WORD.fullmatch(word)]
        if args.json:
            output.print_document({args.shell: plain})
        else:
            output.print_lines(plain)
        return exit_codes.DONE
    text = {"bash": bash, "zsh": zsh, "fish": fish}[args.shell]()
    if args.json:
        output.print_document({"shell": args.shell, "script": text})
    else:
        print(text)
    return exit_codes.DONE


def session_words() -> list[str]:
    from headcount.core.values.session import looks_like_an_id
    from headcount.present.session_words import short_ids

    try:
        sessions = output.client(autostart=False).get("/v1/sessions")["sessions"]
    except ClientFault:
        return []
    names = [name for raw in sessions if (name := raw.get("name")) and not looks_like_an_id(name)]
    return [*short_ids([raw["id"] for raw in sessions]).values(), *names]


def item_words() -> list[str]:
    """What is held now."""
    try:
        claims = output.client(autostart=False).get("/v1/claims")["claims"]
    except ClientFault:
        return []
    return [str(each["item"]) for each in claims]


def options() -> dict[str, list[str]]:
    """Each verb's option strings and fixed words."""
    from headcount.cli.options import all_parsers

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


def fixed(kind: str) -> list[str] | None:
    """The words of a kind that does not change; None: it has to be asked for."""
    if kind == "states":
        from headcount.cli.commands.wait import STATES

        return list(STATES)
    if kind == "types":
        from headcount.core.values.events import EventType

        return [each.value for each in EventType]
    if kind == "agents":
        from headcount.agents.catalog import AGENTS

        return [name for name in AGENTS if PLAIN_WORD.fullmatch(name)]
    return None


def values() -> dict[tuple[str, str], str]:
    """Verb and option -> what its value is completed with."""
    return {
        (name, word): VALUES[word] for name, words in options().items() for word in words if word in VALUES
    }


def bash() -> str:
    def offered(words: list[str], kinds: tuple[str, ...]) -> str:
        asked = [" ".join(fixed(kind) or [f"$(headcount completion {kind} 2>/dev/null)"]) for kind in kinds]
        return f'offered="{" ".join([*words, *asked])}";;'

    cases = [f"    {name}) {offered(words, ASKED.get(name, ()))}" for name, words in options().items()]
    after = [f'  "{name} {option}") {offered([], (kind,))}' for (name, option), kind in values().items()]
    return BASH.format(verbs=" ".join(options()), cases="\n".join(cases), values="\n".join(after))


def zsh() -> str:
    from headcount.cli.command_table import VERBS

    def offered(words: list[str], kinds: tuple[str, ...]) -> str:
        asked = [
            " ".join(fixed(kind) or [f"${{(f)$(headcount completion {kind} 2>/dev/null)}}"]) for kind in kinds
        ]
        return f"compadd -- {' '.join([*words, *asked])};;"

    described = "\n".join(f"    {_quoted(f'{verb.name}:{verb.help}')}" for verb in VERBS.values())
    cases = [f"    {name}) {offered(words, ASKED.get(name, ()))}" for name, words in options().items()]
    after = [f'  "{name} {option}") {offered([], (kind,))}' for (name, option), kind in values().items()]
    return ZSH.format(described=described, cases="\n".join(cases), values="\n".join(after))


def fish() -> str:
    from headcount.cli.command_table import VERBS

    def offered(kind: str) -> str:
        return "-a " + _quoted(" ".join(fixed(kind) or [f"(headcount completion {kind} 2>/dev/null)"]))

    lines = ["complete -c headcount -f"]
    for name, words in options().items():
        lines.append(
            f"complete -c headcount -n __fish_use_subcommand -a {name} -d {_quoted(VERBS[name].help)}"
        )
        of = f"complete -c headcount -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{of} {_fish_word(word)}" for word in words if (name, word) not in values()]
        lines += [f"{of} {offered(kind)}" for kind in ASKED.get(name, ())]
    for (name, option), kind in values().items():
        of = f"complete -c headcount -n '__fish_seen_subcommand_from {name}'"
        lines.append(f"{of} {_fish_word(option)} -x {offered(kind)}")
    return "\n".join(lines)


def _fish_word(word: str) -> str:
    if word.startswith("--"):
        return f"-l {word[2:]}"
    return f"-s {word[1:]}" if word.startswith("-") else f"-a {word}"
