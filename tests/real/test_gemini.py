"""The real Gemini CLI, with our hooks and without: who it is, what it does, what its chat alone tells, its end."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount.agents.gemini.adapter import GEMINI
from tests.real.conftest import there_or_skipped
from tests.real.screen_and_unknown_fields import check_every_name_is_known, check_peek
from tests.real.test_opencode import WITHIN, install
from tests.rig.fake_apis.gemini_api import FakeGemini
from tests.rig.fake_apis.scripted_api import script
from tests.rig.real_agents import gemini
from tests.rig.real_agents.cli_with_daemon import Stage, stage, sweep
from tests.rig.real_agents.gemini import Gemini, session_of
from tests.rig.terminal.terminal import children

pytestmark = pytest.mark.timeout(300)  # a loaded machine starts such a CLI in half a minute


@pytest.fixture(scope="module")
def programs() -> Path:
    return there_or_skipped(f"Gemini CLI {gemini.VERSION}", gemini.programs())


@pytest.fixture(scope="module")
def serving() -> Iterator[FakeGemini]:
    with FakeGemini() as made:
        yield made


@pytest.fixture
def cli(programs: Path, serving: FakeGemini, tmp_path: Path) -> Iterator[Gemini]:
    made = Gemini(programs, serving.url, tmp_path)
    made.prepare()
    yield made
    sweep(made)


def test_with_hooks_in_a_terminal(cli: Gemini, tmp_path: Path) -> None:
    with stage(cli, tmp_path) as scene:
        install(scene, "gemini")
        limits = json.loads((cli.root / "settings.json").read_text())["hooks"]["SessionStart"][0]["hooks"][0]
        assert limits["timeout"] == 5000  # milliseconds
        tui = cli.open_tui()
        try:
            pid = session_of(tui.pid)
            row = scene.settles(pid, within=WITHIN, agent="gemini", activity="idle")
            assert len(row["conversation"]) == 36
            assert scene.rows(pid=tui.pid) == []  # the launcher is no session
            tui.wait_hearing()

            since = scene.feed.mark()
            tui.type(script({"bash": "touch a"}, {"say": "well"}))
            asked = scene.wait_row(
                since=since, within=WITHIN, pid=pid, activity="waiting", waiting_on="permission"
            )
            assert asked.row["doing"] == "Shell: touch a"
            tui.wait_screen("Allow execution")
            tui.wait_still()
            tui.keys("Enter")
            done = scene.settles(pid, within=WITHIN, activity="done", context_tokens=1234)
            assert done["id"] == row["id"]
            check_peek(scene.daemon, row["id"], ("tool", "Shell: touch a"), ("agent", "well"))

            since = scene.feed.mark()
            tui.wait_still()
            tui.type(script({"bash": "touch b"}, {"say": "never"}))
            scene.wait_row(since=since, within=WITHIN, pid=pid, activity="waiting")
            tui.wait_screen("Allow execution")
            tui.wait_still()
            tui.keys("Escape")  # fires no hook: its chat tells (L5)
            idle = scene.settles(pid, within=WITHIN, activity="idle")
            assert idle["source"] == "transcript"

            tui.wait_still()
            tui.type("/clear")
            cleared = scene.feed.wait(
                lambda each: (
                    each["pid"] == pid
                    and each["liveness"] == "alive"
                    and each["conversation"] not in (None, row["conversation"])
                ),
                within=WITHIN,
                what="another conversation in the same process",
            ).row
            assert scene.ended(row["id"])["ended"]["because"].endswith("(/clear)")

            os.kill(pid, signal.SIGKILL)
            assert scene.ended(cleared["id"])["ended"]["because"] == "killed (SIGKILL)"
        finally:
            for each in children(tui.pid):  # its launcher ignores the end of the terminal, and waits
                os.kill(each, signal.SIGKILL)
            tui.close()
        assert scene.daemon.get("/v1/status")["unknown_events"] == {}
        check_every_name_is_known("gemini", cli.home)


def test_two_in_one_directory_and_a_resume(cli: Gemini, tmp_path: Path) -> None:
    with stage(cli, tmp_path) as scene:
        bare = cli.start_print(script({"slow": [280, "a word " * 60]}))
        try:
            nameless = scene.settles(session_of(bare.pid), within=WITHIN)
            assert (nameless["agent"], nameless["conversation"]) == ("gemini", None)  # no hooks, no name
            install(scene, "gemini")
            first = hosted_by(cli, scene)
            assert scene.row(id=nameless["id"])["ended"] is None
        finally:
            end(bare)
        again = GEMINI.resume(first["conversation"])
        assert again is not None
        second = hosted_by(cli, scene, *again[1:])
        assert second["conversation"] == first["conversation"] and second["predecessor"] == first["id"]


def hosted_by(cli: Gemini, scene: Stage, *arguments: str) -> dict[str, Any]:
    """The row of a run with one tool, after its end."""
    run = cli.start_print(script({"bash": "sh -c 'sleep 1'"}, {"say": "well"}), *arguments)
    try:
        pid = session_of(run.pid)
        seen = scene.wait_row(within=WITHIN, pid=pid, activity="working", doing="Shell: sh -c 'sleep 1'")
        run.communicate(timeout=WITHIN)
        return scene.ended(seen.row["id"], within=WITHIN)
    finally:
        end(run)


def end(run: "subprocess.Popen[str]") -> None:
    """The session first: it would keep the launcher's pipe open, and talk on."""
    for pid in children(run.pid):
        os.kill(pid, signal.SIGKILL)
    run.kill()
    run.communicate()
