"""The map in ARCHITECTURE.md names every module, where it is, and none that is not there."""

import re

import pytest

from tests.rules.source import ROOT, SRC, modules

MAP = re.compile(r"^## The map$.*?^```\nsrc/headcount/\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ASIDE = re.compile(r"\([^)]*\)|[,;:]")
ONE_A_VERB = "cli/commands/"  # `commands/<verb>` names them all; cli/verbs.py lists the verbs


def named(drawn: str) -> list[str]:
    """The modules of the map, by their place: a word with a slash opens a directory."""
    found, layer, inner = [], "", ""
    for line in drawn.splitlines():
        at_layer = re.match(r"  \S", line)
        if at_layer:
            layer = inner = ""
        elif re.match(r" {13}\S", line):
            inner = ""
        for word in ASIDE.sub(" ", line).split():
            if word.endswith("/"):
                layer, inner = (word, "") if at_layer and not layer else (layer, word)
            elif "<" not in word:
                found.append(f"{layer}{inner}{word}")
    return found


def there() -> list[str]:
    places = [str(path.relative_to(SRC).with_suffix("")) for path in modules()]
    return sorted(
        each
        for each in places
        if not each.endswith(("__init__", "__main__")) and not each.startswith(ONE_A_VERB)
    )


def drawn() -> str:
    found = MAP.search((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    assert found is not None, "ARCHITECTURE.md has a map"
    return found.group(1)


def test_every_module_is_on_the_map_once_and_nothing_else_is() -> None:
    shown = sorted(named(drawn()))
    assert sorted(set(there()) - set(shown)) == [], "name it in ARCHITECTURE.md, beside those it belongs to"
    assert sorted(set(shown) - set(there())) == [], "it is not there any more"
    assert len(shown) == len(set(shown)), "named twice"


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        ("  core/   claim item (claims),\n             book\n", ["core/claim", "core/item", "core/book"]),
        ("  system/  git\n             files/   port, poll\n                      look\n             net\n",
         ["system/git", "system/files/port", "system/files/poll", "system/files/look", "system/net"]),
        ("  cli/   main, commands/<verb>\n  paths times\n", ["cli/main", "paths", "times"]),
    ],
)  # fmt: skip
def test_the_map_is_read_as_it_is_drawn(drawn: str, expected: list[str]) -> None:
    assert named(drawn) == expected
