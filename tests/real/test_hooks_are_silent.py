"""Nothing of ours is ever on the agent's screen, and nothing is held up: not with the daemon down, hung, or the
mailbox gone. Beside it, what the naive hooks do to the same CLI."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.rig.fake_apis.scripted_api import script
from tests.rig.kernel.small_disk import fill
from tests.rig.naive_ways import naive_claude as naive
from tests.rig.real_agents.claude import Claude
from tests.rig.real_agents.cli_with_daemon import Stage, stage

NOISE = re.compile(r"hook|headcount|non-blocking|not found|No such file", re.IGNORECASE)
TURN = ({"bash": "echo one"}, {"bash": "echo two"}, {"say": "all is said"})


def down(scene: Stage) -> None:
    scene.kill_daemon()


def hung(scene: Stage) -> None:
    os.kill(scene.daemon.pid, signal.SIGSTOP)


def mailbox_gone(scene: Stage) -> None:
    scene.kill_daemon()
    shutil.rmtree(scene.daemon.mailbox)


@pytest.mark.parametrize("trouble", [down, hung, mailbox_gone])
def test_nothing_is_printed_and_every_report_of_the_down_time_is_read(hooked: Stage, trouble) -> None:
    tui, row = hooked.open()
    with tui:
        trouble(hooked)
        hooked.ask(tui, *TURN)
        tui.wait_screen("● all is said")
        tui.wait_status("idle")
        tui.wait_still()
        assert NOISE.search(tui.screen.replace(str(hooked.claude.place), "")) is None, tui.screen
        printed = hooked.claude.run_print(script(*TURN))
        assert printed == "all is said\n"
        if trouble is hung:
            os.kill(hooked.daemon.pid, signal.SIGCONT)
        else:
            waiting = _waiting(hooked.daemon.mailbox)
            hooked.start_daemon()
        state = "idle" if trouble is mailbox_gone else "done"
        assert hooked.settles(tui.pid, activity=state)["id"] == row["id"]
        if trouble is down:
            assert len(waiting) >= 11  # two runs: prompts, tools, stops, a start and an end
            assert [each["entrypoint"] for each in hooked.rows(cwd=row["cwd"]) if each["ended"]] != []


@pytest.mark.root
def test_nothing_is_printed_with_a_full_disk_and_it_is_right_again_afterwards(
    claude: Claude, tmp_path: Path
) -> None:
    home = tmp_path / "headcount"
    home.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "none", home], capture_output=True
    ).returncode:
        pytest.skip("a disk of its own cannot be mounted here")
    try:
        with stage(claude, tmp_path) as scene:
            scene.hooks("install")
            tui, row = scene.open()
            with tui:
                filler = fill(home)
                scene.ask(tui, *TURN)
                tui.wait_screen("● all is said")
                tui.wait_status("idle")
                tui.wait_still()
                assert NOISE.search(tui.screen.replace(str(tmp_path), "")) is None, tui.screen
                assert claude.run_print(script(*TURN)) == "all is said\n"
                filler.unlink()
                assert scene.settles(tui.pid, within=30, activity="idle")["id"] == row["id"]
                assert scene.turn(tui, {"say": "well"})["id"] == row["id"]
    finally:
        subprocess.run(["umount", "-l", home], check=True)


def _waiting(mailbox: Path) -> list[str]:
    return [name for name in os.listdir(mailbox) if not name.startswith(".")] if mailbox.exists() else []


def _hooks(command: str, *events: str) -> dict[str, object]:
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}] for event in events}}


def test_H7_the_naive_hook_prints_an_error_at_every_event(claude: Claude) -> None:
    claude.prepare(_hooks(naive.MISSING_PROGRAM, "PreToolUse", "PostToolUse", "Stop"), allow=("Bash",))
    with claude.open_tui() as tui:
        tui.type(script(*TURN))
        tui.wait_screen("● all is said")
        tui.wait_still()
        assert len(NOISE.findall(tui.screen)) >= 3, tui.screen


def test_H17_the_naive_line_blocks_the_tool(claude: Claude, tmp_path: Path) -> None:
    line = naive.REDIRECTED.format(mailbox=tmp_path / "gone")
    claude.prepare(_hooks(line, "PreToolUse"), allow=("Bash",))
    claude.run_print(script({"bash": "touch was-run"}, {"say": "done"}))
    assert not (claude.project / "was-run").exists()


def test_H8_one_malformed_entry_makes_the_real_cli_refuse_the_whole_file(claude: Claude) -> None:
    """And ours does not: every other test here runs with allow rules that stand in the same file."""
    write = script({"bash": "touch was-run"}, {"say": "done"})
    claude.prepare(naive.settings_in_short(["PreToolUse"], "true"), allow=("Bash",))
    claude.run_print(write)
    assert not (claude.project / "was-run").exists()  # its permission rules are gone with the rest
    claude.prepare(allow=("Bash",))
    claude.run_print(write)
    assert (claude.project / "was-run").exists()


def test_H6_a_hook_on_worktree_creation_replaces_it_and_ours_does_not(hooked: Stage) -> None:
    claude = hooked.claude
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "first")):
        author = ("-c", "user.name=t", "-c", "user.email=t@localhost")
        subprocess.run(["git", *author, *words], cwd=claude.project, check=True, timeout=30)
    assert claude.run_print(script({"say": "made"}), "--worktree", "ours") == "made\n"
    assert (claude.project / ".claude/worktrees/ours/.git").exists()
    claude.prepare(naive.settings_for_all(["WorktreeCreate"], "true"), allow=("Bash",))
    told = claude.run_print(script({"say": "made"}), "--worktree", "naive")
    assert told != "made\n" and not (claude.project / ".claude/worktrees/naive/.git").exists()
