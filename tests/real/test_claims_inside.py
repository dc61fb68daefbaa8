"""Claims in the hands of the real CLI: its shell tool claims, the guard denies its edits, a resume is told."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import command, environment, outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.fake_apis.anthropic_messages import FakeAnthropic
from tests.rig.fake_apis.scripted_api import script
from tests.rig.real_agents.claude import Claude, installed

pytestmark = pytest.mark.real

CONVERSATION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture(scope="module")
def programs() -> Path:
    there = installed()
    if there is None:
        pytest.skip("Claude Code cannot be installed here")
    return there


@pytest.fixture
def cli(programs: Path, daemon: Daemon, tmp_path: Path) -> Iterator[Claude]:
    with FakeAnthropic() as api:
        extra = {name: daemon.env[name] for name in ("HEADCOUNT_HOME", "PYTHONPATH") if name in daemon.env}
        made = Claude(programs, api.url, tmp_path / "claude", extra)
        made.place.mkdir()
        made.prepare(allow=("Bash", "Write", "Edit", "Read"))
        env = {**environment(daemon), "HOME": str(made.home), "HEADCOUNT_HOME": str(daemon.home)}
        env.pop("CLAUDE_CONFIG_DIR", None)
        subprocess.run(command("hooks", "install", "--guard", "--context"), env=env, check=True)
        yield made


def headcount(*words: str) -> str:
    return shlex.join(command(*words))


def transcript(cli: Claude) -> str:
    return "".join(path.read_text() for path in cli.root.glob("projects/*/*.jsonl"))


def test_a_claim_by_the_shell_tool_is_the_agents_and_ends_with_it(cli: Claude, daemon: Daemon) -> None:
    claimed = cli.project / "claimed.json"
    steps = script(
        {"bash": f"{headcount('claim', 'task:A', '--json')} >{claimed}"},
        {"bash": f"{headcount('whoami', '--json')} >{cli.project}/me.json"},
        {"say": "done"},
    )
    cli.run_print(steps, "--session-id", CONVERSATION)
    answer, me = json.loads(claimed.read_text()), json.loads((cli.project / "me.json").read_text())
    assert answer["granted"] is True and answer["holder"]["pid"] == me["pid"]
    assert me["conversation"] == CONVERSATION and me["resolved_by"] == "peer"
    eventually(lambda: not daemon.get("/v1/claims")["claims"])
    released = daemon.get("/v1/history?type=claim.released")["events"]
    assert [event["because"] for event in released] == ["died"]


def test_the_guard_denies_an_edit_of_a_claimed_file_and_lets_others_through(
    cli: Claude, daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    wanted, free = cli.project / "claimed.txt", cli.project / "free.txt"
    other = agent()
    settled(other, daemon)
    for path in (wanted, free):
        other.hook(daemon.mailbox, "PostToolUse", tool_name="Edit", tool_input={"file_path": str(path)})
    holding = subprocess.Popen(
        command("hold", f"path:{wanted}", "--", "sh", "-c", "echo; exec sleep 300"),
        env=environment(daemon),
        stdout=subprocess.PIPE,
    )
    try:
        assert holding.stdout is not None and holding.stdout.readline()
        steps = script(
            {"use": ["Write", {"file_path": str(wanted), "content": "x"}]},
            {"use": ["Write", {"file_path": str(free), "content": "x"}]},
            {"say": "done"},
        )
        cli.run_print(steps)
    finally:
        holding.kill()
        holding.communicate()
    assert not wanted.exists() and free.exists()
    assert f"Held by process {holding.pid}" in transcript(cli)
    raised = eventually(lambda: daemon.get("/v1/history?type=alarm.raised")["events"])
    assert {free.name in str(event) for event in raised} == {True}  # of the edit that was made
    assert wanted.name not in str(raised)  # and of none that was denied


def test_a_resumed_conversation_reads_what_it_held_and_has_it_only_by_asking(
    cli: Claude, daemon: Daemon
) -> None:
    """A new process is a new holder: the old fence is stale in its hands, and its own is higher."""
    said = {name: cli.project / f"{name}.json" for name in ("first", "listed", "checked", "again")}
    cli.run_print(
        script({"bash": f"{headcount('claim', 'task:A', '--json')} >{said['first']}"}, {"say": "done"}),
        "--session-id",
        CONVERSATION,
    )
    first = json.loads(said["first"].read_text())
    eventually(lambda: not daemon.get("/v1/claims")["claims"])
    steps = script(
        {"bash": f"{headcount('claims', '--json')} >{said['listed']}"},
        {"bash": f"{headcount('check', 'task:A', str(first['fence']))}; echo $? >{said['checked']}"},
        {"bash": f"{headcount('claim', 'task:A', '--json')} >{said['again']}"},
        {"say": "again"},
    )
    cli.run_print(steps, "--resume", CONVERSATION)
    assert "task:A: free. To go on with it: headcount claim task:A" in transcript(cli)
    assert json.loads(said["listed"].read_text())["claims"] == []
    assert said["checked"].read_text().strip() == "3"
    again = json.loads(said["again"].read_text())
    assert again["granted"] and again["fence"] > first["fence"]
    assert again["holder"]["conversation"] == first["holder"]["conversation"] == CONVERSATION
    assert again["holder"]["pid"] != first["holder"]["pid"]
    assert again["holder"]["session"] != first["holder"]["session"]


def test_without_a_daemon_the_agent_works_and_reads_nothing_of_us(cli: Claude, daemon: Daemon) -> None:
    daemon.stop()
    place = cli.project / "free.txt"
    steps = script({"use": ["Write", {"file_path": str(place), "content": "x"}]}, {"say": "done"})
    out = cli.run_print(steps)
    assert place.exists() and "done" in out and "headcount" not in out
    assert not os.path.exists(daemon.socket)
    assert outside(daemon, "status").code == 4
