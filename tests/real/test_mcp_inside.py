"""Our MCP server in the hands of the real CLI: told of by `mcp install`, it claims as that very session."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import command, environment
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.fake_apis.anthropic_messages import FakeAnthropic
from tests.rig.fake_apis.scripted_api import script
from tests.rig.real_agents.claude import Claude, installed

pytestmark = pytest.mark.real

CONVERSATION = "11111111-2222-4333-8444-666666666666"
TOOLS = ("mcp__headcount__claim", "mcp__headcount__my_session", "mcp__headcount__who_holds")


def test_the_real_cli_claims_by_mcp_as_itself(daemon: Daemon, tmp_path: Path) -> None:
    programs = installed()
    if programs is None:
        pytest.skip("Claude Code cannot be installed here")
    with FakeAnthropic() as api:
        cli = Claude(programs, api.url, tmp_path / "claude")
        cli.place.mkdir()
        cli.prepare(allow=(*TOOLS, "Bash"))
        env = {**environment(daemon), "HOME": str(cli.home), "PATH": f"{programs}:{daemon.env['PATH']}"}
        env.pop("CLAUDE_CONFIG_DIR", None)
        subprocess.run(command("hooks", "install"), env=env, check=True, capture_output=True)
        before = json.loads((cli.home / ".claude.json").read_text())
        said = subprocess.run(command("mcp", "install"), env=env, capture_output=True, text=True)
        assert said.returncode == 0 and "+1 server" in said.stdout, said
        again = subprocess.run(command("mcp", "install"), env=env, capture_output=True, text=True)
        assert "already installed" in again.stdout, again
        steps = script(
            {"use": ["mcp__headcount__my_session", {}]},
            {"use": ["mcp__headcount__claim", {"item": "task:A", "note": "by mcp"}]},
            {"use": ["mcp__headcount__who_holds", {}]},
            {"say": "done"},
        )
        cli.run_print(steps, "--session-id", CONVERSATION)
        told = "".join(path.read_text() for path in cli.root.glob("projects/*/*.jsonl"))
        assert "task:A is yours: claim #" in told and "task:A: you, claim #" in told
        events = eventually(lambda: daemon.get("/v1/history?type=claim.released")["events"])
        assert [(each["item"], each["because"]) for each in events] == [("task:A", "died")]
        (granted,) = daemon.get("/v1/history?type=claim.granted")["events"]
        assert granted["holder"]["conversation"] == CONVERSATION
        gone = subprocess.run(command("mcp", "uninstall"), env=env, capture_output=True, text=True)
        assert gone.returncode == 0 and "-1 server" in gone.stdout, gone
        after = json.loads((cli.home / ".claude.json").read_text())
        assert not after.get("mcpServers") and after["projects"].keys() == before["projects"].keys()
