"""The claim saga of one earlier tool: sixteen failures in six weeks, each found after the one before was "fixed".

Rules of this file
  1. One test for each, by its number. Where an accident's own test has the scene, that scene is run here too; where the
     failure was about claims and the scene is not, the claim is added.
  2. The naive way stands in the scenes: each fails there on what the earlier tool did.
"""

import contextlib
import json
import shlex
import signal
import sqlite3
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.accidents import test_claims as claims
from tests.accidents import test_claude_identity as identity
from tests.accidents import test_false_death as false_death
from tests.accidents import test_identity_of_callers as callers
from tests.core.claims import test_ledger as ledger
from tests.daemon.routes import test_guard_and_context as guard
from tests.rig.agents.commands_inside import command, inside, outside, settled, shell
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

Make = Callable[..., Agent]


@pytest.fixture
def office(daemon: Daemon, agent: Make, tmp_path: Path) -> callers.Office:
    return callers.Office(daemon, tmp_path / "errands", agent)


def held(daemon: Daemon) -> dict[str, int]:
    """Item and pid of whoever holds it, as people are shown."""
    return {row["item"]: row["holder"]["pid"] for row in daemon.get("/v1/claims")["claims"]}


def test_saga_01_each_hook_of_a_shell_is_not_a_session_of_its_own(daemon: Daemon, agent: Make) -> None:
    """saga 1: identity from terminal and shell pid, about 65 sessions a day."""
    identity.test_I1_the_pid_of_a_hooks_shell_is_never_the_session(daemon, agent)


def test_saga_02_of_two_live_sessions_in_conflict_neither_is_dropped(daemon: Daemon, agent: Make) -> None:
    """saga 2: the handler of a conflict did not ask who lives."""
    false_death.test_D10_a_second_process_under_the_same_id_does_not_drop_the_living_one(daemon, agent)
    claims.happens_only_to_the_naive("C4")


def test_saga_03_a_long_operation_is_not_stale(daemon: Daemon, agent: Make) -> None:
    """saga 3: stale after 5 minutes, then after 15: long operations were marked dead."""
    false_death.test_D2_one_tool_call_of_hours_is_work_and_not_death(daemon, agent)
    claims.happens_only_to_the_naive("C12")


def test_saga_04_the_conversations_of_one_editor_share_a_port_and_no_claim(office: callers.Office) -> None:
    """saga 4: an editor's port was the identity of all its conversations."""
    callers.test_i3_the_second_conversation_of_a_window_does_not_get_the_firsts_claim(office)


def test_saga_05_shells_in_between_do_not_hold_what_the_agent_claims(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    """saga 5: the parent of the hook was an intermediate shell, so the claim was free once that shell had ended."""
    first, second = two
    line = shlex.join(
        ["/bin/sh", "-c", f"/bin/sh -c {shlex.quote(shlex.join(command('claim', 'task:A', '--json')))}; true"]
    )
    said = shell(first, daemon, line)
    assert json.loads(said.out)["holder"]["pid"] == first.pid
    assert inside(second, daemon, "claim", "task:A").code == 3  # those shells are over, the agent is not


def test_saga_06_a_childs_item_does_not_release_the_orchestrators(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    """saga 6: claiming the next item released the one before."""
    claims.happens_only_to_the_naive("C5")
    first, second = two
    for item in ("task:epic", "task:epic-1", "task:epic-2"):
        assert inside(first, daemon, "claim", item).code == 0
    assert inside(first, daemon, "release", "task:epic-1").code == 0
    assert set(held(daemon)) == {"task:epic", "task:epic-2"}
    assert inside(second, daemon, "claim", "task:epic").code == 3


def test_saga_07_there_is_one_table_of_claims(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    """saga 7: a table for people and one for locks drifted apart."""
    claims.happens_only_to_the_naive("C2")
    first, second = two
    for step in (
        lambda: inside(first, daemon, "claim", "task:A"),
        lambda: outside(daemon, "release", "task:A", "--force"),
        lambda: inside(second, daemon, "claim", "task:A"),
        daemon.restart,
        second.kill,
    ):
        step()
        eventually(lambda: shown_on_rows(daemon, two) == held(daemon) == stored(daemon))
    eventually(lambda: held(daemon) == shown_on_rows(daemon, two) == stored(daemon) == {})


def shown_on_rows(daemon: Daemon, agents: tuple[Agent, ...]) -> dict[str, int]:
    """What the rows of the living say they hold."""
    rows = [row for each in agents for row in daemon.sessions(pid=each.pid, liveness="alive")]
    return {item: row["pid"] for row in rows for item in row["claims"]}


def stored(daemon: Daemon) -> dict[str, int]:
    """What the one table says; there is no other."""
    with contextlib.closing(sqlite3.connect(f"file:{daemon.home}/headcount.db?mode=ro", uri=True)) as store:
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        assert [name for name in tables if "claim" in name or "lock" in name] == ["claims"]
        rows = store.execute("SELECT item, body FROM claims WHERE held").fetchall()
    return {item: json.loads(body)["holder"]["pid"] for item, body in rows}


def test_saga_08_a_collision_is_blocked_and_not_only_told(
    daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path
) -> None:
    """saga 8: seven ways to collide, and no hard block."""
    claims.test_C7_two_that_ask_at_the_same_moment_have_one_winner()
    guard.test_an_edit_of_anothers_path_is_denied_and_names_the_holder(daemon, two, tmp_path, "Edit")


def test_saga_09_a_compacted_session_keeps_its_claim(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    """saga 9: a compaction made a session anew, without its claim. On the real CLI: tests/real."""
    claims.happens_only_to_the_naive("C11")
    first, second = two
    inside(first, daemon, "claim", "task:A")
    before = daemon.get("/v1/claims")["claims"]
    first.hook(daemon.mailbox, "PreCompact", trigger="auto")
    eventually(lambda: daemon.sessions(pid=first.pid, doing="compacting"))
    first.hook(daemon.mailbox, "SessionStart", source="compact")
    first.hook(daemon.mailbox, "PostCompact", trigger="auto")
    eventually(lambda: not daemon.sessions(pid=first.pid, doing="compacting"))
    assert daemon.get("/v1/claims")["claims"] == before
    assert inside(second, daemon, "claim", "task:A").code == 3
    assert inside(first, daemon, "release", "task:A").code == 0


def test_saga_10_nobody_acts_on_an_old_look(daemon: Daemon, two: tuple[Agent, Agent], agent: Make) -> None:
    """saga 10: check, then act, among three sessions; and a waiter that was a ghost."""
    claims.test_C7_two_that_ask_at_the_same_moment_have_one_winner()
    claims.happens_only_to_the_naive("C9")
    third = agent()
    settled(third, daemon)
    with ThreadPoolExecutor() as pool:
        said = pool.map(lambda each: inside(each, daemon, "claim", "task:A").code, (*two, third))
    assert sorted(said) == [0, 3, 3]


def test_saga_11_a_person_can_look_and_release_and_the_fenced_off_one_finds_out(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    """saga 11: there was no way for a person to look or to release. The holder is paused, and late."""
    first, second = two
    fence = json.loads(inside(first, daemon, "claim", "task:A", "--note", "the login", "--json").out)["fence"]
    first.process.send_signal(signal.SIGSTOP)
    try:
        assert inside(second, daemon, "claim", "task:A").code == 3  # paused is not dead
        table = outside(daemon, "claims").out
        assert "auth-refactor" in table and "the login" in table
        assert inside(second, daemon, "release", "task:A", "--force").code == 3  # and no agent may
        assert outside(daemon, "release", "task:A", "--force").code == 0
        assert inside(second, daemon, "claim", "task:A").code == 0
    finally:
        first.process.send_signal(signal.SIGCONT)
    late = inside(first, daemon, "check", "task:A", str(fence))
    assert late.code == 3 and "stale" in late.err
    told = outside(daemon, "claims", "--history", "task:A").out
    assert "(forced)" in told and "auth-refactor" in told


@pytest.mark.parametrize("last", ["first", "second"])
def test_saga_12_my_session_is_not_the_one_that_was_heard_last(
    office: callers.Office, tmp_path: Path, last: str
) -> None:
    """saga 12: "my session" was looked up by the newest heartbeat, and released another's claim."""
    callers.test_i4_who_i_am_does_not_depend_on_who_wrote_last(office, tmp_path, last)
    claims.happens_only_to_the_naive("C6")


def test_saga_13_a_cleared_process_is_not_locked_out_of_its_own_claim(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    """saga 13: the second row was another owner, and the process could not release what it held."""
    first, second = two
    inside(first, daemon, "claim", "task:A")
    before = held(daemon)
    first.hook(daemon.mailbox, "SessionEnd", reason="clear")
    first.conversation = str(uuid.uuid4())
    settled(first, daemon)
    eventually(lambda: len(daemon.sessions(pid=first.pid, liveness="alive")) == 1)
    assert held(daemon) == before
    assert inside(second, daemon, "release", "task:A").code == 3
    assert inside(first, daemon, "release", "task:A").code == 0


@pytest.mark.parametrize("name", ["clear", "resume", "branch"])
def test_saga_13_a_swapped_or_compacted_conversation_is_no_second_row_of_oneself(name: str) -> None:
    """saga 13: a second row for oneself after a compaction, and the first one's claim was another's."""
    identity.test_I6_a_swapped_conversation_leaves_one_row_alive(name)
    ledger.test_clear_and_compaction_keep_the_claim()


def test_saga_14_a_busy_but_slow_session_is_not_robbed(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    """saga 14: whoever had not renewed for a while was robbed. Not even one that is stopped is."""
    claims.happens_only_to_the_naive("C12")
    first, second = two
    inside(first, daemon, "claim", "task:A")
    first.process.send_signal(signal.SIGSTOP)
    try:
        assert inside(second, daemon, "claim", "task:A", "--wait", "1").code == 3
    finally:
        first.process.send_signal(signal.SIGCONT)


def test_saga_15_a_dead_ones_identity_and_claim_are_nobodys(office: callers.Office) -> None:
    """saga 15: a local file was matched by the terminal's id, and its process was not asked."""
    callers.test_i3_nor_does_it_inherit_it_when_the_first_is_dead(office)
    callers.test_i3_the_naive_ledger_by_terminal_gives_it_to_both()
    claims.happens_only_to_the_naive("C1")
    claims.happens_only_to_the_naive("C10")


class AdoptsOnConflict:
    """As it was: the insert met a row of that conversation, and the caller went on as that row."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}

    def register(self, conversation: str, pid: int) -> int:
        return self.rows.setdefault(conversation, pid)


def test_saga_16_a_conflict_adopts_nobody(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    """saga 16: a second way in: the database's answer "conflict" adopted the old session, and its claim with it."""
    first, second = two
    ledger.test_a_living_holder_is_not_robbed_by_a_second_process_of_its_conversation()
    inside(first, daemon, "claim", "task:A")
    second.conversation = first.conversation
    second.hook(daemon.mailbox, "SessionStart", source="resume")
    eventually(lambda: len(daemon.sessions(conversation=first.conversation, liveness="alive")) == 2)
    assert inside(second, daemon, "claim", "task:A").code == 3
    assert inside(second, daemon, "release", "task:A").code == 3
    (row,) = daemon.get("/v1/claims")["claims"]
    assert row["holder"]["pid"] == first.pid
    naive = AdoptsOnConflict()
    assert naive.register(first.conversation, first.pid) == naive.register(first.conversation, second.pid)
