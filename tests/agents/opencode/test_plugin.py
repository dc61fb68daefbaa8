"""Our plugin, run by a JavaScript engine on what the real OpenCode told its plugins."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from headcount.agents.opencode.adapter import OPENCODE
from headcount.agents.opencode.hooks import plugin
from headcount.agents.opencode.reports import EVENTS
from headcount.core.values.report import Report, Turn
from headcount.daemon.intake.mailbox_format import split

TRACE = Path(__file__).parents[2] / "rig" / "samples" / "opencode" / "trace.jsonl"
NODE = shutil.which("node") or ""
pytestmark = pytest.mark.skipif(not NODE, reason="needs node, which npm brings")

PLAY = """
import { readFileSync } from "node:fs"
import { Headcount } from "./headcount.mjs"
const NAMES = { "tool.before": "tool.execute.before", "tool.after": "tool.execute.after" }
const hooks = await Headcount({ directory: "/home/dev/project" })
const given = []
for (const line of readFileSync(process.argv[2], "utf8").trim().split("\\n")) {
  const { kind, a, b } = JSON.parse(line)
  if (kind === "event") await hooks.event({ event: a })
  else {
    const output = kind === "shell.env" ? { env: {} } : b
    await hooks[NAMES[kind] ?? kind](a, output)
    if (kind === "shell.env") given.push([a.sessionID, output.env.OPENCODE_SESSION_ID])
  }
}
for (const broken of [{}, { event: null }, { event: { type: "session.idle" } }, { event: { type: "__proto__" } }])
  await hooks.event(broken)
await hooks["tool.execute.before"]({}, undefined)
await hooks["shell.env"]({}, {})
console.log(JSON.stringify(given))
"""


def play(place: Path, mailbox: Path, trace: Path = TRACE) -> list:
    (place / "headcount.mjs").write_bytes(plugin(mailbox))
    (place / "play.mjs").write_text(PLAY)
    done = subprocess.run(
        [NODE, "play.mjs", str(trace)],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=60,
        env={"HOME": "/home/dev"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def dropped(mailbox: Path) -> list[tuple[int, dict]]:
    """The pid of the stat line and the payload of each file, in the order of their names."""
    found = []
    for path in sorted(mailbox.glob("[0-9]*"), key=lambda each: int(each.name.rpartition(".")[2])):
        assert path.stat().st_mode & 0o077 == 0
        (slip,) = split(path.read_bytes()).slips
        assert slip.sender is not None
        found.append((slip.sender.pid, json.loads(slip.payload)))
    return found


@pytest.fixture
def mailbox(tmp_path: Path) -> Path:
    there = tmp_path / 'it\'s a "$HOME" mailbox'
    there.mkdir(0o700)
    return there


def test_the_plugin_writes_only_fields_that_the_tables_know(tmp_path: Path, mailbox: Path) -> None:
    (mailbox / ".listening").touch()
    play(tmp_path, mailbox)
    told = dropped(mailbox)
    assert {payload["event"] for _, payload in told} <= EVENTS.keys()
    assert len({pid for pid, _ in told}) == 1
    for _, payload in told:
        assert payload.keys() <= EVENTS.fields
        assert OPENCODE.unknown_fields(json.dumps(payload).encode()) == ()
    times = [payload["at"] for _, payload in told]
    assert times == sorted(set(times))


def test_no_prompt_answer_or_content_leaves_it(tmp_path: Path, mailbox: Path) -> None:
    (mailbox / ".listening").touch()
    play(tmp_path, mailbox)
    for path in mailbox.glob("[0-9]*"):
        text = path.read_text()
        assert "SCRIPT:" not in text and "done one" not in text and "Which?" not in text


def test_the_recorded_session_is_reproduced(tmp_path: Path, mailbox: Path) -> None:
    (mailbox / ".listening").touch()
    play(tmp_path, mailbox)
    reports = [
        OPENCODE.translate(json.dumps(payload).encode(), 2e9, "hook") for _, payload in dropped(mailbox)
    ]
    assert all(isinstance(each, Report) and each.beside for each in reports)
    main = [each for each in reports if isinstance(each, Report) and each.subagent is None]
    asked = [each for each in main if each.says is Turn.ASKED]
    assert [each.doing for each in asked] == ["bash: touch abc", "bash: touch abd", "Retry (2 options)"]
    failed = [each for each in main if each.says is Turn.FAILED]
    assert [(each.failure, each.doing) for each in failed] == [("error", "APIError")]
    after = main[main.index(failed[0]) + 1]
    assert after.event == "chat.message"  # the two idles that follow an error would call it done
    assert len({each.conversation for each in main}) == 2  # a subagent is no conversation of its own
    inner = [each for each in reports if isinstance(each, Report) and each.subagent]
    assert inner[0].background_started is not None and inner[0].background_started.label == "general"
    assert [each.background_ended for each in inner if each.background_ended] == [inner[0].subagent]
    settled = [each for each in main if each.says is Turn.SETTLED]
    assert len(settled) == 1  # the permission that was refused


def test_commands_get_the_conversation_they_belong_to(tmp_path: Path, mailbox: Path) -> None:
    given = play(tmp_path, mailbox)
    roots = {root for _, root in given}
    assert len(given) == 3 and len(roots) == 1  # the third is of a subagent, and belongs to its parent
    assert {session for session, _ in given} > roots


def test_tool_events_are_written_only_while_the_daemon_listens(tmp_path: Path, mailbox: Path) -> None:
    play(tmp_path, mailbox)
    events = {payload["event"] for _, payload in dropped(mailbox)}
    assert "session.idle" in events and "tool.execute.before" not in events


def test_without_a_mailbox_the_plugin_does_nothing_silently(tmp_path: Path) -> None:
    play(tmp_path, tmp_path / "missing")
    assert not (tmp_path / "missing").exists()
