"""The real OpenCode, with our plugin and without: who it is, what it does, several sessions in one process, its end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.conftest import there_or_skipped
from tests.real.screen_and_unknown_fields import check_every_name_is_known, check_peek
from tests.rig.fake_apis.chat_completions import FakeChat
from tests.rig.fake_apis.scripted_api import script
from tests.rig.real_agents import opencode
from tests.rig.real_agents.cli_with_daemon import Stage, stage, sweep
from tests.rig.real_agents.opencode import OpenCode

WITHIN = 60.0  # a CLI of 170 MB starts in three seconds, or in twenty beside others

pytestmark = pytest.mark.timeout(300)  # a loaded machine starts such a CLI in half a minute


@pytest.fixture(scope="module")
def programs() -> Path:
    return there_or_skipped(f"OpenCode {opencode.VERSION}", opencode.programs())


@pytest.fixture(scope="module")
def chat() -> Iterator[FakeChat]:
    with FakeChat() as serving:
        yield serving


@pytest.fixture
def cli(programs: Path, chat: FakeChat, tmp_path: Path) -> Iterator[OpenCode]:
    made = OpenCode(programs, chat.url, tmp_path)
    made.prepare()
    yield made
    sweep(made)


def install(scene: Stage, agent: str) -> str:
    command = [sys.executable, "-m", "headcount", "hooks", "install", "--agent", agent]
    done = subprocess.run(command, env=scene.daemon.env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return done.stdout


def whoami(scene: Stage, told: Path) -> dict:
    """A shell command that asks headcount from inside the agent."""
    home = f"HEADCOUNT_HOME={scene.daemon.env['HEADCOUNT_HOME']}"
    return {
        "bash": f"env {home} {sys.executable} -m headcount whoami --json > {told}.part; mv {told}.part {told}"
    }


def open_rows(scene: Stage, pid: int) -> list[dict]:
    return [row for row in scene.rows(pid=pid) if not row["ended"]]


def row_of(scene: Stage, conversation: str, **wanted: object) -> dict:
    return scene.wait_row(within=WITHIN, conversation=conversation, **wanted).row


def test_several_sessions_in_one_process_with_the_plugin(cli: OpenCode, tmp_path: Path) -> None:
    with stage(cli, tmp_path) as scene:
        assert "restarts" in install(scene, "opencode")
        with cli.serve() as server:
            assert scene.rows(pid=server.pid) == []  # a server without a conversation is no session
            first, second = server.create(), server.create()
            told = [cli.project / "first.json", cli.project / "second.json"]
            steps: list = [{"bash": "sh -c 'sleep 1'"}, {"say": "well"}]
            for conversation, file in zip((first, second), told, strict=True):
                server.ask(conversation, script(whoami(scene, file), *steps))
            rows = []
            for conversation, file in zip((first, second), told, strict=True):
                row_of(scene, conversation, activity="working", doing="bash: sh -c 'sleep 1'")
                row = row_of(
                    scene, conversation, activity="done", title=None, model="fake", context_tokens=1234
                )
                assert (row["pid"], row["agent"], row["liveness"]) == (server.pid, "opencode", "alive")
                assert json.loads(file.read_text())["conversation"] == conversation
                rows.append(row)
            assert [each["conversation"] for each in open_rows(scene, server.pid)] == [first, second]

            server.ask(first, script({"bash": "touch a"}, {"say": "touched"}))
            asked = row_of(scene, first, activity="waiting", waiting_on="permission")
            assert asked["doing"] == "bash: touch a"
            assert scene.row(conversation=second)["activity"] == "done"  # the other one does not wait
            since = scene.feed.mark()
            server.answer_permission("once")
            scene.wait_row(since=since, within=WITHIN, conversation=first, activity="done")
            assert (cli.project / "a").exists()

            since = scene.feed.mark()
            server.ask(second, script({"slow": [90, "a word " * 60]}))
            scene.wait_row(since=since, within=WITHIN, conversation=second, activity="working")
            server.wait_answering(second)
            server.abort(second)
            scene.wait_row(since=since, within=WITHIN, conversation=second, activity="idle")
            server.ask(second, script({"fail": [400, "invalid_request"]}))
            scene.wait_row(
                since=since, within=WITHIN, conversation=second, activity="failed", failure="error"
            )

            os.kill(server.pid, signal.SIGKILL)
            for each in rows:
                assert scene.ended(each["id"])["ended"]["because"] == "killed (SIGKILL)"
        run = cli.start_run(script({"say": "again"}), "--session", first)
        try:
            resumed = scene.wait_row(within=WITHIN, pid=run.pid, conversation=first).row
            assert resumed["predecessor"] == rows[0]["id"]
            scene.ended(resumed["id"], within=WITHIN)
        finally:
            run.kill()
            run.communicate()
        check_peek(
            scene.daemon, resumed["id"], ("tool", "bash: touch a"), ("agent", "touched"), ("agent", "again")
        )
        check_every_name_is_known("opencode", cli.home)
        assert scene.daemon.get("/v1/status")["unknown_events"] == {}


def test_two_in_one_directory_without_the_plugin(cli: OpenCode, tmp_path: Path) -> None:
    with cli.serve() as server:
        server.create()  # two that make its database at once: now and then one fails
    with stage(cli, tmp_path) as scene:
        runs = [cli.start_run(script({"slow": [60, "a word " * 60]})) for _ in range(2)]
        try:
            rows = [scene.settles(run.pid, within=WITHIN) for run in runs]
            assert [row["conversation"] for row in rows] == [
                None,
                None,
            ]  # nothing that it keeps open names one
            assert {row["agent"] for row in rows} == {"opencode"}
            runs[0].kill()
            assert scene.ended(rows[0]["id"])["ended"]["because"] == "killed (SIGKILL)"
            assert scene.current(runs[1].pid)["id"] == rows[1]["id"]
        finally:
            for run in runs:
                run.kill()
                run.communicate()
