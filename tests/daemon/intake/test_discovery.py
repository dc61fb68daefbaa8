"""Discovery: sessions that nobody told of, by what living processes have open; and adapters that fail."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.agents import toy
from tests.rig.agents.open_conversations import CodexHost, ToyHost
from tests.rig.daemon.real_daemon import Daemon, eventually

MANY, LIVE = 2_000, 30


@pytest.fixture(params=["linux", "portable"])
def daemon(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Daemon]:
    env = {"HEADCOUNT_PROCESSES": request.param, "CODEX_HOME": str(tmp_path / "codex")}
    with Daemon(tmp_path / "headcount", **env) as running:
        yield running


def test_a_server_with_several_conversations_is_found_by_its_locks_and_each_is_its_own(
    daemon: Daemon, tmp_path: Path
) -> None:
    with CodexHost(tmp_path / "run", tmp_path / "codex") as server:
        first, second = server.open(cwd="/home/dev/one"), server.open(cwd="/home/dev/two")
        rows = {each: daemon.session(conversation=each, liveness="alive") for each in (first, second)}
        assert [row["pid"] for row in rows.values()] == [server.pid] * 2
        assert [row["cwd"] for row in rows.values()] == ["/home/dev/one", "/home/dev/two"]
        server.say(first, "event_msg", {"type": "task_started"})
        eventually(lambda: daemon.sessions(conversation=first, activity="working"))
        assert daemon.session(conversation=second)["activity"] == "unknown"
        os.kill(server.pid, signal.SIGKILL)
        server.process.wait()
        ended = [
            eventually(lambda c=each: daemon.sessions(conversation=c, liveness="ended"))[0] for each in rows
        ]
        assert len({row["id"] for row in ended}) == 2


def test_a_conversation_that_a_living_server_closes_ends_and_may_be_opened_again(
    daemon: Daemon, tmp_path: Path
) -> None:
    with CodexHost(tmp_path / "run", tmp_path / "codex") as server:
        kept, closed = server.open(), server.open()
        before = daemon.session(conversation=closed, liveness="alive")
        daemon.session(conversation=kept, liveness="alive")
        server.close(closed)
        server.open()  # a change that is noticed also where closing is not told
        end = eventually(lambda: daemon.sessions(conversation=closed, liveness="ended"))[0]["ended"]
        assert (end["kind"], end["because"]) == ("closed", "closed")
        assert daemon.session(conversation=kept)["liveness"] == "alive"
        server.open(closed)
        again = eventually(lambda: daemon.sessions(conversation=closed, liveness="alive"))[0]
        assert (again["predecessor"], again["pid"]) == (before["id"], server.pid)


def test_lock_and_rollout_files_that_nobody_has_open_are_no_sessions(daemon: Daemon, tmp_path: Path) -> None:
    """L7, and the control of discovery by files: there are many of them, and one living process."""
    with CodexHost(tmp_path / "run", tmp_path / "codex") as server:
        living = server.open()
        left = [server.lock(f"{number:08x}-0000-4000-8000-000000000000") for number in range(20)]
        for path in left:
            path.touch()
        daemon.session(conversation=living, liveness="alive")
        assert [row["conversation"] for row in daemon.sessions(agent="codex", pid=server.pid)] == [living]
        of_files = {row["conversation"] for row in daemon.sessions()} & {path.stem for path in left}
        assert not of_files, "a file that nobody holds became a session"


def test_a_transcript_that_is_deleted_or_unreadable_ends_nothing(daemon: Daemon, tmp_path: Path) -> None:
    """L5, D3: what an agent's files say less of is still there by its process."""
    with CodexHost(tmp_path / "run", tmp_path / "codex") as server:
        conversation = server.open()
        row = daemon.session(conversation=conversation, liveness="alive")
        server.rollout(conversation).unlink()
        (tmp_path / "codex" / "sessions").chmod(0)
        (tmp_path / "codex" / "thread-writer-locks" / "not-a-lock").write_text("{")
        daemon.get("/v1/sessions")
        assert daemon.session(id=row["id"])["liveness"] == "alive"
        (tmp_path / "codex" / "sessions").chmod(0o700)


@pytest.mark.parametrize("daemon", ["linux"], indirect=True)
def test_of_two_thousand_old_transcripts_none_is_opened(daemon: Daemon, tmp_path: Path) -> None:
    """Of 2,000 old files none is opened, and 30 living sessions are found by one look at their process."""
    old = tmp_path / "codex" / "sessions" / "2025" / "01" / "01"
    old.mkdir(parents=True)
    for number in range(MANY):
        with (old / f"rollout-2025-01-01T00-00-00-{number:08x}-0000-4000-8000-000000000000.jsonl").open(
            "wb"
        ) as file:
            file.truncate(2_500_000)
    with CodexHost(tmp_path / "run", tmp_path / "codex") as server:
        mine = [server.open() for _ in range(LIVE)]
        eventually(lambda: len(daemon.sessions(pid=server.pid, liveness="alive")) == LIVE)
        assert {row["conversation"] for row in daemon.sessions(pid=server.pid)} == set(mine)
        untouched = [path for path in old.iterdir() if path.stat().st_atime <= path.stat().st_mtime]
        assert len(untouched) == MANY


# --- adapters of other packages ------------------------------------------------------------------------------------

HANGS = """
import threading
class Bad(Toy):
    name = "bad"
    def recognise(self, facts):
        return facts.argv[:1] == ("bad",)
    def is_helper(self, facts):
        return False
    def hosted(self, facts, files):
        threading.Event().wait()
"""
RAISES = HANGS.replace("threading.Event().wait()", "raise RuntimeError('no')")


@pytest.fixture
def toyed(tmp_path: Path) -> Iterator[Daemon]:
    path = toy.package(tmp_path / "site")
    with Daemon(tmp_path / "headcount", PYTHONPATH=str(path)) as running:
        yield running


def test_the_adapter_of_the_page_is_found_by_its_entry_point_and_sees_its_agent(toyed: Daemon) -> None:
    with ToyHost(toyed.user_home) as agent:
        agent.chat("mary", "may I?")
        row = eventually(lambda: toyed.sessions(agent="toy", conversation="mary", activity="working"))[0]
        assert (row["pid"], row["liveness"]) == (agent.pid, "alive")
        agent.chat("mary", "done.")
        eventually(lambda: toyed.sessions(agent="toy", conversation="mary", activity="done"))
        agent.kill()
        end = eventually(lambda: toyed.sessions(conversation="mary", liveness="ended"))[0]
        assert end["ended"]["signal"] == 9
    assert toyed.get("/v1/status")["warnings"] == []


def test_a_second_session_is_told_at_once_although_the_first_one_is_followed_in_the_same_directory(
    toyed: Daemon,
) -> None:
    """By the event of its file: nobody asks, so that no census is taken for anybody."""
    with ToyHost(toyed.user_home) as one, ToyHost(toyed.user_home) as two:
        one.chat("anna", "may I?")
        eventually(lambda: toyed.sessions(conversation="anna", activity="working"))
        with toyed.stream() as events:
            next(events)
            two.chat("bert", "may I too?")
            for event in events:
                if "bert" in event.data:
                    break
        assert toyed.get("/v1/status")["counts"].get("census_caught", 0) == 0


def test_a_resumed_conversation_does_not_go_on_with_the_turn_of_the_dead(toyed: Daemon) -> None:
    with ToyHost(toyed.user_home) as one:
        one.chat("cora", "may I?")
        eventually(lambda: toyed.sessions(conversation="cora", activity="working"))
        one.kill()
        eventually(lambda: toyed.sessions(conversation="cora", liveness="ended"))
    old = toyed.user_home / ".toy" / "cora.chat"
    os.utime(old, (old.stat().st_mtime - 60, old.stat().st_mtime - 60))
    with ToyHost(toyed.user_home) as again:
        again.tell("write", old)  # it is opened, and nothing is said
        row = eventually(lambda: toyed.sessions(conversation="cora", liveness="alive"))[0]
        eventually(lambda: toyed.sessions(conversation="cora", liveness="alive", pid=again.pid))
        assert toyed.session(id=row["id"])["activity"] == "unknown"
        again.chat("cora", "and now?")
        eventually(lambda: toyed.sessions(id=row["id"], activity="working"))


@pytest.mark.parametrize(
    ("text", "word"), [(HANGS, "did not answer within"), (RAISES, "failed: RuntimeError")]
)
def test_an_adapter_that_hangs_or_raises_is_named_and_the_others_results_stand(
    tmp_path: Path, text: str, word: str
) -> None:
    entries = "toy = headcount_toy:Toy\nbad = headcount_toy:Bad"
    path = toy.package(tmp_path / "site", entries, toy.source() + text)
    with Daemon(tmp_path / "headcount", PYTHONPATH=str(path)) as daemon, ToyHost(daemon.user_home) as agent:
        bad = subprocess.Popen(["bad", "-c", "input()"], executable=sys.executable, stdin=subprocess.PIPE)
        try:
            eventually(lambda: daemon.sessions(pid=bad.pid) or agent.chat("john", "hm?"))
            eventually(lambda: daemon.sessions(agent="toy", conversation="john", liveness="alive"))
            told = eventually(lambda: [w for w in daemon.get("/v1/status")["warnings"] if "of bad" in w])
            assert word in told[0] or "hangs" in told[0]
            assert daemon.session(pid=bad.pid)["liveness"] == "alive"
        finally:
            bad.kill()
            bad.communicate()


def test_broken_and_clashing_adapters_are_left_out_and_named(tmp_path: Path) -> None:
    entries = "a = headcount_toy:Toy\nb = headcount_toy:Toy\nc = nowhere:X\nd = headcount_toy:CHAT\ne = headcount_toy:Mine"
    mine = "\nclass Mine(Toy):\n    name = 'claude-code'\n"
    path = toy.package(tmp_path / "site", entries, toy.source() + mine)
    with Daemon(tmp_path / "headcount", PYTHONPATH=str(path)) as daemon:
        told = [each for each in daemon.get("/v1/status")["warnings"] if "is not used" in each]
        assert len(told) == 4
        assert 'the name "toy" is taken' in told[0] and "ModuleNotFoundError" in told[1]
        assert "it has no name" in told[2] and 'the name "claude-code" is taken' in told[3]


STUCK = """
import threading, time
from headcount.core.values.process import ProcessFacts
class Bad(Toy):
    name = "bad"
    def stuck(self, *_):
        threading.Event().wait()
    def spinning(self, *_):
        while True:
            pass
    recognise = is_helper = is_launcher = translate = resume = home_of = unknown_fields = WORD
"""


@pytest.mark.parametrize("word", ["stuck", "spinning"])
def test_a_foreign_adapter_that_never_answers_cannot_stop_the_daemon(tmp_path: Path, word: str) -> None:
    """It is also asked on the loop, of every caller; the control is in tests/agents/test_plugin_guard.py."""
    text = toy.source() + STUCK.replace("WORD", word)
    path = toy.package(tmp_path / "site", "bad = headcount_toy:Bad\ntoy = headcount_toy:Toy", text)
    with Daemon(tmp_path / "headcount", PYTHONPATH=str(path)) as daemon, ToyHost(daemon.user_home) as agent:
        agent.chat("john", "hm?")
        eventually(lambda: daemon.sessions(agent="toy", conversation="john", liveness="alive"), 30)
        for _ in range(5):
            assert daemon.call("GET", "/v1/sessions/me").status in (200, 404)
        told = eventually(lambda: [w for w in daemon.get("/v1/status")["warnings"] if "of bad" in w], 30)
        assert "hangs" in told[0] or "did not answer" in told[0]
