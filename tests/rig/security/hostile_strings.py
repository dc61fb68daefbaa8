"""Hostile strings: what a session's title, command or path may hold, and how one sees that it was interpreted.

Rules of this file
  1. Made from a seed: the same two thousand on every machine, each with a word of its own (`w0042`) in plain
     letters, so that a face which shows it can be asked where it went.
  2. A family is a way of being interpreted: by a terminal, by bidi layout, as lines, as markup of a terminal
     library, as HTML, as a template, by a shell, by a reader of JSON.
  3. `traces` says what in a face's output a terminal would have obeyed. Nothing is the only good answer.

Use: `for string in hostile():`, `traces(drawn)`, `word_of(string)`, and for a page `WITNESS`: a script that ran
has put its name there.
"""

import random
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

COUNT = 2_000
WITNESS = "headcountWasFooled"  # a property of `window` that only an executed payload sets

ESC, BEL, ST, CSI, OSC, DCS = "\x1b", "\x07", "\x1b\\", "\x9b", "\x9d", "\x90"

TERMINAL = (
    f"{ESC}]52;c;cm0gLXJmIH4={BEL}",  # the clipboard
    f"{ESC}]52;p;cm0gLXJmIH4={ST}",
    f"{OSC}52;c;cm0gLXJmIH4=\x9c",
    f"{ESC}]0;title{BEL}",
    f"{ESC}]8;;file:///etc/passwd{ST}link{ESC}]8;;{ST}",
    f"{ESC}]1337;File=inline=1:AAAA{BEL}",
    f"{ESC}]777;notify;a;b{BEL}",
    f"{ESC}]4;1;?{BEL}",
    f"{ESC}[2J{ESC}[H",
    f"{ESC}[31;1mred{ESC}[0m",
    f"{ESC}[8mhidden",
    f"{ESC}[6n",
    f"{ESC}[c",
    f"{ESC}[?1049h",
    f"{ESC}[1;1r",
    f"{ESC}[1A{ESC}[2K",
    f"{ESC}c",
    f"{ESC}(0",
    f"{ESC}P+q544e{ST}",
    f"{DCS}1$r0m\x9c",
    f"{ESC}_Gf=100;AAAA{ST}",
    f"{ESC}^private{ST}",
    f"{ESC}X start{ST}",
    f"{CSI}31mred",
    f"{CSI}2J",
    "\x05\x07\x08\x08\x08\x0e\x0f\x11\x13\x1a\x7f",
    "\x84\x85\x8d\x8e\x8f\x98\x9a\x9e\x9f",
    "\x00",
    f"{ESC}Ptmux;{ESC}{ESC}]52;c;cm0=\x07{ST}",
    f"{ESC}",
    f"{ESC}[",
    f"{ESC}]",
)
BIDI = (
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
    "\u202egnp.exe\u202c",
    "\u2067\u2066// admin\u2069\u2069",
)
UNSEEN = (
    "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e", "\u3164", "\u2800", "\u115f",
    "\U000e0041\U000e0042", "\ufe0f", "\U000e0101", "\u0301" * 40, "\u034f", "\u17b4", "\uffa0", "\ufff9\ufffa\ufffb",
)  # fmt: skip
LINES = ("\n", "\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029", "\n\n\n", "\t\t", "\x1c\x1d\x1e")
MARKUP = (
    "[bold]", "[/bold]", "[/]", "[red on white]", "[link=file:///etc/passwd]x[/link]", "[@click=app.quit]x[/]",
    "[@click='app.bell()']", "[blink]", "\\[", "[[", "]", "[not a tag", ":skull:", "$primary", "[$error]x",
    "![x](http://127.0.0.1:9/x.png)", "[x](javascript:alert(1))", "```", "<!-- ", "-->", "# heading", "| a | b |",
    "#[fg=red]", "#(touch /tmp/x)", "#{pane_pid}", "%{F#f00}",
)  # fmt: skip
HTML = (
    f"<script>window.{WITNESS}=1</script>",
    f"<img src=x onerror=window.{WITNESS}=1>",
    f"<svg onload=window.{WITNESS}=1>",
    f"\"><script>window.{WITNESS}=1</script>",
    f"' onmouseover='window.{WITNESS}=1",
    f"<iframe srcdoc=\"<script>parent.{WITNESS}=1</script>\">",
    f"javascript:window.{WITNESS}=1",
    f"data:text/html,<script>parent.{WITNESS}=1</script>",
    f"<details open ontoggle=window.{WITNESS}=1>",
    f"<math><mtext><script>window.{WITNESS}=1</script>",
    f"</title><script>window.{WITNESS}=1</script>",
    f"</script><script>window.{WITNESS}=1</script>",
    "<style>*{display:none}</style>",
    "<base href=http://127.0.0.1:9/>",
    "<meta http-equiv=refresh content=0;url=http://127.0.0.1:9/>",
    "<form action=http://127.0.0.1:9/><button>",
    "<link rel=stylesheet href=http://127.0.0.1:9/x.css>",
    "<b>bold</b><h1>", "&lt;b&gt;", "&#x202e;", "&nbsp;&zwj;", "<!--", "]]>",
    "url(http://127.0.0.1:9/x)", "expression(alert(1))",
)  # fmt: skip
TEMPLATES = (
    "{{7*7}}",
    "${7*7}",
    "#{7*7}",
    "<%= 7*7 %>",
    "{0.__class__}",
    "%(name)s",
    "%n%s%x",
    "{name!r}",
    "`${1}`",
)
SHELL = (
    "$(touch /tmp/x)",
    "`id`",
    "; rm -rf ~",
    "| sh",
    "&& curl x",
    "'\"'\"'",
    "-rf",
    "--json",
    "\\",
    "$IFS",
    "!!",
)
DATA = (
    '"}', '\\"', "\\u0000", "\\ud800", "\ud83d", "\udfff", "__proto__", "constructor", "NaN", "null", "-0", "1e999",
    "\ufffe", "\uffff", "\U0010ffff", "\ue000", '{"error": {"code": "x"}}', "data: x\n\nevent: snapshot", "id: 1",
)  # fmt: skip

FAMILIES: dict[str, tuple[str, ...]] = {
    "terminal": TERMINAL,
    "bidi": BIDI,
    "unseen": UNSEEN,
    "lines": LINES,
    "markup": MARKUP,
    "html": HTML,
    "templates": TEMPLATES,
    "shell": SHELL,
    "data": DATA,
}

_WORD = re.compile(r"w[0-9]{4}")
_OBEYED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


@cache
def hostile(count: int = COUNT, seed: int = 7) -> tuple[str, ...]:
    """So many strings: every payload of every family alone first, then mixtures."""
    return tuple(string for _, string in zip(range(count), _strings(seed), strict=False))


def _strings(seed: int) -> Iterator[str]:
    chance, number = random.Random(seed), 0
    payloads = [payload for family in FAMILIES.values() for payload in family]
    for payload in payloads:
        yield _around(payload, number, chance)
        number += 1
    families = list(FAMILIES.values())
    while True:
        parts = [chance.choice(chance.choice(families)) for _ in range(chance.randint(2, 4))]
        yield _around(chance.choice(("", " ", "-")).join(parts), number, chance)
        number += 1


def _around(payload: str, number: int, chance: random.Random) -> str:
    word = f"w{number:04}"
    return chance.choice((f"{word}{payload}", f"{payload}{word}", f"{payload}{word}{payload}"))


def word_of(string: str) -> str:
    found = _WORD.search(string)
    assert found is not None
    return found.group()


def traces(shown: str, *, lines: bool = True) -> list[str]:
    """What a terminal or a layout engine would obey in that output. `lines`: our own line ends are fine."""
    return [
        f"U+{ord(sign):04X} at {at}"
        for at, sign in enumerate(shown)
        if not (lines and sign == "\n") and (unicodedata.category(sign) in _OBEYED or sign in _BLANKS)
    ]


def filled(value: Any, string: str) -> Any:
    """The same document with every string in it replaced: fields that we did not think of are hostile, too."""
    if isinstance(value, str):
        return string
    if isinstance(value, dict):
        return {key: filled(each, string) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, string) for each in value]
    return value
