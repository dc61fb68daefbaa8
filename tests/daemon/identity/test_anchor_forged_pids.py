"""Pids that are not what they say: the report is taken, nothing is bound, and `explain` says why."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.agents.stand_in import Agent, program
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import AS_NOBODY, needs_root
from tests.rig.kernel.spawner import Spawner
from tests.rig.naive_ways.naive import start_ticks
from tests.rig.network.raw_requests import Orphan, files_waiting, hook


@pytest.fixture(scope="module", params=["linux", "portable"])
def daemon(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    home = tmp_path_factory.mktemp("home") / "headcount"
    with Daemon(home, HEADCOUNT_PROCESSES=request.param) as running:
        yield running


@pytest.fixture(scope="module")
def nobody() -> Iterator[Orphan]:
    with Orphan() as sender:
        yield sender


@pytest.fixture
def other_users_agent() -> Iterator[int]:
    """A stand-in that is an agent in every way but its user."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    argv = [*AS_NOBODY, str(program(place)), "-c", "echo; read _"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"\n"
        yield process.pid
    shutil.rmtree(place)


NUMBER = iter(range(10**6))


def assert_taken_without_a_process(daemon: Daemon, conversation: str, reason: str) -> None:
    row = daemon.session(conversation=conversation)
    assert (row["pid"], row["liveness"], row["activity"]) == (None, "unknown", "done")
    binding = daemon.explain(row["id"])["binding"]
    assert binding["value"] == "none" and reason in binding["because"], binding
    assert any(not line["stands"] and reason in line["why_not"] for line in binding["evidence"])


def by_header(daemon: Daemon, nobody: Orphan, text: str, reason: str, header: str = "X-Claude-PID") -> None:
    conversation = f"header-{next(NUMBER)}"
    body = json.dumps({"session_id": conversation, "hook_event_name": "Stop"}).encode()
    reply = nobody.send(daemon.socket, hook(body, f"{header}: {text}"))
    assert reply.status == 202, reply
    assert_taken_without_a_process(daemon, conversation, reason)


def stat_line(pid: object, started: object, name: str = "claude") -> str:
    return f"{pid} ({name}) S " + "1 " * 18 + f"{started} 1 1 1"


def by_stat_line(daemon: Daemon, line: str, reason: str) -> None:
    conversation = f"line-{next(NUMBER)}"
    letter = daemon.home / "letter"
    letter.write_text(f"{line}\n" + json.dumps({"session_id": conversation, "hook_event_name": "Stop"}))
    letter.rename(daemon.mailbox / f"1.{next(NUMBER)}")
    assert_taken_without_a_process(daemon, conversation, reason)
    eventually(lambda: files_waiting(daemon) == [])


NO_DIGITS = [
    "-1",
    "１２３",
    "12_3",
    " 12_3 ",
    "True",
    "",
    "0x10",
    "1e3",
    "+5",
    "12.0",
    "12 13",
    "9" * 11,
    "9" * 5000,
    "٣",
]


@pytest.mark.parametrize("header", ["X-Claude-PID", "X-Agent-PID"])
@pytest.mark.parametrize("text", NO_DIGITS, ids=range(len(NO_DIGITS)))
def test_a_header_without_plain_digits(daemon: Daemon, nobody: Orphan, text: str, header: str) -> None:
    by_header(daemon, nobody, text, "no pid in plain digits", header)


@pytest.mark.parametrize("text", ["0", "1", "00001"])
def test_a_header_that_names_init_or_nobody(daemon: Daemon, nobody: Orphan, text: str) -> None:
    by_header(daemon, nobody, text, "is never an agent")


@pytest.mark.parametrize("text", ["4194305", "2147483647", "2147483648", "9999999999"])
def test_a_header_beyond_all_pids(daemon: Daemon, nobody: Orphan, text: str) -> None:
    by_header(daemon, nobody, text, "no process has pid")


def test_a_header_that_names_the_dead(daemon: Daemon, nobody: Orphan, tmp_path: Path) -> None:
    with Agent(tmp_path) as gone:
        pass
    by_header(daemon, nobody, str(gone.pid), "no process has pid")
    with Agent(tmp_path) as zombie:
        zombie.process.kill()
        eventually(lambda: b") Z " in Path(f"/proc/{zombie.pid}/stat").read_bytes())
        by_header(daemon, nobody, str(zombie.pid), "no process has pid")


def test_a_header_that_names_no_agent(daemon: Daemon, nobody: Orphan) -> None:
    with Spawner() as spawner:
        for pid in (spawner.child().pid, os.getpid(), daemon.pid):
            by_header(daemon, nobody, str(pid), "is not recognised as claude-code")


def test_a_header_that_names_a_process_with_an_agents_name(daemon: Daemon, nobody: Orphan) -> None:
    with Spawner() as spawner:
        by_header(daemon, nobody, str(spawner.named("claude").pid), "is not recognised as claude-code")


@needs_root
@pytest.mark.root
def test_a_header_that_names_another_users_agent(
    daemon: Daemon, nobody: Orphan, other_users_agent: int
) -> None:
    by_header(daemon, nobody, str(other_users_agent), "belongs to another user")


def test_a_header_that_names_a_living_agent_is_taken(daemon: Daemon, nobody: Orphan, tmp_path: Path) -> None:
    """The control: with nothing wrong the same way binds."""
    body = json.dumps({"session_id": "control", "hook_event_name": "Stop"}).encode()
    with Agent(tmp_path) as claude:
        assert nobody.send(daemon.socket, hook(body, f"X-Claude-PID: {claude.pid}")).status == 202
        row = daemon.session(conversation="control")
        assert (row["pid"], row["liveness"]) == (claude.pid, "alive")
        assert daemon.explain(row["id"])["binding"]["source"] == "header"
    eventually(lambda: daemon.sessions(conversation="control", liveness="ended"))


# --- stat lines ----------------------------------------------------------------------------------------

NO_LINES = {
    "empty": "",
    "words": "no such file or directory",
    "a pid alone": "1234",
    "a negative pid": stat_line(-1, 100),
    "other digits": stat_line("１２３", 100),
    "an underscore": stat_line("12_3", 100),
    "a word": stat_line("True", 100),
    "a pid without end": stat_line("9" * 5000, 100),
    "a start without end": stat_line(100, "9" * 5000),
    "a negative start": stat_line(100, -5),
    "too few fields": "100 (claude) S 1 1 1",
    "a name that plays fields": "100 (claude) S 1 1) S",
}


@pytest.mark.parametrize("line", NO_LINES.values(), ids=NO_LINES.keys())
def test_a_line_that_is_no_stat_line(daemon: Daemon, line: str) -> None:
    by_stat_line(daemon, line, "names no process")


@pytest.mark.parametrize("pid", [0, 4_194_305, 2**31, 9_999_999_999])
def test_a_stat_line_of_no_process(daemon: Daemon, pid: int) -> None:
    by_stat_line(daemon, stat_line(pid, 100), "is not here")


def test_a_stat_line_of_the_dead(daemon: Daemon, tmp_path: Path) -> None:
    with Agent(tmp_path) as gone:
        started = start_ticks(gone.pid)
    by_stat_line(daemon, stat_line(gone.pid, started), "is not here")


def test_a_stat_line_with_another_start(daemon: Daemon, tmp_path: Path) -> None:
    with Agent(tmp_path) as claude:
        started = start_ticks(claude.pid)
        assert started is not None
        for wrong in (started - 100_000 if started > 100_000 else started + 100_000, 0, 10**19):
            by_stat_line(daemon, stat_line(claude.pid, wrong), "is not here")


def test_a_stat_line_of_no_agent(daemon: Daemon) -> None:
    with Spawner() as spawner:
        for pid in (spawner.orphan().pid, daemon.pid if os.getppid() == 1 else 1):
            by_stat_line(daemon, stat_line(pid, start_ticks(pid)), "no claude-code process above")


@needs_root
@pytest.mark.root
def test_a_stat_line_of_another_users_agent(daemon: Daemon, other_users_agent: int) -> None:
    line = stat_line(other_users_agent, start_ticks(other_users_agent))
    by_stat_line(daemon, line, "no claude-code process above")


def test_a_stat_line_of_a_living_agent_is_taken(daemon: Daemon, tmp_path: Path) -> None:
    """The control."""
    with Agent(tmp_path) as claude:
        letter = daemon.home / "letter"
        body = json.dumps({"session_id": "control-line", "hook_event_name": "Stop"})
        letter.write_text(f"{stat_line(claude.pid, start_ticks(claude.pid))}\n{body}")
        letter.rename(daemon.mailbox / f"1.{next(NUMBER)}")
        assert daemon.session(conversation="control-line")["pid"] == claude.pid


# --- files in the mailbox that are no letters ------------------------------------------------------------


def test_links_pipes_and_directories_in_the_mailbox_are_not_read(daemon: Daemon, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("\n" + json.dumps({"session_id": "through-a-link"}))
    (daemon.mailbox / "1.1").symlink_to(secret)
    os.mkfifo(daemon.mailbox / "1.2")
    (daemon.mailbox / "1.3").mkdir()
    by_stat_line_after = daemon.home / "letter"
    by_stat_line_after.write_text("\n" + json.dumps({"session_id": "after-them"}))
    by_stat_line_after.rename(daemon.mailbox / "1.4")
    daemon.session(conversation="after-them")
    assert daemon.sessions(conversation="through-a-link") == []
    assert secret.exists()
    for name in ("1.1", "1.2"):
        (daemon.mailbox / name).unlink()
    (daemon.mailbox / "1.3").rmdir()


@pytest.mark.parametrize("when", [-(10**10), 0, 10**11, 2**34])
def test_a_letter_with_an_impossible_date_is_a_report_of_now(daemon: Daemon, when: int) -> None:
    letter = daemon.home / "letter"
    conversation = f"dated-{next(NUMBER)}"
    letter.write_text("\n" + json.dumps({"session_id": conversation, "hook_event_name": "SessionEnd"}))
    try:
        os.utime(letter, (when, when))
    except (OSError, OverflowError):
        pytest.skip("this file system has no such dates")
    letter.rename(daemon.mailbox / f"1.{next(NUMBER)}")
    row = daemon.session(conversation=conversation)
    assert row["started_at"] < "2100" and row["started_at"] >= "1970"
    assert daemon.explain(row["id"])["session"]["id"] == row["id"]


# --- another user on the socket ----------------------------------------------------------------------------

ASK = """
import socket, sys
sock = socket.socket(socket.AF_UNIX)
try:
    sock.connect(sys.argv[1])
except OSError as error:
    sys.exit(type(error).__name__)
sock.sendall(b"GET /v1/sessions HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n")
got = b""
while piece := sock.recv(65536): got += piece
print(got.decode())
"""


def ask_as(daemon: Daemon, *user: str) -> "subprocess.CompletedProcess[str]":
    python = os.path.realpath(sys.executable)
    argv = [*user, python, "-I", "-S", "-c", ASK, str(daemon.socket)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=20, cwd="/")


@needs_root
@pytest.mark.root
def test_another_user_cannot_connect_and_is_refused_where_he_can() -> None:
    reader = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")  # may reach the interpreter
    place = Path(tempfile.mkdtemp())
    daemon = Daemon(place / "headcount").ready()
    try:
        assert (
            daemon.mailbox.stat().st_mode & 0o777 == 0o700 and daemon.socket.stat().st_mode & 0o777 == 0o600
        )
        assert "PermissionError" in ask_as(daemon, *AS_NOBODY, *reader).stderr
        place.chmod(0o755)
        daemon.home.chmod(0o755)
        assert "PermissionError" in ask_as(daemon, *AS_NOBODY, *reader).stderr, "the socket itself is private"
        daemon.socket.chmod(0o666)
        said = ask_as(daemon, *AS_NOBODY, *reader).stdout
        assert said.startswith("HTTP/1.1 403 ") and "not-you" in said, "the kernel's word on the peer decides"
        assert ask_as(daemon).stdout.startswith("HTTP/1.1 200 ")
    finally:
        daemon.stop()
        shutil.rmtree(place)
