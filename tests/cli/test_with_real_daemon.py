"""The command line with a real daemon and stand-in agents: real processes, real sockets, real deaths."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount.cli.actions.demo_sandbox import Stage, StandIn

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

SOON = 10.0


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "headcount", *words]


def environment(home: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "HEADCOUNT_HOME": str(home), "LANG": "C.UTF-8", "LC_ALL": "", **more}


def run(home: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(*words), env=environment(home, **more), capture_output=True, text=True, timeout=60
    )


def eventually(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + SOON
    while not (seen := look()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
    return seen


def is_over(pid: int) -> bool:
    """Gone, or only waiting for its parent to look: what init has not reaped yet runs no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] in "ZX"
    except OSError:
        return True


def daemons_of(directory: Path) -> list[int]:
    """Also of one that has not said a word yet."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words, environment = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if b"headcount.daemon.main" in words and f"HEADCOUNT_HOME={directory}".encode() in environment:
            found.append(int(entry.name))
    return found


def processes_below(directory: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(directory) in (entry / "cmdline").read_text() + str(
                (entry / "exe").readlink()
            ):
                found.append((entry / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "home"
    yield place
    run(place, "down")


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage(os.environ)
    yield made
    made.close()
    assert not made.root.exists()


@pytest.fixture
def agent(stage: Stage) -> StandIn:
    return enter(stage, "i18n")


def enter(stage: Stage, name: str) -> StandIn:
    actor = stage.enter(name, "web", "i18n")
    actor.reports("SessionStart", source="startup")
    actor.reports("UserPromptSubmit", prompt="go")
    eventually(lambda: row(stage, name).get("activity") == "working")
    return actor


def row(stage: Stage, name: str) -> dict[str, Any]:
    sessions = stage.client.get("/v1/sessions?all=1")["sessions"]
    return next((dict(one) for one in sessions if one["name"] == name), {})


def place(stage: Stage) -> Path:
    return Path(stage.client.places.state)


def test_up_is_open_and_down_leaves_nothing_behind(home: Path) -> None:
    up = run(home, "up")
    assert up.returncode == 0 and up.stdout.startswith("headcount 0.")
    assert "already up" in run(home, "up").stdout
    status = json.loads(run(home, "status", "--json").stdout)
    assert Path(f"/proc/{status['pid']}").exists()
    assert run(home, "down").returncode == 0
    assert is_over(status["pid"])
    assert not (home / "headcount.sock").exists()
    assert not (home / "mailbox/.listening").exists()
    assert run(home, "doctor").returncode == 0


def test_the_daemon_starts_on_first_use_and_is_nobodys_child_with_nobodys_secrets(home: Path) -> None:
    """Accident H16."""
    assert run(home, "ps", ANTHROPIC_API_KEY="secret-key", CLAUDE_PID="1").returncode == 0
    pid = json.loads(run(home, "status", "--json").stdout)["pid"]
    carried = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"secret-key" not in carried and b"CLAUDE_PID" not in carried
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    parent, terminal = int(fields[1]), int(fields[4])
    assert parent != os.getpid() and terminal == 0


def test_ten_first_uses_at_once_start_one_daemon(home: Path) -> None:
    """Accident H1."""
    asking = [
        subprocess.Popen(command("up", "--json"), env=environment(home), stdout=subprocess.PIPE)
        for _ in range(10)
    ]
    pids = {json.loads(one.communicate(timeout=60)[0])["pid"] for one in asking}
    assert [one.returncode for one in asking] == [0] * 10
    assert len(pids) == 1


def test_a_socket_file_without_a_daemon_is_not_a_daemon(home: Path) -> None:
    """Accident H3: the daemon was killed and its socket file stayed."""
    pid = json.loads(run(home, "up", "--json").stdout)["pid"]
    handle = os.pidfd_open(pid)
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    os.close(handle)
    eventually(lambda: run(home, "status").returncode == 4)
    assert (home / "headcount.sock").exists()
    assert run(home, "ps").returncode == 0
    assert json.loads(run(home, "status", "--json").stdout)["pid"] != pid


def test_a_deaf_daemon_is_unavailable_and_doctor_finds_it(home: Path) -> None:
    """Accident H11. Stopped, it listens and answers nobody."""
    pid = json.loads(run(home, "up", "--json").stdout)["pid"]
    handle = os.pidfd_open(pid)
    signal.pidfd_send_signal(handle, signal.SIGSTOP)
    try:
        got = run(home, "ps")
        assert got.returncode == 4 and "headcount doctor" in got.stderr
        assert run(home, "doctor").returncode == 1
    finally:
        signal.pidfd_send_signal(handle, signal.SIGCONT)
        os.close(handle)


def test_a_session_can_be_named_by_id_prefix_and_name_everywhere(stage: Stage, agent: StandIn) -> None:
    whole = row(stage, "i18n")
    assert whole["pid"] == agent.pid
    for reference in (whole["id"], whole["id"][:6], "i18n"):
        assert json.loads(run(place(stage), "show", reference, "--json").stdout)["id"] == whole["id"]
    explained = run(place(stage), "explain", "i18n")
    assert explained.stdout.startswith("i18n is ALIVE, working.") and "kernel" in explained.stdout
    assert "i18n started: claude in web@i18n" in run(place(stage), "log", "i18n").stdout
    types = [
        json.loads(line)["type"]
        for line in run(place(stage), "log", "i18n", "--json", "--since", "1h").stdout.splitlines()
    ]
    assert "session.started" in types
    assert run(place(stage), "show", "nobody").returncode == 5


def test_waiting_ends_with_the_state_the_time_or_the_session(stage: Stage, agent: StandIn) -> None:
    home = place(stage)
    assert run(home, "wait", "i18n", "--until", "working").returncode == 0
    late = run(home, "wait", "i18n", "--until", "done", "--timeout", "0.3")
    assert late.returncode == 1 and "still working" in late.stderr
    waiting = subprocess.Popen(
        command("wait", "i18n", "--until", "done"), env=environment(home), stdout=subprocess.PIPE
    )
    agent.reports("Stop", stop_hook_active=False, background_tasks=[])
    assert waiting.wait(SOON) == 0
    assert waiting.stdout is not None
    waiting.stdout.close()
    waiting = subprocess.Popen(
        command("wait", "i18n", "--until", "working"), env=environment(home), stderr=subprocess.PIPE
    )
    agent.die()
    assert waiting.wait(SOON) == 5
    assert waiting.stderr is not None
    assert b"killed (SIGKILL)" in waiting.stderr.read()
    waiting.stderr.close()
    assert run(home, "wait", "i18n", "--until", "ended").returncode == 0


def test_watch_tells_a_death_and_begins_with_a_snapshot(stage: Stage, agent: StandIn) -> None:
    watching = subprocess.Popen(
        command("watch", "--json"), env=environment(place(stage)), stdout=subprocess.PIPE, text=True
    )
    assert watching.stdout is not None
    first = json.loads(watching.stdout.readline())
    assert first["type"] == "snapshot" and [one["pid"] for one in first["sessions"]].count(agent.pid) == 1
    agent.die()
    for line in watching.stdout:
        event = json.loads(line)
        assert {"seq", "at", "type"} <= set(event)
        if event["type"] == "session.ended":
            break
    assert event["session"]["ended"]["signal"] == signal.SIGKILL
    watching.send_signal(signal.SIGINT)
    assert watching.wait(SOON) == 130
    watching.stdout.close()
    resumed = subprocess.Popen(
        command("watch", "--json", "--since", str(event["seq"] - 1)),
        env=environment(place(stage)),
        stdout=subprocess.PIPE,
    )
    assert resumed.stdout is not None
    assert json.loads(resumed.stdout.readline())["seq"] == event["seq"]
    resumed.terminate()
    resumed.wait(SOON)
    resumed.stdout.close()


def test_the_demo_shows_a_death_and_leaves_nothing(tmp_path: Path) -> None:
    got = run(tmp_path / "unused", "demo", "--seconds", "3", TMPDIR=str(tmp_path))
    assert got.returncode == 0, got.stderr
    assert "i18n killed (SIGKILL)" in got.stdout and "auth-refactor permission" in got.stdout
    assert "docs-sweep done" in got.stdout and "reported dead" in got.stdout
    assert "\x1b" not in got.stdout
    assert list(tmp_path.iterdir()) == []
    assert processes_below(tmp_path) == []


def test_a_demo_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    playing = subprocess.Popen(
        command("demo"),
        env=environment(tmp_path / "unused", TMPDIR=str(tmp_path)),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert playing.stdout is not None
    while "started" not in playing.stdout.readline():
        pass
    playing.send_signal(signal.SIGINT)
    assert playing.wait(SOON) == 130
    playing.stdout.close()
    assert list(tmp_path.iterdir()) == []
    assert processes_below(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_demo_that_is_interrupted_while_its_daemon_starts_leaves_nothing(
    tmp_path: Path, number: signal.Signals
) -> None:
    playing = subprocess.Popen(
        command("demo"), env=environment(tmp_path / "unused", TMPDIR=str(tmp_path)), stdout=subprocess.DEVNULL
    )
    eventually(lambda: daemons_of(tmp_path))
    playing.send_signal(number)
    assert playing.wait(SOON) == 128 + number
    assert list(tmp_path.iterdir()) == []
    assert daemons_of(tmp_path) == processes_below(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_demo_whose_terminal_is_closed_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    """By default either ends Python on the spot: nobody would be left to end the demo's daemon."""
    playing = subprocess.Popen(
        command("demo"),
        env=environment(tmp_path / "unused", TMPDIR=str(tmp_path)),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert playing.stdout is not None
    while "started" not in playing.stdout.readline():
        pass
    (stage,) = tmp_path.iterdir()
    daemon = int(json.loads((run(stage / "home", "status", "--json")).stdout)["pid"])
    assert not is_over(daemon)
    playing.send_signal(number)
    assert playing.wait(SOON) == 128 + number
    playing.stdout.close()
    eventually(lambda: is_over(daemon))
    assert list(tmp_path.iterdir()) == []
    assert processes_below(tmp_path) == []


def test_a_demo_says_the_resume_once(tmp_path: Path) -> None:
    said = run(tmp_path / "unused", "demo", "--seconds", "3", TMPDIR=str(tmp_path)).stdout
    assert said.count("resume: ") == 1 and "headcount resume" not in said


def test_a_demo_says_that_a_daemon_of_the_house_sees_its_cast(home: Path, tmp_path: Path) -> None:
    alone = run(home, "demo", "--seconds", "1", TMPDIR=str(tmp_path)).stdout
    assert "sees them too" not in alone
    assert run(home, "up").returncode == 0
    assert "sees them too" in run(home, "demo", "--seconds", "1", TMPDIR=str(tmp_path)).stdout


def test_tui_json_is_ps_json(home: Path) -> None:
    got = run(home, "tui", "--json")
    assert got.returncode == 0, got.stderr
    assert set(json.loads(got.stdout)) == set(json.loads(run(home, "ps", "--json").stdout))


def test_settings_that_cannot_be_read_end_every_verb_with_the_same_word_and_code(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("no_such_setting = 1\n")
    said = {run(home, *words).returncode for words in (["up"], ["up", "--json"], ["notify", "test"], ["ps"])}
    assert said == {4}
    assert "unknown setting 'no_such_setting'" in run(home, "up").stderr
