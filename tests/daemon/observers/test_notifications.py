"""Notifications by a real daemon: a real command, real deaths."""

import json
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.commands_inside import inside, outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.notification_receiver import SECRET, Receiver
from tests.rig.daemon.notification_setup import ask, configure, kinds
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

MakeAgent = Callable[..., Agent]


@pytest.fixture
def told(tmp_path: Path, receiver: Receiver) -> Iterator[Daemon]:
    """A daemon that tells the receiver everything; a long turn is one of a moment."""
    home = tmp_path / "headcount"
    configure(home, command=receiver.command, long_turn_minutes=0.000001)
    with Daemon(home, TMUX_TMPDIR=str(tmp_path)) as running:
        yield running


def test_each_transition_arrives_once(told: Daemon, receiver: Receiver, agent: MakeAgent) -> None:
    one = agent()
    id = settled(one, told, session_title="auth-refactor")
    ask(one, told)
    ask(one, told, "make again")  # the same question: its label is another
    eventually(lambda: kinds(receiver, id))
    one.hook(told.mailbox, "PostToolUse", tool_name="Bash", tool_input={"command": "make"})
    one.hook(told.mailbox, "Stop")
    eventually(lambda: len(kinds(receiver, id)) >= 2)
    assert kinds(receiver, id) == ["needs-you", "finished"]
    (row, _) = receiver.notices(id)
    assert row["title"] == "auth-refactor needs you"
    assert row["text"] == "waits on permission: Bash: make"


def test_nothing_is_told_twice_over_kills_of_the_daemon(
    told: Daemon, receiver: Receiver, agent: MakeAgent
) -> None:
    one = agent()
    id = settled(one, told)
    for round in range(3):
        ask(one, told, f"make {round}")
        eventually(lambda expected=round + 1: len(kinds(receiver, id)) >= expected)
        told.restart()
        one.hook(told.mailbox, "PostToolUse", tool_name="Bash", tool_input={"command": "x"})
        eventually(lambda: told.sessions(id=id, activity="working"))
    assert kinds(receiver, id) == ["needs-you"] * 3


def test_what_happens_while_the_daemon_is_away_is_told_when_it_is_back(
    told: Daemon, receiver: Receiver, agent: MakeAgent
) -> None:
    one = agent()
    id = settled(one, told)
    told.kill()
    ask(one, told)
    told.ready()
    eventually(lambda: kinds(receiver, id) == ["needs-you"])


def test_what_was_stored_and_not_judged_is_judged_from_the_journal_at_the_next_start(
    told: Daemon, receiver: Receiver, agent: MakeAgent
) -> None:
    """As after a crash between the commit and the notice: here a daemon without a channel committed it."""
    one = agent()
    id = settled(one, told)
    ask(one, told)
    eventually(lambda: kinds(receiver, id) == ["needs-you"])
    told.kill()
    config = told.home / "config.toml"
    config.rename(told.home / "later.toml")
    told.ready()
    one.hook(told.mailbox, "PostToolUse", tool_name="Bash", tool_input={"command": "x"})
    eventually(lambda: told.sessions(id=id, activity="working"))
    ask(one, told)
    eventually(lambda: told.sessions(id=id, activity="waiting"))
    told.kill()
    (told.home / "later.toml").rename(config)
    told.ready()
    eventually(lambda: kinds(receiver, id) == ["needs-you", "needs-you"])


def test_a_death_with_a_claim_is_told_with_what_is_free(
    told: Daemon, receiver: Receiver, agent: MakeAgent
) -> None:
    one = agent()
    id = settled(one, told, session_title="i18n")
    assert inside(one, told, "claim", "task:I18N-4").code == 0
    assert inside(one, told, "claim", "task:I18N-5").code == 0
    one.kill()
    (row,) = eventually(lambda: [row for row in receiver.notices(id) if row["kind"] == "died-holding"])
    assert row["title"] == "i18n died holding a claim"
    assert "killed (SIGKILL)" in row["text"] and "task:I18N-" in row["text"]


def test_two_that_edit_one_file_are_one_notice(
    told: Daemon, receiver: Receiver, agent: MakeAgent, tmp_path: Path
) -> None:
    first, second = agent(), agent()
    ids = {settled(first, told), settled(second, told)}
    for each in (first, second):
        each.hook(told.mailbox, "PostToolUse", tool_name="Edit", tool_input={"file_path": f"{tmp_path}/a.py"})
    probe = agent()
    probe_id = settled(probe, told)

    def collisions() -> list[Any]:
        return [r for r in receiver.notices() if r["kind"] == "collision" and (r["session"] or {}).get("id") in ids
                and "a.py" in r["text"]]  # fmt: skip

    eventually(collisions)
    ask(probe, told)
    eventually(lambda: kinds(receiver, probe_id))  # what came before it has been carried
    assert len(collisions()) == 1


def test_a_command_that_fails_is_in_the_log_and_gets_the_next_notice(
    told: Daemon, receiver: Receiver, agent: MakeAgent
) -> None:
    receiver.refuse_next()
    one = agent()
    id = settled(one, told)
    ask(one, told)
    eventually(lambda: "1 notices were not delivered by command: it exited with 7" in told.log())
    assert kinds(receiver, id) == []
    one.hook(told.mailbox, "Stop")
    eventually(lambda: kinds(receiver, id) == ["finished"])


def test_a_command_that_hangs_holds_up_neither_the_daemon_nor_its_end(
    told: Daemon, receiver: Receiver, agent: MakeAgent
) -> None:
    receiver.hang(True)
    one = agent()
    id = settled(one, told)
    ask(one, told)
    eventually(lambda: told.sessions(id=id, activity="waiting"))
    one.hook(told.mailbox, "PostToolUse", tool_name="Bash", tool_input={"command": "x"})
    eventually(lambda: told.sessions(id=id, activity="working"))
    assert told.kill(15) == 0
    receiver.hang(False)


def test_the_arguments_of_the_command_are_never_shown(told: Daemon, receiver: Receiver) -> None:
    receiver.refuse_next()
    said = outside(told, "notify", "test", "--json")
    assert said.code == 1, said
    assert json.loads(said.out)["channels"] == [
        {"channel": "command", "ok": False, "because": "it exited with 7"}
    ]
    assert outside(told, "notify", "test").out == "command: delivered\n"
    shown = (
        told.log() + said.out + said.err + json.dumps(told.get("/v1/status")) + outside(told, "doctor").out
    )
    assert SECRET not in shown


def test_an_agent_may_not_send_tests(told: Daemon, agent: MakeAgent) -> None:
    one = agent()
    settled(one, told)
    said = inside(one, told, "notify", "test")
    assert said.code == 3 and "for people" in said.err


def test_only_the_kinds_that_are_named_are_sent(tmp_path: Path, receiver: Receiver, agent: MakeAgent) -> None:
    home = tmp_path / "headcount"
    configure(home, command=receiver.command, kinds=["died-holding"])
    with Daemon(home, TMUX_TMPDIR=str(tmp_path)) as daemon:
        one = agent()
        id = settled(one, daemon)
        ask(one, daemon)
        assert inside(one, daemon, "claim", "task:KINDS").code == 0
        one.kill()
        eventually(lambda: kinds(receiver, id))  # it came after the question, and in order
        assert kinds(receiver, id) == ["died-holding"]


def test_a_command_gets_them_as_json_on_its_stdin(tmp_path: Path, agent: MakeAgent) -> None:
    home, got = tmp_path / "headcount", tmp_path / "got"
    configure(
        home, command=["/bin/sh", "-c", f"cat >>{shlex.quote(str(got))}; echo >>{shlex.quote(str(got))}"]
    )
    with Daemon(home, TMUX_TMPDIR=str(tmp_path)) as daemon:
        one = agent()
        id = settled(one, daemon)
        ask(one, daemon, "echo '; touch /tmp/never'")

        def arrived() -> list[Any]:
            lines = got.read_text().splitlines() if got.exists() else []
            rows = [row for line in lines for row in json.loads(line)["notices"]]
            return [row for row in rows if (row["session"] or {}).get("id") == id]

        (row,) = eventually(arrived)
        assert row["kind"] == "needs-you"
        assert outside(daemon, "notify", "test").out == "command: delivered\n"


def test_a_desktop_gets_texts_as_arguments(tmp_path: Path, agent: MakeAgent) -> None:
    home, got = tmp_path / "headcount", tmp_path / "got"
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "notify-send"
    program.write_text(f"#!/bin/sh\nfor each; do printf '%s\\n' \"$each\" >>{got}; done\n")
    program.chmod(0o755)
    configure(home, desktop=True)
    path = f"{programs}:{os.environ['PATH']}"
    with Daemon(home, TMUX_TMPDIR=str(tmp_path), PATH=path) as daemon:
        one = agent()
        settled(one, daemon, session_title="--hint=x <b>auth</b>")
        ask(one, daemon, "a <b> & c")
        eventually(lambda: got.exists() and "&amp;" in got.read_text())
    lines = got.read_text().splitlines()
    assert "--" in lines and "--hint=x <b>auth</b> needs you" in lines
    assert lines.index("--") < lines.index("--hint=x <b>auth</b> needs you")
    assert "waits on permission: Bash: a &lt;b&gt; &amp; c" in lines


def test_without_a_channel_nothing_is_judged_and_the_verb_says_how_to_set_one(daemon: Daemon) -> None:
    said = outside(daemon, "notify", "test")
    assert said.code == 5
    assert "[notify]" in said.out and "desktop = true" in said.out and str(daemon.home) in said.out
