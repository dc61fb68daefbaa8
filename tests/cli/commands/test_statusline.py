"""The status line: a few characters that never hurt whoever waits for them."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount import times
from headcount.present import session_words
from headcount.present.summary import MARKS, glance
from tests.rig.agents.commands_inside import outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon

MakeAgent = Callable[..., Agent]


def test_marks_are_those_of_the_rows() -> None:
    for activity, mark, plain in MARKS:
        group = session_words.group_of({"liveness": "alive", "activity": activity})
        assert (mark, plain) == (session_words.MARKS[group], session_words.ASCII_MARKS[group])
    groups = [session_words.group_of({"liveness": "alive", "activity": activity}) for activity, _, _ in MARKS]
    order = [session_words.GROUPS.index(group) for group in groups]
    assert order == sorted(order)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"waiting": 2, "failed": 1, "done": 1, "working": 3, "idle": 9, "unknown": 1}, "▲2 ■1 ✓1 ●3 ?1"),
        ({"unknown": 6}, "?6"),
        ({"idle": 4}, ""),
        ({}, ""),
        ({"working": 1}, "●1"),
    ],
)
def test_what_is_nought_is_left_out(counts: dict[str, int], expected: str) -> None:
    assert glance(counts) == expected
    assert glance(counts, unicode=False).isascii()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")
def test_it_counts_what_the_daemon_counts(daemon: Daemon, agent: MakeAgent) -> None:
    settled(agent(), daemon)
    said = outside(daemon, "statusline", "--json")
    found = json.loads(said.out)
    assert found["counts"].get("working", 0) >= 1 and "●" in found["text"]


def test_without_a_daemon_it_says_nothing_and_starts_none(tmp_path: Path) -> None:
    said = run(tmp_path)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_a_deaf_daemon_is_not_waited_for(tmp_path: Path) -> None:
    """The whole call ends although nobody ever answers; the naive client waits for its five seconds."""
    deaf = socket.socket(socket.AF_UNIX)
    deaf.bind(str(tmp_path / "headcount.sock"))
    deaf.listen()
    try:
        before = time.monotonic()
        said = run(tmp_path)
        took = time.monotonic() - before
    finally:
        deaf.close()
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")
    assert times.STATUSLINE_WITHIN < times.CALL_WITHIN / 10 and took < 30


def run(home: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "headcount", "statusline"],
        env={**os.environ, "HEADCOUNT_HOME": str(home), "LANG": "C.UTF-8", "LC_ALL": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_it_imports_next_to_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['headcount', 'statusline']; from headcount.cli.main import main; main(); "
        "print(*sorted(name for name in ('argparse', 'msgspec', 'starlette', 'textual', 'asyncio', 'dataclasses') "
        "if name in sys.modules))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        env={"HEADCOUNT_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert said.stdout.strip() == "", said
