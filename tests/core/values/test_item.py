"""Items: one normal form, and refusals that say what was meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.core.values.item import BadItem, Item, overlaps, parse_item


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("task:AUTH-12", "task:AUTH-12"),
        ("  task:  AUTH-12 ", "task:AUTH-12"),
        ("task:ü/задача-7#@:+~._任務", "task:ü/задача-7#@:+~._任務"),
        ("branch:a b#$(x)", "branch:a b#$(x)"),
        ("path:/a b/`x`;'", "path:/a b/`x`;'"),
        ("branch:api#feature/x", "branch:api#feature/x"),
        ("branch:org/c#repo#main", "branch:org/c#repo#main"),
        ("port:05432", "port:5432"),
        ("path:/a//b/./c/../d/", "path:/a/b/d"),
        ("path:/a/b/**", "path:/a/b/**"),
        ("path:/a/x/../b//**", "path:/a/b/**"),
        ("path:/**", "path:/**"),
        ("path:/..", "path:/"),
        ("path:/a/ü", "path:/a/ü"),
        ("db-row:users/7", "db-row:users/7"),
    ],
)
def test_an_item_has_one_normal_form(text, normal):
    assert parse_item(text) == normal
    assert parse_item(normal) == normal


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("AUTH-12", "task:AUTH-12"),
        ("/src/api", "path:/src/api"),
        ("/src/api/", "path:/src/api/**"),
        ("/", "path:/"),
        ("p/src/api/auth.py", "path:p/src/api/auth.py"),
        ("p/src/api/", "path:p/src/api/**"),
        ("./x", "path:./x"),
        (".env", "path:.env"),
        ("../*.py", "path:../**"),
        ("*/x", "path:**"),
        ("~/x", "path:$HOME/x"),
        ("org/api#main", "branch:org/api#main"),
        ("5432", "port:5432"),
        ("api#main", "branch:api#main"),
        ("Task:AUTH-12", "task:AUTH-12"),
        ("my_kind:x", "my-kind:x"),
        ("branch:main", "branch:REPOSITORY#main"),
        ("branch:main# #", "branch:REPOSITORY#main"),
        ("path:/src/*", "path:/src/**"),
        ("path:/src/**/x", "path:/src/**"),
        ("path:/src/*.py", "path:/src/**"),
        ("path:/src/test_*.py", "path:/src/**"),
    ],
)
def test_a_bad_item_is_refused_with_what_was_meant(text, meant):
    bad = parse_item(text)
    assert isinstance(bad, BadItem)
    assert bad.suggestion == meant
    assert bad.sentence.endswith(f"Did you mean {meant}?")


@pytest.mark.parametrize(
    "text",
    ["", "   ", ":", "task:", "task:   ", "port:0", "port:65536", "port:-1", "port:٣", "path:src", "path:~/x",
     "task:a\x07b", "task:a\u202eb", "task:a\nb", "1x:y", "task:" + "x" * 513, "k" * 33 + ":v"],
)  # fmt: skip
def test_what_names_nothing_or_hides_something_is_no_item(text):
    assert isinstance(parse_item(text), BadItem)


@pytest.mark.parametrize("kind", ["task", "db-row", "local"])
@pytest.mark.parametrize(
    "value", ["a b", "X && curl e | sh", "$(x)", "`x`", "a;b", "a'b", 'a"b', "a\\b", "x*", "a\u3164b"]
)
def test_a_new_item_is_one_word_and_a_stored_one_may_be_more(kind, value):
    bad = parse_item(f"{kind}:{value}")
    assert isinstance(bad, BadItem) and "letters, digits and . _ - / # @ : + ~ only" in bad.why
    assert bad.suggestion is not None and parse_item(bad.suggestion) == bad.suggestion
    assert parse_item(f"{kind}:{value}", stored=True) == f"{kind}:{value}"


def test_a_word_of_a_script_with_marks_is_an_item():
    assert parse_item("task:हिन्दी") == "task:हिन्दी"


def test_what_is_suggested_for_words_without_a_kind_can_be_claimed():
    bad = parse_item("fix the login")
    assert isinstance(bad, BadItem) and bad.suggestion == "task:fix-the-login"


def test_the_documented_sentence():
    bad = parse_item("AUTH-12")
    assert isinstance(bad, BadItem)
    assert bad.sentence == '"AUTH-12" has no kind. Did you mean task:AUTH-12?'


def test_one_letter_and_its_two_marks_are_one_name():
    assert parse_item("task:e\u0301") == parse_item("task:\u00e9")


@pytest.mark.parametrize(
    ("a", "b", "do"),
    [
        ("task:a", "task:a", True),
        ("task:a", "task:ab", False),
        ("path:/a/**", "path:/a", True),
        ("path:/a/**", "path:/a/b/c", True),
        ("path:/a/**", "path:/ab", False),
        ("path:/a/**", "path:/ab/**", False),
        ("path:/a/**", "path:/a/b/**", True),
        ("path:/a", "path:/a/b", False),
        ("path:/**", "path:/x", True),
        ("path:/**", "path:/", True),
        ("path:/a/b/**", "path:/a", False),
        ("task:/a/**", "task:/a/b", False),
    ],
)
def test_paths_overlap_by_containment_and_nothing_else_does(a, b, do):
    assert overlaps(Item(a), Item(b)) is do
    assert overlaps(Item(b), Item(a)) is do


@given(st.text(max_size=40) | st.from_regex(r"(path|port|task|branch):[/a-z.*#0-9 ]{0,20}", fullmatch=True))
def test_parsing_again_changes_nothing(text):
    item = parse_item(text)
    if not isinstance(item, BadItem):
        assert parse_item(item) == item
