"""Collisions without claims, by real hooks in real repositories."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import inside, outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

MakeAgent = Callable[..., Agent]


def asks(agent: Agent, daemon: Daemon, path: str, event: str = "PreToolUse") -> None:
    agent.hook(
        daemon.mailbox, event, tool_name="Edit", tool_input={"file_path": path, "old_string": "SECRET"}
    )


def edits(agent: Agent, daemon: Daemon, path: str) -> None:
    asks(agent, daemon, path)
    asks(agent, daemon, path, "PostToolUse")


def alarms(daemon: Daemon, agent: Agent) -> list[str]:
    return list(daemon.session(conversation=agent.conversation)["alarms"])


def test_two_agents_that_edit_one_file_are_shown_with_the_file_and_a_death_clears_it(
    daemon: Daemon, agent: MakeAgent, tmp_path: Path
) -> None:
    first, second = agent(), agent()
    one, other = settled(first, daemon, session_title="auth-refactor"), settled(second, daemon)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    edits(first, daemon, f"{tmp_path}/real/a.py")
    edits(second, daemon, f"{tmp_path}/link/a.py")
    (told,) = eventually(lambda: alarms(daemon, second))
    assert told == f"also edited by {one[:4]} auth-refactor: {tmp_path}/real/a.py"
    (told,) = alarms(daemon, first)
    assert other[:4] in told and f"{tmp_path}/real/a.py" in told
    assert f"! also edited by {one[:4]} auth-refactor" in outside(daemon, "ps").out
    history = daemon.get("/v1/history?type=alarm.raised")["events"]
    assert {event["session"]["id"] for event in history} == {one, other}
    first.kill()
    eventually(lambda: alarms(daemon, second) == [])


def test_who_is_about_to_edit_is_told_before_and_a_turn_that_ends_without_the_edit_clears_it(
    daemon: Daemon, agent: MakeAgent, tmp_path: Path
) -> None:
    first, second = agent(), agent()
    mine, _ = settled(first, daemon), settled(second, daemon)
    path = f"{tmp_path}/f.py"
    edits(first, daemon, path)
    asks(second, daemon, path)
    eventually(lambda: alarms(daemon, second) == [f"also edited by {mine[:4]} claude-code: {path}"])
    second.hook(daemon.mailbox, "Stop")  # its user said no
    eventually(lambda: alarms(daemon, second) == alarms(daemon, first) == [])
    edits(second, daemon, path)
    second.hook(daemon.mailbox, "Stop")
    eventually(lambda: daemon.session(conversation=second.conversation)["activity"] == "done")
    assert alarms(daemon, second) and alarms(daemon, first), "what was made stays made"


@pytest.mark.parametrize("end", ["PermissionDenied", "PostToolUseFailure"])
def test_an_edit_that_was_denied_or_failed_alarms_nobody_until_one_is_made(
    daemon: Daemon, agent: MakeAgent, tmp_path: Path, end: str
) -> None:
    holder, denied = agent(), agent()
    mine, others = settled(holder, daemon), settled(denied, daemon)
    path = f"{tmp_path}/f.py"
    assert inside(holder, daemon, "claim", f"path:{path}").code == 0
    for _ in range(2):
        asks(denied, daemon, path)
        asks(denied, daemon, path, end)
    edits(holder, daemon, path)
    edits(holder, daemon, f"{tmp_path}/last.py")
    edits(denied, daemon, f"{tmp_path}/last.py")  # who edits one is told: by then all before it was heard
    (told,) = eventually(lambda: alarms(daemon, holder))
    assert told == f"also edited by {others[:4]} claude-code: {tmp_path}/last.py"
    assert [each.partition(": ")[2] for each in alarms(daemon, denied)] == [f"{tmp_path}/last.py"]
    edits(denied, daemon, path)  # with the next one it is true
    eventually(lambda: f"also edited by {mine[:4]} claude-code: {path}" in alarms(daemon, denied))


def test_two_at_work_in_one_worktree_are_told_and_its_other_worktree_is_not(
    daemon: Daemon, agent: MakeAgent, tmp_path: Path
) -> None:
    place = tmp_path / "web"
    place.mkdir()
    git = ["git", "-C", str(place), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", "-b", "main", str(place)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", "-b", "i18n", str(tmp_path / "web-i18n")], check=True)
    (place / "src").mkdir()
    first, second = agent(cwd=place), agent(cwd=place / "src")
    apart = agent(cwd=tmp_path / "web-i18n")
    one = settled(first, daemon)
    settled(second, daemon)
    settled(apart, daemon)
    (told,) = eventually(lambda: alarms(daemon, second))
    assert told == f"also at work in web@main ({place}): {one[:4]} claude-code"
    assert alarms(daemon, apart) == []


def test_a_path_is_kept_in_no_store_unless_it_is_in_an_alarm(
    daemon: Daemon, agent: MakeAgent, tmp_path: Path
) -> None:
    one = agent()
    settled(one, daemon)
    path = "/somewhere/quite/long/and/secret/enough/to/be/cut/from/a/label/of/eighty/characters/a.py"
    asks(one, daemon, path)
    eventually(lambda: daemon.session(conversation=one.conversation)["doing"])
    asks(one, daemon, path, "PostToolUse")
    eventually(lambda: not daemon.session(conversation=one.conversation)["doing"])
    daemon.stop()
    kept = b"".join(path.read_bytes() for path in daemon.home.glob("headcount.db*"))
    assert path.encode() not in kept
    assert b"SECRET" not in kept
