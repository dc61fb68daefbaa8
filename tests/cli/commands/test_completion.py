"""What a Tab offers in a real bash, with a real daemon behind it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount.agents.catalog import AGENTS
from headcount.cli.commands import completion
from headcount.cli.options import STATES, parsed
from headcount.core.values.events import EventType
from tests.rig.agents.commands_inside import command, environment, inside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

TAB = """
COMP_LINE=$1; COMP_POINT=${#1}
read -ra COMP_WORDS <<<"$1"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_headcount
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def tab(daemon: Daemon, tmp_path: Path) -> Callable[[str], list[str]]:
    """What bash would offer after that line."""
    there = tmp_path / "bin" / "headcount"
    there.parent.mkdir()
    there.write_text(f'#!/bin/sh\nexec {" ".join(command())} "$@"\n')
    there.chmod(0o755)
    env = environment(daemon)
    env["PATH"] = f"{there.parent}{os.pathsep}{env['PATH']}"

    def offered(line: str) -> list[str]:
        script = completion.STUBS["bash"] + TAB
        done = subprocess.run(
            ["bash", "-c", script, "bash", line], env=env, capture_output=True, text=True, timeout=60
        )
        assert done.stderr == ""
        return done.stdout.split()

    return offered


def test_a_tab_offers_states_types_sessions_and_held_items_where_each_belongs(
    daemon: Daemon, agent: Callable[..., Agent], tab: Callable[[str], list[str]]
) -> None:
    claude = agent()
    id = settled(claude, daemon, session_title="auth-refactor")
    for item in ("task:AUTH-12", "branch:api#main", "path:/src/**"):
        assert inside(claude, daemon, "claim", item).code == 0
    assert tab("headcount wait x --until ") == list(STATES)
    assert tab("headcount wait x --until w") == ["working", "waiting"]
    assert tab("headcount hooks install --agent ") == list(AGENTS)
    assert tab("headcount launch --agent o") == ["opencode"]
    assert tab("headcount log --type claim.") == ["claim.granted", "claim.released"]
    for line in ("headcount claim task:A --as ", "headcount release task:A --as ", "headcount show "):
        assert "auth-refactor" in tab(line) and any(id.startswith(word) for word in tab(line))
    for verb in ("release", "check", "handoff"):
        assert {"task:AUTH-12", "branch:api#main"} <= set(tab(f"headcount {verb} "))
    assert tab("headcount release t") == ["task:AUTH-12"]
    assert tab("headcount release task:AU") == ["AUTH-12"], "bash itself keeps what is before the colon"
    assert "path:/src/**" not in tab("headcount release "), "a shell would not take it as it is"
    assert tab("headcount claim --a") == ["--as"]
    assert tab("headcount rel") == ["release"]


def test_a_tab_without_a_daemon_offers_what_is_fixed_and_starts_nothing(
    daemon: Daemon, tab: Callable[[str], list[str]]
) -> None:
    daemon.stop()
    assert {"--force", "--as", "--json"} <= set(offered := tab("headcount release "))
    assert all(word.startswith("-") for word in offered)
    assert not daemon.socket.exists()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_offer_the_same(shell: str) -> None:
    def offered(line: str) -> list[str]:
        return completion.offers(shell, line.split(" "))

    assert offered("headcount wait x --until ") == list(STATES)
    assert offered("headcount log --type ") == [each.value for each in EventType]
    assert offered("headcount launch --agent ") == list(AGENTS)


def test_words_without_dashes_are_offered_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    args = parsed("completion", completion, ["bash", "--words"])
    assert completion.run(args) == 0  # type: ignore[arg-type]
    assert "claim" in capsys.readouterr().out.split()
