"""Which daemon a command uses: one of its own installation, with its own code, in namespaces that see its agents."""

import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.rig.daemon.installation import Installation
from tests.rig.daemon.real_daemon import eventually

BOX = ("bwrap", "--dev-bind", "/", "/", "--unshare-user", "--unshare-pid")
INSIDE = (*BOX, "--proc", "/proc")
WITHOUT_PROC = (*BOX, "--tmpfs", "/proc")


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Installation]:
    made = Installation(tmp_path, tmp_path / "home")
    yield made
    made.run("down")


def pid_of(installed: Installation) -> int:
    return int(json.loads(installed.run("status", "--json").out)["pid"])


def starts(installed: Installation) -> int:
    return (installed.home / "log" / "headcount.log").read_text().count(" is up: ")


def test_an_upgrade_in_place_replaces_the_daemon_and_keeps_a_claim(installed: Installation) -> None:
    installed.run("up")
    holder = subprocess.Popen(
        installed.command("hold", "task:A", "--", "sleep", "60"), env=installed.env, stdin=subprocess.DEVNULL
    )
    try:
        held = eventually(lambda: json.loads(installed.run("claims", "--json").out)["claims"])
        before, build = pid_of(installed), json.loads(installed.run("status", "--json").out)["build"]
        assert installed.run("ps").err == ""
        installed.upgrade("newer")
        assert "Restarted the daemon: it was of another build" in installed.run("ps").err
        assert pid_of(installed) != before
        assert json.loads(installed.run("status", "--json").out)["build"] != build
        assert json.loads(installed.run("claims", "--json").out)["claims"] == held
        assert installed.run("ps").err == ""
        assert holder.poll() is None
    finally:
        holder.terminate()
        holder.wait(10)


def test_callers_that_meet_an_older_daemon_at_once_replace_it_once(installed: Installation) -> None:
    installed.run("up")
    installed.upgrade("newer")
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda _: installed.run("ps", "--json"), range(4)))
    assert [each.code for each in said] == [0, 0, 0, 0], [each.err for each in said]
    assert starts(installed) == 2


LONG_LIVED = """
import json, os, subprocess, sys
from headcount.client.daemon_access import reach
def pid():
    client = reach(os.environ)
    try:
        return client.get("/healthz")["pid"]
    finally:
        client.close()
pid()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(json.dumps([pid(), pid()]))
"""


def test_a_program_that_began_before_an_upgrade_leaves_the_new_daemon_alone(installed: Installation) -> None:
    """Its own code is older than both: what counts is whether the daemon runs what is installed now."""
    installed.run("up")
    upgrade = "import pathlib, subprocess, sys; pathlib.Path(sys.argv[1]).open('a').write('# newer\\n')"
    upgrade += "; subprocess.run(sys.argv[2:])"
    times = str(installed.package / "times.py")
    words = [installed.python, "-c", upgrade, times, *installed.command("ps")]
    done = subprocess.run(
        [installed.python, "-c", LONG_LIVED, *words],
        env=installed.env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == [pid_of(installed)] * 2, done
    assert starts(installed) == 2


def test_an_editors_swap_file_is_no_upgrade(installed: Installation) -> None:
    installed.run("up")
    (installed.package / ".times.py.swp").write_text("x")
    assert installed.run("ps").err == ""


def test_another_installation_says_so_and_changes_nothing(installed: Installation, tmp_path: Path) -> None:
    installed.run("up")
    before = pid_of(installed)
    other = Installation(tmp_path / "other", installed.home)
    for verb in ("ps", "up"):
        said = other.run(verb)
        assert said.code == 0
        assert "of another installation" in said.err
        assert "headcount down, then headcount up" in said.err
    assert pid_of(installed) == before
    findings = json.loads(other.run("doctor", "--json").out)["findings"]
    assert any("another installation" in each["says"] for each in findings), findings


@pytest.mark.root
@pytest.mark.parametrize("box", [INSIDE, WITHOUT_PROC], ids=["with proc", "without proc"])
def test_first_use_in_a_sandbox_starts_nothing_in_a_home_of_the_host(
    installed: Installation, box: tuple[str, ...]
) -> None:
    installed.run("up")
    installed.run("down")
    for verb in ("ps", "up"):
        said = installed.run(verb, within=box)
        assert said.code == 4, said
        assert "sandbox or container" in said.err
        assert "HEADCOUNT_HOME=" in said.err
    assert starts(installed) == 1
    assert "was not running" in installed.run("down").out


@pytest.mark.root
def test_a_home_of_its_own_in_a_sandbox_just_works(installed: Installation) -> None:
    assert installed.run("ps", within=INSIDE).code == 0
    assert starts(installed) == 1


@pytest.mark.root
def test_a_container_that_is_started_again_keeps_its_home(installed: Installation) -> None:
    """A new pid namespace each time; with the same user namespace first use does, else `up` does."""
    again = ("unshare", "--pid", "--fork", "--mount-proc")
    assert installed.run("ps", within=again).code == 0
    assert installed.run("ps", within=again).code == 0
    assert starts(installed) == 2  # the first one ended with its namespace
    assert installed.run("ps", within=INSIDE).code == 4
    assert installed.run("up", within=INSIDE).code == 0


@pytest.mark.root
@pytest.mark.parametrize("box", [INSIDE, WITHOUT_PROC], ids=["with proc", "without proc"])
def test_a_daemon_in_a_sandbox_is_named_from_outside_and_replaced_by_up(
    installed: Installation, box: tuple[str, ...]
) -> None:
    """It outlives the command that started it, and sees none of the agents outside."""
    installed.run("ps", within=box)
    said = installed.run("ps")
    pid = pid_of(installed)
    assert os.readlink(f"/proc/{pid}/ns/pid") != os.readlink("/proc/self/ns/pid")
    assert f"The daemon (pid {pid}) runs in a sandbox or container" in said.err
    assert "headcount up" in said.err
    findings = json.loads(installed.run("doctor", "--json").out)["findings"]
    assert any(f"pid {pid} runs in a sandbox" in each["says"] for each in findings), findings
    assert f"Replaced the daemon (pid {pid})" in installed.run("up").err
    assert not Path(f"/proc/{pid}").exists()
    assert os.readlink(f"/proc/{pid_of(installed)}/ns/pid") == os.readlink("/proc/self/ns/pid")
    assert installed.run("ps").err == ""


@pytest.mark.root
def test_an_agent_neither_stops_nor_replaces_a_daemon_that_cannot_see_it(installed: Installation) -> None:
    installed.run("ps", within=INSIDE)
    pid = pid_of(installed)
    inside_an_agent = ("env", "CLAUDE_CODE_SESSION_ID=x")
    assert installed.run("down", within=inside_an_agent).code == 3
    assert installed.run("up", within=inside_an_agent).code == 3
    assert pid_of(installed) == pid


@pytest.mark.root
def test_a_daemon_in_a_sandbox_is_stopped_from_outside(installed: Installation) -> None:
    installed.run("ps", within=INSIDE)
    pid = pid_of(installed)
    assert "headcount is down" in installed.run("down").out
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.root
def test_from_inside_a_sandbox_the_daemon_of_the_host_is_not_replaced(installed: Installation) -> None:
    installed.run("up")
    pid = pid_of(installed)
    installed.run("up", within=INSIDE)
    assert installed.run("down", within=INSIDE).code == 3
    installed.run("up", within=("bwrap", "--dev-bind", "/", "/", "--unshare-user"))
    assert pid_of(installed) == pid
