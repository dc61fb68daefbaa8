"""Accidents that every agent can have, on what OpenCode and Gemini CLI really write. Each with the naive way beside it."""

import json
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from headcount.agents.gemini import transcript
from headcount.agents.gemini.adapter import GEMINI
from headcount.agents.opencode.adapter import OPENCODE
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import ProcessFacts
from headcount.core.values.report import Report
from tests.rig.agents.gemini_stand_in import GeminiStandIn
from tests.rig.agents.stand_in import Agent
from tests.rig.core_values import Scene, bound, death, process
from tests.rig.daemon.real_daemon import Daemon, eventually

Make = Callable[..., Agent]
SAMPLES = Path(__file__).parents[1] / "rig" / "samples"
HOST = process(100)
SESSION = "ses_e1ddc55b3ffe9KPc75Pkj6GV3l"
OUTER, INNER = "11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"


def opencode(event: str, at: float, **more: object) -> Report:
    payload = {"event": event, "session": SESSION, "at": at, **more}
    report = OPENCODE.translate(json.dumps(payload).encode(), at, "hook")
    assert isinstance(report, Report)
    return replace(report, anchor=bound(HOST))


def gemini(sample: str) -> Report:
    report = GEMINI.translate((SAMPLES / "gemini" / "hooks" / f"{sample}.json").read_bytes(), 2e9, "hook")
    assert isinstance(report, Report)
    return replace(report, anchor=bound(HOST))


def mailbox_of(daemon: Daemon, agent: str) -> Path:
    made = daemon.mailbox / agent
    made.mkdir(0o700)  # as the installer makes it
    return made


def doing(scene: Scene) -> str:
    return scene.only().activity.doing.value


def test_L5_esc_at_a_dialog_of_gemini_fires_no_hook_and_does_not_leave_it_waiting() -> None:
    scene = Scene()
    asked = gemini("Notification.ToolPermission")
    lines = next((SAMPLES / "gemini" / "chats").glob("*.jsonl")).read_bytes().splitlines(keepends=True)
    cancelled = next(nth for nth, line in enumerate(lines, 1) if b"Request cancelled." in line)
    told = transcript.parse(b"".join(lines[:cancelled])).turned
    assert told is not None
    scene.hear(replace(asked, at=told.at - 1), now=2e9)
    assert doing(scene) == "waiting"  # the naive way knows hooks only, and stays here for ever
    scene.hear(Glimpse("gemini", asked.conversation, turned=told), now=2e9)
    assert doing(scene) == "idle"


def test_S1_a_subagent_of_opencode_that_ends_late_does_not_set_the_main_activity() -> None:
    scene = Scene()
    late = opencode("tool.execute.before", 12.0, subagent="ses_inner", tool="bash")
    scene.hear(opencode("chat.message", 10.0), opencode("session.idle", 11.0), late, now=2e9)
    assert doing(scene) == "done"
    naive = Scene()
    naive.hear(opencode("session.idle", 11.0), replace(late, subagent=None), now=2e9)
    assert doing(naive) == "working"


def test_S2_what_gemini_sends_before_every_request_is_not_shown_as_a_compaction() -> None:
    scene = Scene()
    scene.hear(gemini("BeforeTool.run_shell_command"), now=2e9)
    shown = scene.only().activity
    scene.hear(gemini("PreCompress"), now=2e9)
    assert (scene.only().activity.doing, scene.only().activity.label) == (shown.doing, shown.label)


def test_S3_a_permission_inside_a_subagent_of_opencode_is_a_wait() -> None:
    scene = Scene()
    asked = opencode("permission.asked", 11.0, subagent="ses_inner", tool="bash", args={"command": "touch a"})
    scene.hear(opencode("chat.message", 10.0), asked, now=2e9)
    assert doing(scene) == "waiting"
    scene.hear(opencode("permission.replied", 12.0, subagent="ses_inner"), now=2e9)
    assert doing(scene) == "working"
    naive = Scene()  # a subagent's words are kept apart without a look at what they say
    naive.hear(opencode("chat.message", 10.0), replace(asked, subagent="ses_inner"), now=2e9)
    assert doing(naive) == "working"


def test_S5_a_subagent_of_opencode_that_still_runs_is_shown_beside_the_turn_that_ended() -> None:
    scene = Scene()
    started = opencode("session.created", 11.0, subagent="ses_inner", agent="general")
    scene.hear(opencode("chat.message", 10.0), started, opencode("session.idle", 12.0), now=2e9)
    assert doing(scene) == "done" and [each.label for each in scene.only().background] == ["general"]
    scene.hear(opencode("session.idle", 13.0, subagent="ses_inner"), now=2e9)
    assert scene.only().background == ()


def test_S6_events_that_nobody_knows_are_counted_and_harmless(daemon: Daemon, agent: Make) -> None:
    made, mailbox = agent(name="opencode"), mailbox_of(daemon, "opencode")
    for event in ("session.teleported", "chat.message"):
        made.drop(mailbox, json.dumps({"event": event, "session": SESSION, "new_field": 1}))
    eventually(lambda: daemon.sessions(pid=made.pid, conversation=SESSION, activity="working"))
    assert any("teleported" in each for each in daemon.get("/v1/status")["unknown_events"])


def test_L7_what_opencode_left_in_its_database_is_nobody(tmp_path: Path) -> None:
    """A conversation that stands there as working, and whose process is dead, stays dead."""
    scene = Scene()
    scene.hear(opencode("chat.message", 10.0), death(HOST, 11.0), now=2e9)
    ended = scene.only()
    working = opencode("chat.message", 12.0)
    scene.hear(Glimpse("opencode", SESSION, title="still here"), working, now=2e9)
    assert scene.only().ended == ended.ended and not scene.only().is_open


def test_I5_a_gemini_inside_a_gemini_does_not_take_its_process(daemon: Daemon, tmp_path: Path) -> None:
    """The inner one is told not to relaunch, by the environment that it inherits: it looks like a launcher."""
    place = tmp_path / "gemini"
    mailbox = mailbox_of(daemon, "gemini")
    outer = GeminiStandIn(place)
    try:
        outer.hook(mailbox, "SessionStart", OUTER, source="startup")
        first = daemon.session(conversation=OUTER)
        inner = GeminiStandIn(place, launcher=True, inside=outer)
        inner.hook(mailbox, "SessionStart", INNER, source="startup")
        second = daemon.session(conversation=INNER)
        assert (first["pid"], second["pid"]) == (outer.pid, inner.pid)
        assert second["parent"] == first["id"]
        assert daemon.session(conversation=OUTER)["liveness"] == "alive"
        assert (
            _nearest_recognised(inner.pid, outer.pid) == outer.pid
        )  # the naive way: the nearest that looks like one
        inner.close()
    finally:
        outer.close()


def _nearest_recognised(*pids: int) -> int | None:
    for pid in pids:
        argv = tuple(Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1])
        exe = str(Path(f"/proc/{pid}/exe").readlink())
        if GEMINI.recognise(ProcessFacts(process(pid), 1, 0, "node", argv, exe)):
            return pid
    return None


def test_D3_a_gemini_that_no_file_names_lives_while_its_process_does(daemon: Daemon, tmp_path: Path) -> None:
    outer = GeminiStandIn(tmp_path / "gemini")
    try:
        chat = tmp_path / "session-2026-11-16T02-20-11111111.jsonl"
        chat.write_text("")
        outer.hook(mailbox_of(daemon, "gemini"), "BeforeAgent", OUTER, transcript_path=str(chat))
        row = daemon.session(conversation=OUTER, activity="working")
        chat.unlink()
        daemon.restart()
        assert daemon.session(id=row["id"])["liveness"] == "alive"
    finally:
        outer.close()
    eventually(lambda: daemon.sessions(id=row["id"], liveness="ended"))
