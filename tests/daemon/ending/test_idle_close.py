"""Closing what has been idle for long: off by default, announced, only the idle, and undone by resume."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headcount.core.values.report import Turn
from headcount.daemon.config import Config
from headcount.daemon.ending.idle_close import IdleClose, may_be_closed
from headcount.daemon.ending.signal_process import Wish
from tests.rig.agents.stand_in import Agent
from tests.rig.core_values import T0, Scene, bound, process, report
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import command, seated

MakeAgent = Callable[..., Agent]


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Daemon]:
    home = tmp_path / "headcount"
    home.mkdir()
    (home / "config.toml").write_text('close.idle_after = "1s"\n')
    with Daemon(home, TMUX_TMPDIR=str(tmp_path / "t")) as running:
        yield running


def at_rest(daemon: Daemon, claude: Agent, status: str = "idle") -> dict[str, Any]:
    """Its own registry says that it is idle."""
    seated(daemon, claude)
    sessions = daemon.user_home / ".claude" / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    stat = Path(f"/proc/{claude.pid}/stat").read_text().rpartition(")")[2].split()
    now = int(time.time() * 1000)
    record = {
        "pid": claude.pid, "sessionId": claude.conversation, "procStart": stat[19], "cwd": str(claude.cwd),
        "kind": "interactive", "status": status, "updatedAt": now, "statusUpdatedAt": now,
    }  # fmt: skip
    (sessions / f"{claude.pid}.json").write_text(json.dumps(record))
    wanted = "idle" if status in ("idle", "shell") else "working"
    return eventually(lambda: daemon.sessions(conversation=claude.conversation, activity=wanted))[0]


def told(daemon: Daemon, id: str) -> list[tuple[str, Any]]:
    events = daemon.get(f"/v1/history?session={id}&limit=1000")["events"]
    return [(event["type"], event.get("facts") or {}) for event in events]


def test_an_idle_session_is_announced_then_closed_by_policy_and_can_be_resumed(
    impatient: Daemon, agent: MakeAgent
) -> None:
    claude = agent()
    row = at_rest(impatient, claude)
    impatient.session(id=row["id"], liveness="ended")
    claude.process.wait(10)
    events = eventually(
        lambda: (
            (found := told(impatient, row["id"]))
            and any(type == "ending.finished" and facts.get("outcome") == "closed" for type, facts in found)
            and found
        )
    )
    types = [type for type, _ in events]
    order = [types.index(each) for each in ("session.closing", "ending.intended", "session.ended")]
    assert order == sorted(order)
    assert {facts["by"] for type, facts in events if type.startswith("ending.")} == {"policy"}
    done = command(impatient, "resume", row["id"], "--print")
    assert (done.returncode, done.stdout.strip()) == (
        0,
        f"cd {claude.cwd} && claude --resume {claude.conversation}",
    )


def test_whoever_works_or_has_work_in_the_background_is_never_closed(
    impatient: Daemon, agent: MakeAgent
) -> None:
    """Beside them an idle one is, so that the time for it was there."""
    busy, helped, idle = agent(), agent(), agent()
    rows = [at_rest(impatient, busy, "busy"), at_rest(impatient, helped)]
    helped.hook(impatient.mailbox, "SubagentStart", agent_id="a1", agent_type="general-purpose")
    eventually(lambda: impatient.session(id=rows[1]["id"])["background"])
    assert impatient.session(id=rows[1]["id"])["liveness"] == "alive"
    last = at_rest(impatient, idle)
    impatient.session(id=last["id"], liveness="ended")
    for row in rows:
        assert impatient.session(id=row["id"])["liveness"] == "alive"
        assert "session.closing" not in [type for type, _ in told(impatient, row["id"])]


def test_two_writers_of_one_conversation_are_never_closed(impatient: Daemon, agent: MakeAgent) -> None:
    first, second, idle = agent(), agent(), agent()
    second.conversation = first.conversation
    seated(impatient, first)
    second.hook(impatient.mailbox, "SessionStart")
    eventually(lambda: len(impatient.sessions(conversation=first.conversation, liveness="alive")) == 2)
    eventually(lambda: all(row["alarms"] for row in impatient.sessions(conversation=first.conversation)))
    last = at_rest(impatient, idle)
    impatient.session(id=last["id"], liveness="ended")
    assert len(impatient.sessions(conversation=first.conversation, liveness="alive")) == 2


def idle(*conversations: str) -> Scene:
    scene, agent = Scene(), bound(process(100))
    for conversation in conversations:
        scene.hear(report("x", T0, conversation, Turn.SETTLED, anchor=agent, beside=True))
    return scene


def test_only_who_is_alone_in_its_process_is_closed() -> None:
    """The process would take the others along."""
    one, two = idle("a"), idle("a", "b")
    assert may_be_closed(one.only(), one.world)
    assert [may_be_closed(each, two.world) for each in two.sessions()] == [False, False]


async def test_a_word_that_comes_before_the_very_signal_calls_it_off() -> None:
    scene = idle("a")
    wishes: list[Wish] = []

    class Closing:
        async def close(self, session: object, others: object, wish: Wish, **how: object) -> SimpleNamespace:
            wishes.append(wish)
            return SimpleNamespace(is_closed=True)

    policy = IdleClose(SimpleNamespace(world=scene.world), Closing(), None, 1.0)  # type: ignore[arg-type]
    await policy._close(scene.only())
    (wish,) = wishes
    assert wish.still()
    scene.hear(report("y", T0 + 1, "a", Turn.TOOL, anchor=bound(process(100))))
    assert not wish.still()


def test_without_the_setting_nobody_is_closed() -> None:
    assert Config().idle_limit is None
