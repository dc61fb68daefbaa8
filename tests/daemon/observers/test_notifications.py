"""Notifications by a real daemon: a real HTTP server, a real command, real deaths."""

import hashlib
import hmac
import json
import os
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount.daemon.observers.notifications import is_quiet
from tests.rig.agents.commands_inside import inside, outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.notification_setup import SECRET, ask, configure, kinds
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network.webhook_receiver import Receiver

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

MakeAgent = Callable[..., Agent]


@pytest.fixture
def told(tmp_path: Path, receiver: Receiver) -> Iterator[Daemon]:
    """A daemon that tells the receiver everything; a long turn is one of a moment."""
    home = tmp_path / "headcount"
    configure(home, webhook_url=receiver.url, webhook_secret=SECRET, long_turn_minutes=0.000001)
    with Daemon(home, TMUX_TMPDIR=str(tmp_path)) as running:
        yield running


def test_each_transition_arrives_once_signed(told: Daemon, receiver: Receiver, agent: MakeAgent) -> None:
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
    for delivery in receiver.taken:
        stamp = delivery.headers["headcount-timestamp"]
        expected = hmac.new(SECRET.encode(), f"{stamp}.".encode() + delivery.body, hashlib.sha256).hexdigest()
        assert delivery.headers["headcount-signature"] == f"v1={expected}"
        assert abs(time.time() - int(stamp)) < 60
        wrong = hmac.new(b"other", f"{stamp}.".encode() + delivery.body, hashlib.sha256).hexdigest()
        assert wrong != expected


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


def test_a_webhook_that_is_down_gets_it_later_with_the_same_delivery_id(
    told: Daemon, receiver: Receiver, agent: MakeAgent
) -> None:
    receiver.refuse = 1
    one = agent()
    id = settled(one, told)
    ask(one, told)
    eventually(lambda: kinds(receiver, id) == ["needs-you"])
    assert receiver.refused, "the first attempt was refused"
    assert receiver.refused[0].headers["headcount-delivery"] in {
        each.headers["headcount-delivery"] for each in receiver.taken
    }


def test_a_webhook_that_hangs_holds_up_neither_the_daemon_nor_its_end(
    told: Daemon, receiver: Receiver, agent: MakeAgent
) -> None:
    receiver.hang.clear()
    one = agent()
    id = settled(one, told)
    ask(one, told)
    eventually(lambda: told.sessions(id=id, activity="waiting"))
    one.hook(told.mailbox, "PostToolUse", tool_name="Bash", tool_input={"command": "x"})
    eventually(lambda: told.sessions(id=id, activity="working"))
    assert told.kill(15) == 0
    receiver.hang.set()


def test_neither_the_address_nor_the_secret_is_ever_shown(told: Daemon, receiver: Receiver) -> None:
    receiver.refuse = 1
    said = outside(told, "notify", "test", "--json")
    assert said.code == 1, said
    assert json.loads(said.out)["channels"] == [
        {"channel": "webhook", "ok": False, "because": "it answered 503"}
    ]
    assert outside(told, "notify", "test").out == "webhook: delivered\n"
    shown = (
        told.log() + said.out + said.err + json.dumps(told.get("/v1/status")) + outside(told, "doctor").out
    )
    assert SECRET not in shown and "SECRET-IN-URL" not in shown


def test_an_agent_may_not_send_tests(told: Daemon, agent: MakeAgent) -> None:
    one = agent()
    settled(one, told)
    said = inside(one, told, "notify", "test")
    assert said.code == 3 and "for people" in said.err


def test_only_the_kinds_that_are_named_are_sent(tmp_path: Path, receiver: Receiver, agent: MakeAgent) -> None:
    home = tmp_path / "headcount"
    configure(home, webhook_url=receiver.url, webhook_secret=SECRET, kinds=["died-holding"])
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


def test_settings_that_were_changed_under_the_daemon_are_told_until_it_reads_them(daemon: Daemon) -> None:
    """Else a channel that was just set is tried out in vain."""
    changed = "settings were changed since the daemon started"
    assert daemon.get("/v1/status")["warnings"] == []
    configure(daemon.home, desktop=True, destkop=True)
    (warning,) = daemon.get("/v1/status")["warnings"]
    assert changed in warning and "headcount doctor" in warning
    assert "destkop" not in warning, "what stands in the file is not for agents"
    configure(daemon.home, command=["/bin/true"])
    assert "headcount down && headcount up" in outside(daemon, "status").out
    assert changed in outside(daemon, "notify", "test").out
    daemon.restart()
    assert daemon.get("/v1/status")["warnings"] == []
    tried = outside(daemon, "notify", "test")
    assert (tried.code, tried.out.strip()) == (0, "command: delivered")


@pytest.mark.parametrize(
    ("settings", "mode", "word"),
    [
        ({"webhook_url": "http://127.0.0.1:1/x"}, 0o644, "chmod 600"),
        ({"webhook_url": "ftp://x/y"}, 0o600, "http or https"),
        ({"quiet_hours": "25:00-07:00"}, 0o600, "22:00-07:00"),
        ({"desktop": "yes"}, 0o600, "true or false"),
        ({"destkop": True}, 0o600, "unknown setting 'notify.destkop'"),
        (
            {"kinds": ["needs-you", "needs_you"]},
            0o600,
            "no kind 'needs_you'; the kinds are needs-you, finished",
        ),
    ],
)
def test_a_wrong_setting_is_a_clear_word_at_the_start(
    tmp_path: Path, settings: dict[str, Any], mode: int, word: str
) -> None:
    home = tmp_path / "headcount"
    configure(home, mode, **settings)
    daemon = Daemon(home).start()
    assert daemon.process is not None
    daemon.process.wait(10)
    assert word in daemon.word and "127.0.0.1:1/x" not in daemon.word


def local(hour: int, minute: int = 0) -> float:
    return time.mktime((2026, 6, 15, hour, minute, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("hours", "quiet", "loud"),
    [
        ("22:00-07:00", (local(22), local(3), local(6, 59)), (local(21, 59), local(7), local(12))),
        ("12:00-13:30", (local(12), local(13, 29)), (local(11, 59), local(13, 30))),
        ("", (), (local(3),)),
    ],
)
def test_quiet_hours_go_over_midnight(hours: str, quiet: tuple[float, ...], loud: tuple[float, ...]) -> None:
    assert all(is_quiet(hours, each) for each in quiet)
    assert not any(is_quiet(hours, each) for each in loud)
