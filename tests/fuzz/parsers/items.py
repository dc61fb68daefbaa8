"""Names of items: one normal form, whose own name it is; what is refused suggests only what would be taken."""

from urllib.parse import quote

from headcount.client.claims import item_here
from headcount.core.values.item import KIND, VALUE_MOST, BadItem, Item, is_path, overlaps, parse_item
from headcount.daemon.routes.dispatch import find_route
from tests.fuzz.target import Target

HERE = "/here/x"
"""Where the caller stands: a relative path is of its client, which makes it absolute."""
FIXED = (Item("path:/a/b/**"), Item("path:/"), Item("path:/**"), Item("task:x"))


def check(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    item = parse_item(text)
    if isinstance(item, BadItem):
        is_good_advice(item)
    else:
        is_promised(item)
        is_reached_by_its_route(item)


def is_promised(item: Item) -> None:
    assert parse_item(item) == item, "the normal form of an item is itself"
    assert item.isprintable() and len(item) <= 32 + 1 + VALUE_MOST + 3
    kind, _, value = item.partition(":")
    assert KIND.fullmatch(kind) and value == value.strip() and value
    if is_path(item):
        parts = value.removesuffix("/**").split("/")
        assert value.startswith("/") and not {"..", "."} & set(parts) and "*" not in value.removesuffix("/**")
        assert "//" not in value, value
    for other in (item, *FIXED):
        assert overlaps(item, other) == overlaps(other, item), "being in the way is mutual"
    assert overlaps(item, item)


def is_good_advice(bad: BadItem) -> None:
    assert bad.sentence and len(bad.why) < 200
    if bad.suggestion is not None and len(bad.suggestion) <= VALUE_MOST - len(HERE):
        better = parse_item(item_here(bad.suggestion.replace("$HOME", HERE), HERE))
        assert not isinstance(better, BadItem), (
            f"it suggests {bad.suggestion!r}, which it refuses: {better.why}"
        )


def is_reached_by_its_route(item: Item) -> None:
    for method, tail in (("DELETE", ""), ("POST", "/check"), ("POST", "/handoff")):
        route, named = find_route(method, f"/v1/claims/{quote(item, safe='')}{tail}")
        assert named == {"item": item}, (route.path, named)


def naive(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    if ":" in text:
        is_promised(Item(text))


def samples() -> list[bytes]:
    return [
        b"task:AUTH-12", b"branch:repo#main", b"port:5432", b"port:0080", b"path:/abs/dir/**", b"path:/a/../b//c/./", b"path:/",
        b"path:/**", b"AUTH-12", b"8080", b"/etc/hosts", b"repo#main", b"Task_A: x", b"path:relative", b"path:/a/*/b", b"branch:main",
        "task:é".encode(), "task:e\u0301".encode(), b"local: x ", b"task:", b":x", b"branch:#", b"branch:a#b#c",
    ]  # fmt: skip


TARGETS = (Target("item", check, naive, samples),)
