"""The words of `hold`: options stand before or behind the item; what is behind `--` is the command's."""

import pytest

from headcount.cli.commands.hold import parse_plain


@pytest.mark.parametrize("words", [["--json", "task:K"], ["task:K", "--json"]])
def test_json_stands_before_or_behind_the_item(words: list[str]) -> None:
    args = parse_plain([*words, "--", "echo", "hi"])
    assert args is not None
    assert (args.item, args.json, args.command) == ("task:K", True, ["echo", "hi"])


def test_an_option_behind_the_dashes_is_the_commands() -> None:
    args = parse_plain(["task:K", "--", "ls", "--json"])
    assert args is not None
    assert (args.json, args.command) == (False, ["ls", "--json"])
