"""The two lines that ask, run as an agent runs them, against a real daemon."""

import json
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headcount.agents.installing.hook_line_asks_daemon import CONTEXT, GUARD, line
from tests.rig.agents.commands_inside import inside, outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

MakeAgent = Callable[..., Agent]


def asked(agent: Agent, daemon: Daemon, kind: str, payload: str, before: str = "") -> str:
    """What the installed line prints into the agent; it must exit 0 whatever happens."""
    given = agent.cwd / f".asked-{agent.pid}"
    given.write_text(payload)
    script = f"{before} {line(daemon.socket, kind, 'claude-code')}"
    answer, said = agent.cwd / f".answer-{agent.pid}", agent.cwd / f".err-{agent.pid}"
    code = agent.run(f"/bin/sh -c {shlex.quote(script)} <{given} >{answer} 2>{said}; echo $?")
    assert code == "0" and said.read_text() == ""
    return answer.read_text()


def edit(agent: Agent, path: Path | str, tool: str = "Edit", **more: Any) -> str:
    field = "notebook_path" if tool == "NotebookEdit" else "file_path"
    return agent.payload("PreToolUse", tool_name=tool, tool_input={field: str(path), **more})


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit", "NotebookEdit"])
def test_an_edit_of_anothers_path_is_denied_and_names_the_holder(
    daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path, tool: str
) -> None:
    first, second = two
    inside(first, daemon, "claim", f"path:{tmp_path}/src/**")
    said = json.loads(asked(second, daemon, GUARD, edit(second, tmp_path / "src/a.py", tool)))
    decision = said["hookSpecificOutput"]
    assert decision["hookEventName"] == "PreToolUse" and decision["permissionDecision"] == "deny"
    assert "auth-refactor" in decision["permissionDecisionReason"]
    assert "--wait 600" in decision["permissionDecisionReason"]
    assert "release" not in decision["permissionDecisionReason"]


def test_the_holder_others_paths_and_other_tools_are_not_held_up(
    daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path
) -> None:
    first, second = two
    inside(first, daemon, "claim", f"path:{tmp_path}/src/a.py")
    assert asked(first, daemon, GUARD, edit(first, tmp_path / "src/a.py")) == ""
    assert asked(second, daemon, GUARD, edit(second, tmp_path / "src/b.py")) == ""
    assert asked(second, daemon, GUARD, edit(second, tmp_path / "src/a.py", "Read")) == ""
    assert asked(second, daemon, GUARD, edit(second, tmp_path / "src/a.py")) != ""
    inside(first, daemon, "release", f"path:{tmp_path}/src/a.py")
    assert asked(second, daemon, GUARD, edit(second, tmp_path / "src/a.py")) == ""


def test_a_link_and_dots_lead_to_the_same_claim(
    daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path
) -> None:
    first, second = two
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    inside(first, daemon, "claim", f"path:{tmp_path}/link/a.py")
    assert asked(second, daemon, GUARD, edit(second, f"{tmp_path}/real/x/../a.py")) != ""
    assert asked(second, daemon, GUARD, edit(second, f"{tmp_path}/link/a.py")) != ""


def test_a_death_lets_the_next_edit_through(daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path) -> None:
    first, second = two
    inside(first, daemon, "claim", f"path:{tmp_path}/a.py")
    first.kill()
    eventually(lambda: asked(second, daemon, GUARD, edit(second, tmp_path / "a.py")) == "")


@pytest.mark.parametrize("kind", [GUARD, CONTEXT])
def test_a_daemon_that_is_away_or_hung_costs_a_quarter_second_at_most_and_prints_nothing(
    daemon: Daemon, agent: MakeAgent, tmp_path: Path, kind: str
) -> None:
    one = agent()
    settled(one, daemon)
    assert daemon.process is not None
    daemon.process.send_signal(19)  # SIGSTOP
    began = time.monotonic()
    assert asked(one, daemon, kind, edit(one, tmp_path / "a.py")) == ""
    assert time.monotonic() - began < 10
    daemon.stop()
    assert asked(one, daemon, kind, edit(one, tmp_path / "a.py")) == ""


def test_a_proxy_and_a_curlrc_do_not_lead_the_question_astray(
    daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path
) -> None:
    first, second = two
    inside(first, daemon, "claim", f"path:{tmp_path}/a.py")
    (tmp_path / ".curlrc").write_text("fail-early\nsilent\noutput = /dev/null\n")
    before = (
        f"http_proxy=http://127.0.0.1:1 all_proxy=http://127.0.0.1:1 CURL_HOME={tmp_path} HOME={tmp_path}"
    )
    assert asked(second, daemon, GUARD, edit(second, tmp_path / "a.py"), before) != ""


@pytest.mark.parametrize("payload", ["", "[]", "{", '{"session_id": "x"}', "\x00\xff"])
def test_nonsense_is_answered_by_silence(daemon: Daemon, agent: MakeAgent, payload: str) -> None:
    one = agent()
    for kind in (GUARD, CONTEXT):
        assert asked(one, daemon, kind, payload) == ""


# --- context -----------------------------------------------------------------------------------------


def context(agent: Agent, daemon: Daemon, source: str = "startup") -> str:
    said = asked(agent, daemon, CONTEXT, agent.payload("SessionStart", source=source))
    if not said:
        return ""
    answer = json.loads(said)["hookSpecificOutput"]
    assert answer["hookEventName"] == "SessionStart"
    return str(answer["additionalContext"])


def test_a_resumed_conversation_is_told_what_it_held_and_what_is_free(
    daemon: Daemon, agent: MakeAgent
) -> None:
    first, other, resumed = agent(), agent(), agent()
    settled(first, daemon)
    settled(other, daemon, session_title="flaky-ci")
    inside(first, daemon, "claim", "task:A")
    inside(first, daemon, "claim", "task:B")
    inside(first, daemon, "claim", "task:GIVEN-BACK")
    inside(first, daemon, "release", "task:GIVEN-BACK")
    first.kill()
    eventually(lambda: not daemon.get("/v1/claims")["claims"])
    inside(other, daemon, "claim", "task:B")
    resumed.conversation = first.conversation
    text = context(resumed, daemon, "resume")
    assert "- task:A: free." in text and "headcount claim task:A" in text
    assert "task:B: Held by" in text and "flaky-ci" in text
    assert "GIVEN-BACK" not in text and "nobody inherits" in text
    assert daemon.get("/v1/claims")["claims"][0]["item"] == "task:B"  # telling granted nothing


def test_who_else_works_in_this_repository_is_told(daemon: Daemon, agent: MakeAgent, tmp_path: Path) -> None:
    place = tmp_path / "web"
    place.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "i18n", str(place)], check=True)
    first, here, elsewhere = agent(cwd=place), agent(cwd=place), agent()
    settled(first, daemon, session_title="auth-refactor")
    inside(first, daemon, "claim", "task:A")
    text = context(here, daemon)
    assert "Also in this repository (web):" in text
    assert "auth-refactor (working" in text and "in this same worktree, branch i18n; holds task:A" in text
    assert context(elsewhere, daemon) == ""


def test_a_fresh_session_alone_is_told_nothing(daemon: Daemon, agent: MakeAgent) -> None:
    assert context(agent(), daemon) == ""


def test_a_context_that_came_too_late_is_said_by_explain(daemon: Daemon, agent: MakeAgent) -> None:
    first, resumed = agent(), agent()
    settled(first, daemon)
    inside(first, daemon, "claim", "task:A")
    first.kill()
    eventually(lambda: not daemon.get("/v1/claims")["claims"])
    resumed.conversation = first.conversation
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        assert context(resumed, daemon, "resume") == ""
    finally:
        daemon.process.send_signal(signal.SIGCONT)
    settled(resumed, daemon)
    id = daemon.session(pid=resumed.pid)["id"]
    told = eventually(lambda: daemon.explain(id)["context"])
    assert told["value"] == "not delivered" and "hung up" in told["because"]
    assert "Starting context: not delivered" in outside(daemon, "explain", id).out
    assert "task:A" in context(resumed, daemon, "resume")  # the control: one that arrives
    assert daemon.explain(id)["context"] is None
    assert "Starting context" not in outside(daemon, "explain", id).out
