"""Agents behind mounts: one file is one claim whatever it is called, and two files of one name are two."""

import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headcount.agents.installing.hook_line_asks_daemon import GUARD
from tests.daemon.intake.test_collisions import alarms, edits
from tests.daemon.routes.test_guard_and_context import asked, edit
from tests.rig.agents.commands_inside import inside, outside, settled, shell
from tests.rig.agents.in_bwrap import Bind, Sandboxed, needs_bwrap
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = needs_bwrap

MakeAgent = Callable[..., Agent]
MakeSandboxed = Callable[..., Sandboxed]


@pytest.fixture
def sandboxed(tmp_path: Path) -> Iterator[MakeSandboxed]:
    made: list[Sandboxed] = []

    def make(works_in: Path, *binds: Bind, more: tuple[str, ...] = ()) -> Sandboxed:
        made.append(Sandboxed(tmp_path / "agents", works_in, *binds, more=more))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def repos(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Two checkouts, and a place that is a third one on the host and one of the two inside a sandbox."""
    found = []
    for name in ("one", "other", "workspace"):
        top = tmp_path / name
        subprocess.run(["git", "init", "-q", "-b", f"branch-of-{name}", top], check=True)
        (top / "f.txt").write_text(name)
        found.append(top)
    return found[0], found[1], found[2]


def row(daemon: Daemon, agent: Agent) -> dict[str, object]:
    return daemon.session(conversation=agent.conversation)


def test_two_checkouts_under_one_name_raise_no_alarm_and_show_no_branch_of_the_host(
    daemon: Daemon, sandboxed: MakeSandboxed, agent: MakeAgent, repos: tuple[Path, Path, Path]
) -> None:
    one, other, place = repos
    first, second = sandboxed(place, (one, place)), sandboxed(place, (other, place))
    host = agent(cwd=place)
    for each in (first, second, host):
        settled(each, daemon)
        edits(each, daemon, f"{place}/f.txt")
    eventually(lambda: row(daemon, host)["branch"] == "branch-of-workspace")
    for each in (first, second):
        found = row(daemon, each)
        assert (found["repo"], found["branch"], found["alarms"]) == (None, None, [])
        assert str(found["cwd"]).startswith("ns-") and str(found["cwd"]).endswith(f":{place}")
    assert alarms(daemon, host) == []
    listed = [line for line in outside(daemon, "ps").out.splitlines() if "branch-of-workspace" in line]
    assert len(listed) == 1, listed


def test_an_agent_behind_mounts_and_one_on_the_host_are_alarmed_for_a_file_that_both_see_by_one_name(
    daemon: Daemon, sandboxed: MakeSandboxed, agent: MakeAgent, repos: tuple[Path, Path, Path]
) -> None:
    one, other, place = repos
    inner, host = sandboxed(other, (one, place)), agent(cwd=other)
    for each in (inner, host):
        settled(each, daemon)
        edits(each, daemon, f"{other}/f.txt")
    eventually(lambda: any(f"{other}/f.txt" in each for each in alarms(daemon, host)))
    assert row(daemon, inner)["cwd"] == str(other)
    eventually(lambda: row(daemon, inner)["branch"] == "branch-of-other")


@pytest.mark.skipif(os.getuid() != 0, reason="entering a namespace needs root")
def test_two_agents_in_one_namespace_are_alarmed_for_one_file(
    daemon: Daemon, sandboxed: MakeSandboxed, repos: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    one, _, place = repos
    first = sandboxed(place, (one, place))
    with Sandboxed(tmp_path / "agents", place, enter=first) as second:
        for each in (first, second):
            settled(each, daemon)
            edits(each, daemon, f"{place}/f.txt")
        eventually(lambda: alarms(daemon, first) and alarms(daemon, second))


def test_one_file_is_one_claim_where_it_has_one_name_and_is_refused_by_another(
    daemon: Daemon, sandboxed: MakeSandboxed, agent: MakeAgent, repos: tuple[Path, Path, Path]
) -> None:
    one, _, place = repos
    inner, host = sandboxed(place, (one, place)), agent()
    settled(inner, daemon), settled(host, daemon)
    for item in (f"path:{place}/f.txt", f"path:{place}/**", f"path:{place}/not/yet.txt", "path:f.txt"):
        said = inside(inner, daemon, "claim", item, cwd=place)
        assert said.code == 3 and "is not the same file for you as on the host" in said.err, (item, said)
        assert f":{place}" in said.err and "Traceback" not in said.err
    assert inside(inner, daemon, "claim", f"path:{one}/f.txt").code == 0, "the same name and the same file"
    assert inside(host, daemon, "claim", f"path:{one}/**").code == 3
    assert inside(host, daemon, "claim", f"path:{place}/**").code == 0
    assert inside(inner, daemon, "claim", f"path:{one}/new/file.txt").code == 0, (
        "the directory above is the same"
    )
    assert inside(inner, daemon, "release", f"path:{one}/f.txt").code == 0


def test_the_guards_deny_what_is_held_and_not_what_only_has_its_name(
    daemon: Daemon, sandboxed: MakeSandboxed, agent: MakeAgent, repos: tuple[Path, Path, Path]
) -> None:
    one, _, place = repos
    inner, host = sandboxed(place, (one, place)), agent()
    settled(inner, daemon), settled(host, daemon)
    assert inside(host, daemon, "claim", f"path:{place}/**").code == 0
    assert inside(host, daemon, "claim", f"path:{one}/g.txt").code == 0
    assert asked(inner, daemon, GUARD, edit(inner, f"{place}/f.txt")) == ""
    assert '"deny"' in asked(inner, daemon, GUARD, edit(inner, f"{one}/g.txt"))
    question = (
        "curl -s --unix-socket {} -H 'Content-Type: application/json' -d {} http://localhost/v1/guard/git"
    )
    body = f'{{"paths": ["{place}/f.txt", "{one}/g.txt"]}}'
    said = shell(inner, daemon, question.format(shlex.quote(str(daemon.socket)), shlex.quote(body)))
    assert f"path:{one}/g.txt" in said.out and f"path:{place}" not in said.out


def test_an_agent_in_a_pid_namespace_shows_no_branch_of_the_host_either(
    daemon: Daemon, sandboxed: MakeSandboxed, repos: tuple[Path, Path, Path]
) -> None:
    one, _, place = repos
    inner = sandboxed(place, (one, place), more=("--unshare-pid", "--proc", "/proc"))
    inner.hook(daemon.mailbox, "SessionStart", source="startup")
    inner.hook(daemon.mailbox, "Stop")
    found = eventually(lambda: daemon.sessions(conversation=inner.conversation, activity="done"))[0]
    assert found["branch"] is None and found["cwd"] == f"ns-?:{place}"
    assert "branch-of-workspace" not in outside(daemon, "ps").out


def test_what_a_registered_and_ended_agent_of_a_sandbox_did_is_not_looked_for_on_the_host(
    daemon: Daemon, sandboxed: MakeSandboxed, repos: tuple[Path, Path, Path]
) -> None:
    one, _, place = repos
    inner = sandboxed(place, (one, place))
    id = settled(inner, daemon)
    inner.kill()
    inner_row = eventually(lambda: daemon.sessions(id=id, liveness="ended"))[0]
    assert str(inner_row["cwd"]).startswith("ns-")
    said = outside(daemon, "resume", id[:4], "--print")
    assert said.code == 3 and "cd " not in said.out, said
    assert f"{place}" not in outside(daemon, "leftovers").out


def test_a_report_that_is_read_after_its_process_ended_keeps_the_hosts_directory(
    daemon: Daemon, agent: MakeAgent, repos: tuple[Path, Path, Path]
) -> None:
    gone = agent(cwd=repos[0])
    daemon.stop()
    gone.hook(daemon.mailbox, "SessionStart", source="startup")
    gone.kill()
    daemon.ready()
    found = eventually(lambda: daemon.sessions(conversation=gone.conversation))[0]
    assert found["cwd"] == str(repos[0]) and found["resume"]
