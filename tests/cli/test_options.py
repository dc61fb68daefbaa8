"""The words of a call: the quick parser and argparse give the same arguments, or argparse alone decides."""

from importlib import import_module
from typing import Any

import pytest

from headcount.cli.options import QUICK, RUN_A_COMMAND, parsed, quick


def both(verb: str, words: list[str]) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """What the quick parser makes of it, and argparse."""
    found = quick(verb, words)
    module = import_module(f"headcount.cli.commands.{verb}")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("headcount.cli.options.quick", lambda verb, words: None)
        return None if found is None else vars(found), vars(parsed(verb, module, words))


@pytest.mark.parametrize(
    "line",
    [
        "ps", "ps . --wide --json", "ps -a -w --fleet", "ps --host ws,laptop /src", "claim task:A",
        "claim --wait 5m task:A --note login --as 7f3a --until-empty --json", "release task:A",
        "release task:A --fence #12 --force --yes --as 7f3a", "claims --json", "claims --history task:A",
        "claims --accept-loss", "check task:A 12", "check task:A #12 --json", "whoami", "whoami --explain --json",
        "statusline --json", "up", "up --foreground", "tui",
    ],
)  # fmt: skip
def test_the_quick_parser_says_what_argparse_says(line: str) -> None:
    verb, *words = line.split()
    plain, full = both(verb, words)
    assert plain == full


def test_every_option_of_the_table_is_one_of_its_verb() -> None:
    for verb, form in QUICK.items():
        words = [{"fence": "12", "shell": "zsh"}.get(each, each) for each in form.words]
        words += [word for option in form.values for word in (option, "1")]
        words += [*form.switches, *(["--", "true"] if verb in RUN_A_COMMAND else [])]
        assert parsed(verb, import_module(f"headcount.cli.commands.{verb}"), words)


@pytest.mark.parametrize(
    "line",
    [
        "claim", "claim task:A --wait", "claim task:A task:B", "claim task:A --wait=5m", "claim task:A --note --json",
        "claim --bogus", "check task:A twelve", "check task:A", "ps a b", "ps -aw", "ps --help", "show x", "release --",
    ],
)  # fmt: skip
def test_any_other_call_is_left_to_argparse(line: str) -> None:
    verb, *words = line.split()
    assert quick(verb, words) is None


def hold(*words: str) -> Any:
    return parsed("hold", import_module("headcount.cli.commands.hold"), list(words))


@pytest.mark.parametrize("words", [["--json", "task:K"], ["task:K", "--json"]])
def test_json_stands_before_or_behind_the_item(words: list[str]) -> None:
    args = hold(*words, "--", "echo", "hi")
    assert (args.item, args.json, args.command) == ("task:K", True, ["echo", "hi"])


@pytest.mark.parametrize("more", [[], ["--wait=5m"]])
def test_an_option_behind_the_dashes_is_the_commands(more: list[str]) -> None:
    args = hold("task:K", *more, "--", "ls", "--json", "--")
    assert (args.json, args.command) == (False, ["ls", "--json", "--"])


def test_hold_takes_a_command_without_dashes() -> None:
    assert hold("task:K", "ls", "src").command == ["ls", "src"]


def test_a_note_may_begin_with_a_dash() -> None:
    assert hold("task:K", "--note", "-wip", "--", "true").note == "-wip"
    claim = parsed("claim", import_module("headcount.cli.commands.claim"), ["task:K", "--note", "-wip"])
    assert claim.note == "-wip"


def test_hold_takes_all_its_words_behind_the_dashes() -> None:
    args = hold("--", "task:K", "ls", "--json")
    assert (args.item, args.json, args.command) == ("task:K", False, ["ls", "--json"])
