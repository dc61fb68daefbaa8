"""The project speaks of no developer's machine: no absolute path of a home, no scratch place."""

import re

import pytest

from tests.rules.source import project_files, short

# Written in two halves, so that this file does not find itself.
PLACES = re.compile(
    "|".join((
        r"(?<![\w.~$}])/" + r"root/",
        r"(?<![\w.~$}])/" + r"work/",
        r"(?<![\w.~$}])/" + r"home/(?!(?:dev|someone|somebody)\b)\w+",  # these are placeholders
        r"(?<![\w.~$}])/" + r"Users/\w+",
        r"/tmp/" + r"(?:bash_jobs|briefs)",
        r"\.\./" + r"shared\b",
    ))
)  # fmt: skip


def found_in(text: str) -> list[str]:
    return [match.group() for match in PLACES.finditer(text)]


def test_no_tracked_file_names_a_developers_machine() -> None:
    found = {}
    for path in project_files():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        if places := found_in(text):
            found[short(path)] = sorted(set(places))
    assert found == {}


@pytest.mark.parametrize(
    "text", ["cd /" + "root/project", "(/" + "work/main)", "/" + "home/ada/src", "../" + "shared/x"]
)
def test_such_places_are_seen(text: str) -> None:
    assert found_in(text) != []


@pytest.mark.parametrize(
    "text", ["/home/dev/project", "docs/" + "work/", "~/" + "root/x", "$HOME/" + "work/"]
)
def test_other_words_are_left_alone(text: str) -> None:
    assert found_in(text) == []
