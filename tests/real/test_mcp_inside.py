"""Our MCP server and the real CLIs: their own commands add and remove it, and it claims as that very session."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.real.conftest import there_or_skipped
from tests.rig.agents.commands_inside import command, environment
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.fake_apis.anthropic_messages import FakeAnthropic
from tests.rig.fake_apis.scripted_api import script
from tests.rig.real_agents import codex, gemini
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


CODEX_SETTINGS = '# mine\nmodel = "x"   # keep\n\n[mcp_servers.other]\ncommand = "y"\n'
GEMINI_SETTINGS = '{\n  // mine\n  "mcpServers": {"other": {"command": "y"}}\n}\n'


@pytest.mark.parametrize("agent", ["codex", "gemini"])
def test_the_real_clis_add_and_remove_the_server_and_keep_the_rest(
    daemon: Daemon, tmp_path: Path, agent: str
) -> None:
    found = codex.installed() if agent == "codex" else gemini.programs()
    programs = there_or_skipped(agent, found)
    file = ".codex/config.toml" if agent == "codex" else ".gemini/settings.json"
    settings = tmp_path / file
    settings.parent.mkdir()
    settings.write_text(CODEX_SETTINGS if agent == "codex" else GEMINI_SETTINGS)
    env = {**environment(daemon), "HOME": str(tmp_path), "PATH": f"{programs}:{daemon.env['PATH']}"}
    env.pop("CODEX_HOME", None)

    def ran(*words: str) -> str:
        said = subprocess.run(command("mcp", *words), env=env, capture_output=True, text=True)
        assert said.returncode == 0, said
        return said.stdout

    assert "+1 server" in ran("install")
    assert "already installed" in ran("install")
    assert f"{agent:<12} ~/{file}   installed" in ran("status")
    env["XDG_STATE_HOME"] = str(tmp_path / "elsewhere")
    assert "+1 server" in ran("install"), "an entry that leads elsewhere is replaced"
    assert "-1 server" in ran("uninstall")
    assert "nothing of ours" in ran("uninstall")
    text = settings.read_text()
    assert "mine" in text
    if agent == "codex":
        assert tomllib.loads(text) == tomllib.loads(CODEX_SETTINGS)
    else:
        assert "headcount" not in text and '"other"' in text
