"""Conversations that change process, and processes that change conversation, as the real CLI does it."""

import json
import subprocess
import time

import pytest

from tests.rig.fake_apis.scripted_api import lasting, script
from tests.rig.real_agents.claude import Tui
from tests.rig.real_agents.cli_with_daemon import Row, Stage, command_line, processes_of, short


def swap(scene: Stage, tui: Tui, command: str) -> Row:
    """A command that changes the conversation in the same process; the new row at rest."""
    before = scene.current(tui.pid)
    since = scene.feed.mark()
    tui.type(command)
    scene.feed.wait(
        lambda row: row["pid"] == tui.pid and row["id"] != before["id"] and not row["ended"],
        since=since,
        what=command,
    )
    tui.wait_status("idle")
    tui.wait_still()
    scene.settles(tui.pid, activity="idle")
    return scene.current(tui.pid)


def ended(scene: Stage, row: Row) -> tuple[str, str | None, str]:
    end = scene.row(id=row["id"])["ended"]
    return end["kind"], end["successor"], end["because"]


@pytest.mark.parametrize("with_hooks", [True, False], ids=["hooks", "no hooks"])
def test_clear_resume_and_branch_supersede_in_the_same_process(bare: Stage, with_hooks: bool) -> None:
    if with_hooks:
        bare.hooks("install")
    rest = "done" if with_hooks else "idle"
    tui, _ = bare.open()
    with tui:
        first = bare.turn(tui, lasting("first"), then=rest)
        cleared = swap(bare, tui, "/clear")
        bare.turn(tui, lasting("second"), then=rest)
        resumed = swap(bare, tui, f"/resume {first['conversation']}")
        bare.turn(tui, lasting("third"), then=rest)
        branched = swap(bare, tui, "/branch")
        bare.turn(tui, lasting("fourth"), then=rest)

        rows = [first, cleared, resumed, branched]
        assert [row["id"] for row in bare.rows()] == [row["id"] for row in rows]
        assert {row["pid"] for row in rows} == {tui.pid}
        assert resumed["conversation"] == first["conversation"]
        assert len({row["conversation"] for row in rows}) == 3
        assert [row["predecessor"] for row in rows] == [None, None, first["id"], None]
        commands = ("/clear", "/resume", "/branch")
        for old, new, command in zip(rows, rows[1:], commands, strict=False):
            word = (
                f" ({command})" if with_hooks else ""
            )  # the registry alone does not say which command it was
            assert ended(bare, old) == ("superseded", new["id"], f"continued as {new['id'][:4]}{word}")
        assert not any(
            "SCRIPT" in (row["name"] or "") for row in bare.rows()
        )  # a branch is named by its prompt
    assert bare.ended(branched["id"])["ended"]["kind"] == "exited"


def test_resume_and_continue_name_their_predecessor_and_a_fork_has_none(hooked: Stage) -> None:
    tui, _ = hooked.open()
    with tui:
        first = hooked.turn(tui, {"say": "first"})
    hooked.ended(first["id"])
    conversation = first["conversation"]

    tui, resumed = hooked.open("--resume", conversation)
    with tui:
        assert (resumed["conversation"], resumed["predecessor"]) == (conversation, first["id"])
        hooked.turn(tui, {"say": "second"})
        # the same conversation in a second process: two sessions, both alive, and neither ends the other
        second, also = hooked.open("--resume", conversation)
        with second:
            assert (also["conversation"], also["predecessor"]) == (conversation, resumed["id"])
            alive = hooked.rows(conversation=conversation, liveness="alive")
            assert {row["pid"] for row in alive} == {tui.pid, second.pid}
        hooked.ended(also["id"])
        assert hooked.current(tui.pid)["id"] == resumed["id"]
    hooked.ended(resumed["id"])

    tui, continued = hooked.open("--continue", conversation=conversation)
    with tui:
        assert continued["predecessor"] == also["id"]
        assert (
            len(hooked.rows(pid=tui.pid)) == 1
        )  # it registers under another name first: that was no session
    hooked.ended(continued["id"])

    tui, forked = hooked.open("--resume", conversation, "--fork-session")
    with tui:
        assert forked["predecessor"] is None and forked["conversation"] != conversation
        hooked.turn(tui, {"say": "third"})
        assert len(hooked.rows(pid=tui.pid)) == 1
    hooked.ended(forked["id"])

    assert hooked.claude.run_print(script({"say": "printed"}), "--resume", conversation) == "printed\n"
    printed = hooked.rows(conversation=conversation)[-1]
    assert (printed["entrypoint"], printed["predecessor"]) == ("sdk-cli", continued["id"])

    before = [row["id"] for row in hooked.rows()]
    told = hooked.claude.run_print(script({"say": "never"}), "--session-id", conversation)
    assert "already in use" in told
    assert [row["id"] for row in hooked.rows()] == before, [short(row) for row in hooked.rows()]


def test_compaction_changes_neither_process_nor_conversation(hooked: Stage) -> None:
    tui, first = hooked.open()
    with tui:
        for word in ("first", "second", "third"):
            hooked.turn(tui, {"say": word})
        since = hooked.feed.mark()
        tui.type("/compact")
        hooked.wait_row(since=since, pid=tui.pid, activity="working", doing="compacting")
        row = hooked.settles(tui.pid, activity="idle")
        assert (row["id"], row["conversation"]) == (first["id"], hooked.claude.records()[0]["sessionId"])
        assert hooked.turn(tui, {"say": "fourth"})["id"] == first["id"]
        assert len(hooked.rows()) == 1


def test_a_nested_print_run_is_a_child_session_and_steals_nothing(hooked: Stage) -> None:
    """I5, on the real CLI: the inner one runs under the outer one's Bash tool, in its directory, with its marks."""
    inner = script({"bash": "sh -c 'sleep 2'"}, {"say": "inner"})
    tui, outer = hooked.open()
    with tui:
        since = hooked.feed.mark()
        hooked.ask(tui, {"bash": f"claude -p {json.dumps(inner)}"}, {"say": "outer"})
        child = hooked.feed.wait(
            lambda row: row["pid"] != tui.pid and row["doing"] == "Bash: sh -c 'sleep 2'", since=since
        ).row
        assert (child["parent"], child["cwd"]) == (outer["id"], outer["cwd"])
        assert child["conversation"] != outer["conversation"]
        now = hooked.current(tui.pid)
        assert (now["id"], now["activity"], now["liveness"]) == (outer["id"], "working", "alive")
        assert now["doing"].startswith("Bash: claude -p")
        end = hooked.ended(child["id"])
        assert (end["ended"]["kind"], end["ended"]["exit_code"]) == ("exited", 0)
        assert hooked.settles(tui.pid, activity="done")["id"] == outer["id"]
        assert len(hooked.rows()) == 2


def claude_command(scene: Stage, *words: str) -> str:
    done = subprocess.run(
        ["claude", *words],
        executable=scene.claude.programs / "claude",
        cwd=scene.claude.project,
        env=scene.claude.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done
    return done.stdout


def test_background_sessions_are_new_and_their_helpers_are_none(hooked: Stage) -> None:
    """I10: `daemon run`, `bg-pty-host` and idle `bg-spare` run the same program; a claimed spare is a session."""
    tui, _ = hooked.open()
    with tui:
        asked = hooked.turn(tui, {"say": "first"})
        since = hooked.feed.mark()
        tui.type("/fork " + script({"bash": "sh -c 'sleep 2'"}, {"say": "forked"}))
        forked = hooked.feed.wait(
            lambda row: row["pid"] != tui.pid and row["activity"] == "working", since=since, what="/fork"
        ).row
        assert forked["conversation"] != asked["conversation"]
        assert (forked["predecessor"], forked["parent"], forked["name"]) == (None, None, None)
        here = hooked.current(tui.pid)
        assert (here["id"], here["activity"]) == (asked["id"], "done")  # a spare's hooks are not its TUI's
        hooked.settles(forked["pid"], activity="done")

        since = hooked.feed.mark()
        told = claude_command(hooked, "--bg", script({"bash": "sh -c 'sleep 60'"}, {"say": "never"}))
        short_id = told.split("·")[1].split()[0]
        behind = hooked.feed.wait(
            lambda row: (row["conversation"] or "").startswith(short_id) and row["activity"] == "working",
            since=since,
            what="--bg",
        ).row
        assert (behind["predecessor"], behind["parent"]) == (None, None)

        helpers = _helpers(hooked)
        assert {"daemon", "bg-pty-host", "bg-spare"} <= set(helpers.values())
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:  # a census runs meanwhile: each request refreshes it
            rows = [row for row in hooked.rows() if not row["ended"]]
            assert {row["pid"] for row in rows} == {tui.pid, forked["pid"], behind["pid"]}
            assert not helpers.keys() & {row["pid"] for row in rows}

        claude_command(hooked, "stop", short_id)
        end = hooked.ended(behind["id"])["ended"]
        assert (end["kind"], end["exit_code"]) == ("exited", 143)
        assert end["because"] == "exited with code 143 (SIGTERM)"
        claude_command(hooked, "stop", forked["conversation"][:8])
        assert hooked.ended(forked["id"])["ended"]["kind"] == "exited"
        assert hooked.current(tui.pid)["id"] == asked["id"]


def _helpers(scene: Stage) -> dict[int, str]:
    claimed = {each["pid"] for each in scene.claude.records()}
    found = {}
    for pid in processes_of(scene.claude):
        words = " ".join(command_line(pid)[:2])
        for kind in ("daemon", "bg-pty-host", "bg-spare"):
            if kind in words.split() and pid not in claimed:
                found[pid] = kind
    return found
