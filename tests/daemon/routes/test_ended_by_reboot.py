"""After a reboot: what it ended is told to a person once, with the way to go on; an agent does not take the news."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agents.callers import Errand, Request, child
from tests.rig.agents.person import person
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

BOOT = Path("/proc/sys/kernel/random/boot_id")


def reboot(daemon: Daemon) -> None:
    """As the store would look had the machine been restarted since: its sessions are of another boot."""
    daemon.stop()
    ours = BOOT.read_text().strip()
    [path] = daemon.home.rglob("*.db")
    with sqlite3.connect(path) as store:
        for id, body in store.execute("SELECT id, body FROM sessions").fetchall():
            there = body.replace(ours.encode(), b"00000000-1111-2222-3333-444444444444")
            store.execute("UPDATE sessions SET body = ?, sum = NULL WHERE id = ?", (there, id))
    store.close()
    daemon.ready()


def kinds(daemon: Daemon, agents: list[Agent]) -> set[str]:
    return {daemon.session(conversation=each.conversation)["ended"]["kind"] for each in agents}


@pytest.mark.parametrize("first", ["ps", "up"])
def test_the_first_look_tells_who_was_ended_and_how_each_goes_on_and_the_next_does_not(
    daemon: Daemon, agent: Callable[..., Agent], first: str
) -> None:
    both = [agent(), agent()]
    for each in both:
        each.hook(daemon.mailbox, "SessionStart", source="startup", session_title=f"task-{each.pid}")
        daemon.session(conversation=each.conversation)
    reboot(daemon)
    assert kinds(daemon, both) == {"rebooted"}
    heard = person(daemon, first)
    assert heard.code == 0
    lines = heard.err.splitlines()
    assert any(line.endswith(" ended by reboot:") for line in lines), heard
    for each in both:
        [line] = [line for line in lines if each.conversation in line]
        assert line.endswith(f"cd {each.cwd} && claude --resume {each.conversation}")
        assert f"task-{each.pid}" in line
    assert "reboot" not in heard.out  # a pipe gets the table alone
    again = person(daemon, first)
    assert (again.code, "reboot" in again.err) == (0, False)
    daemon.restart()
    assert "reboot" not in person(daemon, "ps").err  # not after a restart either
    listed = person(daemon, "ps", "--all").out
    assert "ended by reboot" in listed
    told = person(daemon, "log", "--type", "session.ended").out
    assert f"resume: claude --resume {both[0].conversation}" in told


def test_an_agent_that_looks_does_not_take_the_news(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    gone = agent()
    gone.hook(daemon.mailbox, "SessionStart", source="startup")
    daemon.session(conversation=gone.conversation)
    reboot(daemon)
    living = agent()
    living.hook(daemon.mailbox, "SessionStart", source="startup")
    daemon.session(conversation=living.conversation)
    asked = [
        Request("GET", "/v1/reboot"),
        Request("POST", "/v1/reboot/told", {}),
        Request("GET", "/v1/reboot"),
    ]
    first, told, after = child(living, Errand(tmp_path / "errands", daemon.socket, asked))
    assert (told.status, told.code) == (403, "operator-only")
    for answer in (first, after):
        assert gone.conversation in [row["conversation"] for row in answer.data["sessions"]]
    assert (
        json.loads(person(daemon, "ps", "--json").out)["rebooted"] >= 1
    )  # a program's look takes nothing either
    assert gone.conversation in person(daemon, "ps").err


def test_a_death_is_no_reboot(daemon: Daemon, agent: Callable[..., Agent]) -> None:
    claude = agent()
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    daemon.session(conversation=claude.conversation)
    claude.kill()
    eventually(lambda: daemon.sessions(conversation=claude.conversation, liveness="ended"))
    daemon.restart()
    assert daemon.get("/v1/reboot")["sessions"] == []
    assert "reboot" not in person(daemon, "ps").err
