"""Fixtures of the real CLI: installed once, one API for all, a home and a daemon of its own for each test.

Rules of this file
  1. Where the CLI cannot be installed the tests are skipped, and the run says so in one visible line.
  2. Every figure that a test took is printed at the end.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rig.fake_apis.anthropic_messages import FakeAnthropic
from tests.rig.real_agents.claude import NEWEST, OLDER, Claude, installed
from tests.rig.real_agents.cli_with_daemon import FIGURES, Stage, stage, sweep

ALLOWED = ("Bash", "Agent", "Read")
FEW_RETRIES = {"CLAUDE_CODE_MAX_RETRIES": "1"}
MISSING: list[str] = []
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.real)


def there_or_skipped(cli: str, programs: Path | None) -> Path:
    """Where the CLI is installed."""
    if programs is None:
        MISSING.append(cli)
        pytest.skip(f"{cli} cannot be installed here")
    return programs


@pytest.fixture(scope="session")
def programs() -> Path:
    return there_or_skipped(f"Claude Code {NEWEST}", installed(NEWEST))


@pytest.fixture(scope="session")
def older_programs() -> Path:
    return there_or_skipped(f"Claude Code {OLDER}", installed(OLDER))


def prepared(programs: Path, api: FakeAnthropic, place: Path) -> Iterator[Claude]:
    made = Claude(programs, api.url, place, FEW_RETRIES)
    made.prepare(allow=ALLOWED)
    yield made
    sweep(made)


@pytest.fixture(scope="session")
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as serving:
        yield serving


@pytest.fixture
def claude(programs: Path, api: FakeAnthropic, tmp_path: Path) -> Iterator[Claude]:
    yield from prepared(programs, api, tmp_path)


@pytest.fixture
def older(older_programs: Path, api: FakeAnthropic, tmp_path: Path) -> Iterator[Claude]:
    yield from prepared(older_programs, api, tmp_path)


@pytest.fixture
def bare(claude: Claude, tmp_path: Path) -> Iterator[Stage]:
    """No hooks at all."""
    with stage(claude, tmp_path) as made:
        yield made


@pytest.fixture
def hooked(claude: Claude, tmp_path: Path) -> Iterator[Stage]:
    """With our hooks, installed by the command line."""
    with stage(claude, tmp_path) as made:
        made.hooks("install")
        yield made


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands what it has to say to the run that started it."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None:
        told.update(missing=MISSING, figures=dict(FIGURES))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    told = getattr(node, "workeroutput", {})
    MISSING.extend(told.get("missing", ()))
    for what, taken in told.get("figures", {}).items():
        FIGURES.setdefault(what, []).extend(taken)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for missing in dict.fromkeys(MISSING):
        terminalreporter.write_line(
            f"tests/real: NOT RUN: {missing} could not be installed with npm on this machine",
            yellow=True,
        )
    if FIGURES:
        terminalreporter.write_line("tests/real: figures of the real CLI, median (highest)")
        for what, taken in FIGURES.items():
            ordered = sorted(taken)
            middle, most = ordered[len(ordered) // 2], ordered[-1]
            terminalreporter.write_line(
                f"  {what}: {middle * 1000:.0f} ms ({most * 1000:.0f} ms, n={len(taken)})"
            )
