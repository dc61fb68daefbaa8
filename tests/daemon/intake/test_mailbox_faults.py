"""Accidents of the mailbox itself: whatever lies in it or happens to it, the next report is read."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount.agents.installing.hook_line_mailbox import TRIAL, why_not
from headcount.daemon.intake.mailbox_format import REPORTS_MOST
from tests.rig.agents.commands_inside import outside
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network.raw_requests import files_waiting

MEGABYTE = 1024 * 1024


def drop(daemon: Daemon, name: str, data: bytes) -> None:
    letter = daemon.home / "letter"
    letter.write_bytes(data)
    letter.rename(daemon.mailbox / name)


def report(conversation: str) -> bytes:
    return b"\n" + json.dumps({"session_id": conversation, "hook_event_name": "Stop"}).encode()


def test_a_mailbox_that_is_removed_is_made_again(daemon: Daemon, agent: Callable[..., Agent]) -> None:
    """H11 for the mailbox: an inotify watch ends with its directory, without a word."""
    claude = agent()
    shutil.rmtree(daemon.mailbox)
    eventually(daemon.mailbox.exists)
    eventually((daemon.mailbox / ".listening").exists)
    assert daemon.mailbox.stat().st_mode & 0o777 == 0o700
    claude.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    assert daemon.session(conversation=claude.conversation)["activity"] == "working"


def test_after_that_an_agents_own_mailbox_is_still_waited_for(daemon: Daemon) -> None:
    shutil.rmtree(daemon.mailbox)
    eventually((daemon.mailbox / ".listening").exists)
    (daemon.mailbox / "codex").mkdir(mode=0o700)
    eventually((daemon.mailbox / "codex" / ".listening").exists)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"{",
        b"12 (x) S 1 2 3\n{",
        b"1 (x) S" + b" 9" * 18 + b" " + b"9" * 5000 + b"\n{}",
        b"\xed\n\n\xed\n\n",
        b"\n{\n" + b"\xed\xa0" + b"\n}",
        b"\n[" * 50_000,
        b"\0" * 4096,
        b"x\n{}\n" * 3000,
    ],
    ids=range(10),
)
def test_what_lies_in_it_at_a_start_keeps_nobody_from_starting(daemon: Daemon, data: bytes) -> None:
    daemon.kill()
    drop(daemon, "1.1", data)
    os.utime(daemon.mailbox / "1.1", (1, 1))
    drop(daemon, "1.2", report("after"))
    daemon.ready()
    assert daemon.session(conversation="after")["activity"] == "done"
    eventually(lambda: files_waiting(daemon) == [])
    assert daemon.process is not None and daemon.process.poll() is None
    assert '"level": "critical"' not in daemon.log()


def test_a_file_that_is_no_report_by_its_size_is_removed_unread(daemon: Daemon) -> None:
    huge = daemon.home / "huge"
    huge.touch()
    os.truncate(huge, 64 * MEGABYTE)
    huge.rename(daemon.mailbox / "1.1")
    drop(daemon, "1.2", report("after"))
    daemon.session(conversation="after")
    eventually(lambda: files_waiting(daemon) == [])


def test_a_report_that_is_still_being_written_is_left_until_it_is_whole(daemon: Daemon) -> None:
    whole = report("in-pieces")
    with (daemon.mailbox / "1.1").open("wb", buffering=0) as file:
        file.write(whole[:20])
        drop(daemon, "1.2", report("meanwhile"))
        daemon.session(conversation="meanwhile")
        daemon.restart()  # a start reads the directory, also files that nobody has closed yet
        drop(daemon, "1.3", report("after"))
        daemon.session(conversation="after")
        eventually(lambda: files_waiting(daemon) == ["1.1"])  # each is removed after its commit
        file.write(whole[20:])
    daemon.session(conversation="in-pieces")
    eventually(lambda: files_waiting(daemon) == [])


def test_two_hooks_that_shared_a_file_are_two_reports(daemon: Daemon) -> None:
    """The number of a shell is given again, and a hook appends."""
    drop(daemon, "1.1", report("first")[1:] + report("second") + b"\n" + report("third"))
    for name in ("first", "second", "third"):
        daemon.session(conversation=name)


def test_the_trial_of_a_line_is_no_report_and_no_warning(daemon: Daemon) -> None:
    def unread() -> str:
        rows = str(daemon.call("GET", "/metrics").data).splitlines()
        return next((row for row in rows if "unread" in row and not row.startswith("#")), "none")

    before = unread()
    assert why_not(daemon.mailbox) is None
    drop(daemon, "1.1", b"\n" + TRIAL)
    drop(daemon, "1.2", report("after"))
    assert daemon.session(conversation="after")["activity"] == "done"
    assert unread() == before
    drop(daemon, "1.3", b"\n{}")  # the control: what the line was tried with before
    eventually(lambda: unread() != before)


HOSTILE = {
    "objects": lambda: [b"{}" * (2 * MEGABYTE)],
    "lists in a field that is read": lambda: [
        b'\n{"session_id":"h","cwd":[' + b"[]," * (2 * MEGABYTE) + b"1]}"
    ],
    "text that the strict decoder refuses": lambda: [
        b'\n{"session_id":"h","hook_event_name":"PostToolUse","session_title":"\\ud83d","tool_input":{"a":"\xf0\x9f\x98\x80'
        + b"a" * (8 * MEGABYTE - 300)
        + b'"}}'
    ],
    "names": lambda: [b'\n{"session_id":"h",' + b",".join(b'"k%d":0' % nth for nth in range(600_000)) + b"}"],
    "depth": lambda: [b"\n" + b'{"a":' * MEGABYTE + b"}" * MEGABYTE],
    "lines": lambda: [b"x\n" * (4 * MEGABYTE)],
    "sparse": lambda: [b""],
    "many files": lambda: [b"{}{" + b"[" * 3000] * 3000,
}


def peak(daemon: Daemon) -> int:
    """The most memory that it ever had, in bytes."""
    status = Path(f"/proc/{daemon.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_content_stalls_it_or_fills_its_memory_or_its_log(daemon: Daemon, kind: str) -> None:
    """W3: 300 KB of objects took 5 s and more, 4 MB killed it again at each start."""
    daemon.kill()
    for nth, data in enumerate(HOSTILE[kind]()):
        drop(daemon, f"1.{nth}", data)
        if kind == "sparse":
            os.truncate(daemon.mailbox / f"1.{nth}", 40 * 1024 * MEGABYTE)
        os.utime(daemon.mailbox / f"1.{nth}", (1, 1 + nth))
    drop(daemon, "2.1", report("after"))
    daemon.ready()
    assert daemon.session(conversation="after")["activity"] == "done"
    eventually(lambda: files_waiting(daemon) == [])
    assert peak(daemon) < 150 * MEGABYTE
    assert daemon.log().count("mailbox") < 10
    assert len(daemon.sessions(conversation="h")) <= 1


def test_what_is_over_the_bounds_of_a_file_is_dropped_and_doctor_names_it(daemon: Daemon) -> None:
    drop(daemon, "1.1", b"".join(report(f"shared-{nth}") + b"\n" for nth in range(REPORTS_MOST + 5)))
    drop(daemon, "1.2", report("long") + b"\n" + report("cut")[:-1] + b" " * 9 * MEGABYTE)
    daemon.session(conversation=f"shared-{REPORTS_MOST - 1}")
    daemon.session(conversation="long")
    eventually(lambda: files_waiting(daemon) == [])
    assert not daemon.sessions(conversation=f"shared-{REPORTS_MOST}")
    said = outside(daemon, "doctor").out
    assert "2 mailbox files had more than 64 reports or 8 MB" in said and "dropped unread" in said
