"""Prompts, answers and plans of the real CLIs, with a canary in each: found in the CLI's own files, nowhere in ours.

One scene a CLI, with our hooks. It goes through the ways in which such text becomes a name, a title, a label or a note:
`--bg`, `/fork`, `/branch`, a resume, a compaction, a plan, a question, a subagent. Names that a person gave stay.
"""

from pathlib import Path

import pytest

from tests.real.conftest import there_or_skipped
from tests.real.test_codex import install_hooks, trust_all
from tests.real.test_identity_over_time import claude_command
from tests.real.test_opencode import WITHIN, install
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.fake_apis.chat_completions import FakeChat
from tests.rig.fake_apis.gemini_api import FakeGemini
from tests.rig.fake_apis.openai_responses import FakeResponses
from tests.rig.fake_apis.scripted_api import Step, script
from tests.rig.real_agents import codex, gemini, opencode
from tests.rig.real_agents.claude import Claude, Tui
from tests.rig.real_agents.cli_with_daemon import Row, Stage, stage, sweep
from tests.rig.real_agents.codex import Codex
from tests.rig.real_agents.gemini import Gemini, session_of
from tests.rig.real_agents.isolated_home import Isolated
from tests.rig.real_agents.opencode import OpenCode
from tests.rig.security import canary_sinks
from tests.rig.security.canary_sinks import Follower

pytestmark = pytest.mark.timeout(300)  # a loaded machine starts such a CLI in half a minute

CANARY = "cnry4711x0123456789abcdef"
PART = b"cnry"  # also of one that was cut, or stands in an id
WORK: Step = {"bash": "sh -c 'sleep 1'"}
QUESTION: Step = {
    "use": [
        "AskUserQuestion",
        {
            "questions": [
                {
                    "question": f"What of {CANARY}?",
                    "header": "Which",
                    "multiSelect": False,
                    "options": [
                        {"label": f"one {CANARY}", "description": CANARY},
                        {"label": "two", "description": CANARY},
                    ],
                }
            ]
        },
    ]
}
SUBAGENT: Step = {
    "use": ["Agent", {"description": "look", "prompt": f"see {CANARY}", "subagent_type": "general-purpose"}]
}
PLAN: Step = {"use": ["ExitPlanMode", {"plan": f"# {CANARY}\n1. do {CANARY}"}]}


def prompt(*steps: Step) -> str:
    return f"{CANARY} please {script(*steps)}"


def assert_nowhere(daemon: Daemon, follower: Follower, cli: Isolated) -> None:
    eventually(lambda: not [each for each in daemon.mailbox.rglob("[!.]*") if each.is_file()], within=60)
    rows = [row for row in daemon.sessions() if (row["cwd"] or "").startswith(str(cli.place.resolve()))]
    assert rows and follower.told
    sinks = [
        *canary_sinks.files(daemon),
        ("the stream", "\n".join(follower.told).encode()),
        *canary_sinks.answers(daemon, [row["id"] for row in rows]),
        *canary_sinks.printed(daemon, cli.place, rows[0]["id"], verbs=2),
    ]
    assert [name for name, content in sinks if PART in content] == []
    own = [path for path in cli.home.rglob("*") if path.is_file() and PART in path.read_bytes()]
    assert own, "the control: it is in the CLI's own files"


# --- Claude Code -------------------------------------------------------------------------------------


def turn(scene: Stage, tui: Tui, *steps: Step) -> Row:
    since = scene.feed.mark()
    tui.type(prompt(*steps, WORK, {"say": f"did {CANARY}"}))
    scene.wait_row(since=since, pid=tui.pid, activity="working")
    return scene.settles(tui.pid, activity="done")


def waits(scene: Stage, tui: Tui, step: Step, waiting_on: str, screen: str) -> None:
    tui.type(prompt(step, WORK, {"say": f"did {CANARY}"}))
    scene.settles(tui.pid, activity="waiting", waiting_on=waiting_on)
    tui.wait_screen(screen)
    scene.wait_hearing(tui)
    scene.press(tui, "Enter")
    scene.settles(tui.pid, activity="done", within=40)


def in_the_background(scene: Stage, *words: str) -> Row:
    told = claude_command(scene, "--bg", *words, f"{CANARY} please do this")
    short = told.split("·")[1].split()[0]
    over = ("done", "failed")  # 2.1.197 does not reach the API from there
    return scene.feed.wait(
        lambda row: (row["conversation"] or "").startswith(short) and row["activity"] in over, within=40
    ).row


def names(claude: Claude) -> list[tuple[str, str | None]]:
    """In the CLI's own registry: name and source."""
    return [(str(each.get("name")), each.get("nameSource")) for each in claude.records()]


def test_claude_code(claude: Claude, tmp_path: Path) -> None:
    with stage(claude, tmp_path) as scene:
        scene.hooks("install")
        follower = Follower(scene.daemon)
        tui, row = scene.open("-n", "given-by-n")
        with tui:
            assert row["name"] == "given-by-n"
            turn(scene, tui, SUBAGENT)
            waits(scene, tui, QUESTION, "question", "What of cnry")
            tui.type(f"/compact keep {CANARY}")
            scene.settles(tui.pid, activity="idle")
            tui.wait_still()
            tui.type("/branch")
            branch = scene.settles(tui.pid, predecessor=None, name=None)
            given = (f"{CANARY} please", "user")  # which the CLI writes when it likes
            eventually(lambda: given in [(name[:32], source) for name, source in names(claude)], within=60)
            turn(scene, tui)
            tui.type("/rename given-by-rename")
            scene.settles(tui.pid, name="given-by-rename")
            since = scene.feed.mark()
            tui.type(f"/fork {prompt(WORK, {'say': CANARY})}")
            scene.feed.wait(lambda row: row["pid"] != tui.pid and row["activity"] == "done", since=since)
            eventually(
                lambda: any(CANARY in name for name, source in names(claude) if source == "auto"), within=60
            )
        scene.ended(branch["id"])
        tui, row = scene.open("--resume", branch["conversation"], "--permission-mode", "plan")
        with tui:
            assert row["name"] == "given-by-rename"
            waits(scene, tui, PLAN, "plan", "Exit plan mode|Would you like to proceed")
        in_the_background(scene)
        eventually(lambda: any(CANARY in name for name, source in names(claude) if source == "auto"), 20)
        assert in_the_background(scene, "-n", "bg-given")["name"] == "bg-given"
        assert_nowhere(scene.daemon, follower, claude)


def test_claude_code_2_1_197(older: Claude, tmp_path: Path) -> None:
    """It says no source of a name: `--bg` writes the prompt there; `/fork` describes a subagent by it."""
    with stage(older, tmp_path) as scene:
        scene.hooks("install")
        follower = Follower(scene.daemon)
        tui, row = scene.open("-n", "given-by-n")
        with tui:
            turn(scene, tui)
            scene.settles(tui.pid, name="given-by-n")
            tui.type(f"/fork {CANARY} and look")
            tui.wait_screen("finished")
            tui.wait_still()
            tui.type("/rename given-by-rename")
            tui.wait_still()
            turn(scene, tui)
            scene.settles(tui.pid, name="given-by-rename")
        scene.ended(row["id"])
        in_the_background(scene)
        eventually(lambda: any(CANARY in name for name, source in names(older) if source is None), within=60)
        assert_nowhere(scene.daemon, follower, older)


# --- the others --------------------------------------------------------------------------------------


def test_codex(tmp_path: Path) -> None:
    programs = there_or_skipped(f"Codex {codex.VERSION}", codex.installed())
    with FakeResponses() as api:
        cli = Codex(programs, api.url, tmp_path)
        cli.prepare()
        try:
            with Daemon(tmp_path / "headcount", CODEX_HOME=str(cli.root)) as daemon:
                follower = Follower(daemon)
                install_hooks(cli, daemon)
                with cli.open_tui() as terminal:
                    trust_all(terminal)
                    terminal.type(prompt(WORK, {"say": f"did {CANARY}"}))
                    eventually(lambda: daemon.sessions(agent="codex", activity="done"), WITHIN)
                    terminal.wait_still()
                    terminal.type("/compact")
                    terminal.wait_still()
                resumed: tuple[str, ...] = ()
                for _ in range(2):
                    run = cli.start_exec(prompt({"after": [2, {"say": f"did {CANARY}"}]}), *resumed)
                    pid = codex.native(run.pid)
                    row = eventually(lambda pid=pid: daemon.sessions(pid=pid), WITHIN)[0]
                    run.communicate(timeout=60)
                    resumed = ("resume", row["conversation"])
                assert_nowhere(daemon, follower, cli)
        finally:
            codex.sweep(cli)


def test_opencode(tmp_path: Path) -> None:
    programs = there_or_skipped(f"OpenCode {opencode.VERSION}", opencode.programs())
    with FakeChat() as chat:
        cli = OpenCode(programs, chat.url, tmp_path)
        cli.prepare()
        try:
            with stage(cli, tmp_path) as scene:
                install(scene, "opencode")
                follower = Follower(scene.daemon)
                task = {"description": "look", "prompt": f"see {CANARY}", "subagent_type": "general"}
                with cli.serve() as server:
                    conversation = server.create()
                    server.ask(conversation, prompt({"use": ["task", task]}, WORK, {"say": f"did {CANARY}"}))
                    scene.wait_row(within=WITHIN, conversation=conversation, activity="done")
                    titled = lambda: server.call("GET", f"/session/{conversation}")["title"]  # noqa: E731
                    eventually(lambda: CANARY in titled(), WITHIN)
                    server.ask(
                        conversation, prompt(WORK, {"say": CANARY})
                    )  # its title is read at the end of a turn
                    scene.wait_row(
                        within=WITHIN, since=scene.feed.mark(), conversation=conversation, activity="done"
                    )
                run = cli.start_run(prompt(WORK, {"say": CANARY}))
                scene.settles(run.pid, within=WITHIN, activity="working")
                run.communicate(timeout=WITHIN)
                assert_nowhere(scene.daemon, follower, cli)
        finally:
            sweep(cli)


def test_gemini(tmp_path: Path) -> None:
    programs = there_or_skipped(f"Gemini CLI {gemini.VERSION}", gemini.programs())
    with FakeGemini() as api:
        cli = Gemini(programs, api.url, tmp_path)
        cli.prepare()
        try:
            with stage(cli, tmp_path) as scene:
                install(scene, "gemini")
                follower = Follower(scene.daemon)
                for more in ((), ("--resume", "latest")):
                    run = cli.start_print(prompt(WORK, {"say": f"did {CANARY}"}), *more)
                    try:
                        scene.settles(session_of(run.pid), within=WITHIN, activity="working")
                        run.communicate(timeout=WITHIN)
                    finally:
                        run.kill()
                        run.wait()
                assert_nowhere(scene.daemon, follower, cli)
        finally:
            sweep(cli)
