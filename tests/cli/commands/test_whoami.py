"""Who cannot be told apart is told what is in the way and what to do: real daemon, real agents, real shells."""

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import Said, command, environment, settled, shell
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

UNSET = "unset HEADCOUNT_TOKEN_FILE"
WHOAMI = ((), ("--json",), ("--explain",), ("--explain", "--json"))


@pytest.fixture
def token_file(daemon: Daemon, tmp_path: Path) -> Iterator[str]:
    """Of a living session that is not above whoever carries it."""
    script = f'echo "$HEADCOUNT_TOKEN_FILE" >{tmp_path}/where; exec sleep 60'
    words = command("launch", "--agent", "my-bot", "--name", "other", "--", "sh", "-c", script)
    with subprocess.Popen(words, env=environment(daemon)) as launched:
        where = tmp_path / "where"
        yield eventually(lambda: where.exists() and where.read_text().strip())
        launched.kill()


def in_shell(daemon: Daemon, script: str, **more: str) -> tuple[int, Said]:
    """What a person's shell with that in its environment runs, and its pid; `true` keeps it from being replaced."""
    started = subprocess.Popen(
        ["sh", "-c", f"{script}; code=$?; true; exit $code"],
        env={**environment(daemon), **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out, err = started.communicate(timeout=60)
    return started.pid, Said(started.returncode, out, err)


def test_an_agent_with_another_sessions_token_learns_who_says_what_and_how_to_be_rid_of_it(
    daemon: Daemon, agent: Callable[..., Agent], token_file: str
) -> None:
    claude = agent()
    session = settled(claude, daemon)[:4]
    foreign = f"env HEADCOUNT_TOKEN_FILE={shlex.quote(token_file)} "
    refused = shell(claude, daemon, foreign + shlex.join(command("claim", "task:A")))
    assert refused.code == 3 and f"Next: {UNSET}." in refused.err
    explained = shell(claude, daemon, foreign + shlex.join(command("whoami", "--explain"))).out.splitlines()
    assert explained[0].startswith(
        f"Not clear who you are: the kernel says {session}, but the token is another"
    )
    assert explained[1] == f"Next: {UNSET}"
    assert shell(claude, daemon, shlex.join(command("claim", "task:A"))).code == 0, (
        "without it, it is who it is"
    )


def test_whoami_exits_alike_with_and_without_its_reasons(
    daemon: Daemon, agent: Callable[..., Agent], token_file: str
) -> None:
    claude = agent()
    settled(claude, daemon)
    foreign = f"env HEADCOUNT_TOKEN_FILE={shlex.quote(token_file)} "
    said = {words: shell(claude, daemon, foreign + shlex.join(command("whoami", *words))) for words in WHOAMI}
    assert {each.code for each in said.values()} == {3}
    assert json.loads(said[("--explain", "--json")].out)["way_out"] == UNSET
    inside = {shell(claude, daemon, shlex.join(command("whoami", *words))).code for words in WHOAMI}
    assert inside == {0}
    assert {in_shell(daemon, shlex.join(command("whoami", *words)))[1].code for words in WHOAMI} == {5}


def test_a_person_who_set_a_foreign_token_is_told_to_unset_it(daemon: Daemon, token_file: str) -> None:
    hold = shlex.join(command("hold", "task:A", "--", "true"))
    set_here = f"export HEADCOUNT_TOKEN_FILE={shlex.quote(token_file)}; "
    _pid, refused = in_shell(daemon, set_here + hold)
    assert refused.code == 3 and f"Next: {UNSET}." in refused.err
    assert in_shell(daemon, f"{set_here}{UNSET}; {hold}")[1].code == 0


def test_a_shell_that_was_started_with_a_foreign_token_is_told_to_leave_it_since_unsetting_does_not_help(
    daemon: Daemon, token_file: str
) -> None:
    hold = shlex.join(command("hold", "task:A", "--", "true"))
    for script in (hold, f"{UNSET}; {hold}"):
        pid, refused = in_shell(daemon, script, HEADCOUNT_TOKEN_FILE=token_file)
        assert refused.code == 3 and f"Next: use a shell that pid {pid} did not start." in refused.err


def test_a_stale_mark_of_an_agent_is_named(daemon: Daemon) -> None:
    whoami = shlex.join(command("whoami"))
    _pid, refused = in_shell(daemon, f"export CLAUDE_CODE_SESSION_ID=gone CLAUDE_PID=1; {whoami}")
    assert refused.code == 3 and "Next: unset CLAUDE_CODE_SESSION_ID CLAUDE_PID." in refused.err
