"""Every constant of time is in times.py, with its reason.

Rules of this file
  1. A number is a time when it is given to something that waits, when its name says so, or when it is a
     length that only times have (an hour, a day).
  2. Nought is not a length of time: "do not wait" may be written anywhere.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from headcount import times
from tests.rules.source import SRC, called, modules, short, tree

WAITS = frozenset({
    "sleep", "wait", "wait_for", "timeout", "timeout_at", "call_later", "settimeout", "select", "poll", "join",
    "timedelta", "fromtimestamp", "alarm", "setitimer",
})  # fmt: skip
WORDS = re.compile(
    r"(^|_)(timeout|within|delay|interval|every|seconds?|minutes?|hours?|days?|retention|grace|ttl|deadline)(_|$)"
)
ONLY_TIMES = frozenset({3_600, 86_400, 604_800, 2_592_000})
NOT_TIMES = frozenset({
    "retention_days",  # a setting in days, whose default is made from times.RETENTION
    "LOOK_AT_EVERY",  # every so many reports, not every so many seconds
})  # fmt: skip


def numbers(node: ast.AST) -> Iterator[ast.Constant]:
    """Numbers that are part of the value itself: not an index, not an argument of a further call."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, int | float) and not isinstance(node.value, bool) and node.value:
            yield node
    elif not isinstance(node, ast.Subscript | ast.Lambda | ast.Call | ast.Compare):
        for child in ast.iter_child_nodes(node):
            yield from numbers(child)


def is_time(name: str) -> bool:
    return WORDS.search(name.lower()) is not None


def literals_of_time(source: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(source):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value in ONLY_TIMES:
            yield node.lineno, f"the number {node.value}"
        if isinstance(node, ast.Call):
            if called(node) in WAITS:
                yield from (
                    (each.lineno, f"{called(node)}({each.value})")
                    for arg in node.args
                    for each in numbers(arg)
                )
            for keyword in node.keywords:
                if is_time(keyword.arg or ""):
                    yield from (
                        (each.lineno, f"{keyword.arg}={each.value}") for each in numbers(keyword.value)
                    )
        for name, value in named(node):
            if is_time(name) and name not in NOT_TIMES:
                yield from ((each.lineno, f"{name} = {each.value}") for each in numbers(value))


def named(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names that are given a value: by assignment, or as the default of a parameter."""
    if isinstance(node, ast.Assign):
        yield from ((each.id, node.value) for each in node.targets if isinstance(each, ast.Name))
    elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        yield node.target.id, node.value
    elif isinstance(node, ast.arguments):
        plain = [*node.posonlyargs, *node.args]
        yield from zip(
            [each.arg for each in plain[len(plain) - len(node.defaults) :]], node.defaults, strict=True
        )
        yield from (
            (each.arg, value)
            for each, value in zip(node.kwonlyargs, node.kw_defaults, strict=True)
            if value is not None
        )


def test_no_literal_of_time_stands_outside_times_py() -> None:
    found = [
        f"{short(path)}:{line}: {what}"
        for path in modules()
        if path != SRC / "times.py"
        for line, what in literals_of_time(tree(path))
    ]
    assert found == [], "move the number into times.py and say there why it has its value"


@pytest.mark.parametrize(
    "text",
    [
        "time.sleep(5)",
        "await asyncio.wait_for(task, 2.5)",
        "sock.settimeout(30)",
        "loop.call_later(0.1, go)",
        "subprocess.run(argv, timeout=10)",
        "poll(every=2 * 5)",
        "GRACE_SECONDS = 90",
        "STALE_TTL: Final = 15 * 60",
        "def watch(self, within: float = 3.0): ...",
        "def watch(self, *, poll_interval=5): ...",
        "age > 86400",
        "select.select([fd], [], [], 0.2)",
    ],
)
def test_the_ways_in_which_other_tools_wrote_a_time_are_all_seen(text: str) -> None:
    assert list(literals_of_time(ast.parse(text))) != []


@pytest.mark.parametrize(
    "text",
    [
        "time.sleep(times.POLL_EVERY)",
        "select.select([fd], [], [], 0)",
        "run(argv, timeout=None)",
        "', '.join(words[:6])",
        "SIZE_MOST = 2 * 1024 * 1024",
        "wait(deadlines[0])",
    ],
)
def test_what_is_no_literal_of_time_is_left_alone(text: str) -> None:
    assert list(literals_of_time(ast.parse(text))) == []


def test_every_constant_says_why_it_has_its_value() -> None:
    """One reason may stand below a few constants that belong together."""
    body = tree(SRC / "times.py").body
    without: list[str] = []
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            without.append(node.target.id)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            reason = str(node.value.value)
            assert len(reason.split()) >= 6, f"{without}: {reason!r} is no reason"
            without.clear()
    assert without == []
    assert all(value >= 0 for name, value in vars(times).items() if name.isupper())
