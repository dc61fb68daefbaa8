"""Items: what can be claimed, in one normal form.

Rules
  1. An item is `kind:value`. Two texts that mean the same thing come to the same item, or one is refused.
  2. A refusal says what is wrong and, where it can, the text that was probably meant.
  3. A new item is one word (clean_text.py), since others are told of it and type it; paths and branches are what they
     are called. What is stored may be anything printable: it can still be listed, checked and released.
  4. Paths are lexical here: whoever asks has followed the links. `dir/**` is the directory and all below.

Not here: following links (daemon/), who holds an item (claim.py).
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import takewhile
from typing import NewType

from msgspec import Struct

from headcount.clean_text import SIGNS, is_word

Item = NewType("Item", str)

KIND = re.compile(r"[a-z][a-z0-9-]{0,31}")
PARSED_KEPT = 512  # whoever asks for an item gives it back or asks again by the same name
VALUE_MOST = 512
PORT_MOST = 65_535
TREE = "/**"
HOST_KINDS = frozenset({"path", "port", "local"})
NAMED_BY_OTHERS = frozenset(
    {"path", "branch"}
)  # by whoever made the file or the branch: any printable character


class BadItem(Struct, frozen=True):
    why: str
    suggestion: str | None = None

    @property
    def sentence(self) -> str:
        return f"{self.why} Did you mean {self.suggestion}?" if self.suggestion else self.why


@lru_cache(maxsize=PARSED_KEPT)
def parse_item(text: str, *, stored: bool = False) -> Item | BadItem:
    """`stored`: it names a claim that may be there already, so it need not be one that could be made today."""
    text = unicodedata.normalize("NFC", text).strip()
    if not text.isprintable():
        return BadItem("An item has printable characters only.")
    kind, colon, value = text.partition(":")
    if not colon:
        return BadItem(f'"{_short(text)}" has no kind.', _with_a_kind(text)) if text else _empty("task")
    if not KIND.fullmatch(kind):
        small = kind.strip().lower().replace("_", "-")
        fits = KIND.fullmatch(small) is not None and bool(value.strip())
        return BadItem(
            f'"{_short(kind)}" is no kind: small letters, digits and hyphens.',
            _advice(f"{small}:{value}") if fits else None,
        )
    value = value.strip()
    if not value:
        return _empty(kind)
    if len(value) > VALUE_MOST:
        return BadItem(f"An item's value has at most {VALUE_MOST} characters.")
    normal = NORMAL_FORMS.get(kind, str)(value)
    if isinstance(normal, BadItem):
        return normal
    if normal != normal.strip():  # of "/a /" the slash goes, and what is left would be read as "/a"
        return BadItem("What is named ends with a space, which cannot be told from none.")
    if not stored and kind not in NAMED_BY_OTHERS and not is_word(normal):
        words = "-".join("".join(each if is_word(each) else " " for each in normal).split())
        return BadItem(
            f"{kind}: takes letters, digits and {' '.join(SIGNS)} only.", f"{kind}:{words}" if words else None
        )
    return Item(f"{kind}:{normal}")


def kind_of(item: Item) -> str:
    return item.partition(":")[0]


def is_shared(item: Item) -> bool:
    """Whether it means the same thing on every machine; the others belong to one host."""
    return kind_of(item) not in HOST_KINDS


def is_path(item: Item) -> bool:
    return item.startswith("path:")


def overlaps(a: Item, b: Item) -> bool:
    """Whether one of them covers something of the other."""
    if a == b:
        return True
    return is_path(a) and is_path(b) and (_covers(a, b) or _covers(b, a))


def covers(item: Item, other: Item) -> bool:
    """Whether all of the other is in it."""
    return item == other or (is_path(item) and is_path(other) and _covers(item, other))


def _covers(tree: Item, other: Item) -> bool:
    if not tree.endswith(TREE):
        return False
    root = tree.removesuffix(TREE)
    place = other.removesuffix(TREE)
    return place == root or place.startswith(root + "/")


def _branch(value: str) -> str | BadItem:
    repository, _, name = value.rpartition("#")
    if repository.strip() and name.strip():
        return f"{repository.strip()}#{name.strip()}"
    named = value.strip("# ") or "main"
    return BadItem("A branch is written branch:REPOSITORY#NAME.", f"branch:REPOSITORY#{named}")


def _port(value: str) -> str | BadItem:
    if value.isascii() and value.isdigit() and 0 < int(value[:VALUE_MOST]) <= PORT_MOST:
        return str(int(value))
    return BadItem(f"A port is a number from 1 to {PORT_MOST}.")


def _path(value: str) -> str | BadItem:
    if not value.startswith("/"):
        return BadItem("A path is absolute.")
    is_tree = value.endswith(TREE)
    place = value.removesuffix(TREE)
    parts: list[str] = []
    for part in place.split("/"):
        if part == "..":
            del parts[-1:]
        elif "*" in part:
            root = "/" + "/".join(parts)
            return BadItem("A path is exact, or a directory and all below it.", f"path:{root.rstrip('/')}/**")
        elif part not in ("", "."):
            parts.append(part)
    joined = "/" + "/".join(parts)
    return joined.rstrip("/") + TREE if is_tree else joined


NORMAL_FORMS: dict[str, Callable[[str], str | BadItem]] = {"branch": _branch, "port": _port, "path": _path}
"""Kinds with a form of their own; every other kind is kept as it was typed."""


def _advice(text: str) -> str | None:
    """What was probably meant, if it would be taken; else what is suggested for that."""
    made = parse_item(text)
    return made.suggestion if isinstance(made, BadItem) else text


def _with_a_kind(text: str) -> str | None:
    if len(text) > VALUE_MOST:
        return None
    if text.startswith("/"):
        return _advice(f"path:{text}{TREE[1:] if text.endswith('/') and text.strip('/') else ''}")
    if text.startswith((".", "~/")) or text == "~":
        return _relative(text)
    if text.isascii() and text.isdigit() and len(text) > 1:
        return _advice(f"port:{text}")
    if "#" in text.strip("#"):
        return _advice(f"branch:{text}")
    return _relative(text) if "/" in text else _advice(f"task:{text}")


def _relative(text: str) -> str | None:
    """As the caller's shell and client take it, which know where it stands and where its home is. What ends with a
    slash or has a `*` is a directory and all below it."""
    first, *rest = text.split("/")
    parts = ["$HOME" if first == "~" else first, *rest]
    exact = list(takewhile(lambda part: "*" not in part, parts))
    if exact == parts and parts[-1]:
        meant = "/".join(parts)
    else:
        meant = ("/".join(exact).rstrip("/") + TREE).removeprefix("/")
    return None if isinstance(parse_item(f"path:/x/{meant}"), BadItem) else f"path:{meant}"


def _empty(kind: str) -> BadItem:
    return BadItem(f"{kind}: names nothing; write {kind}:SOMETHING.")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
