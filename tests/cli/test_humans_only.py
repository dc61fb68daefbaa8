"""Taking out or repointing what is installed is for people; installing it is open to an agent.

With another HEADCOUNT_HOME no daemon knows the agent: the command line looks for itself.
"""

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agents.callers import bare
from tests.rig.agents.commands_inside import Said, command, shell
from tests.rig.agents.person import person
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

FILES = (
    ".claude/settings.json", ".codex/hooks.json", ".config/opencode/plugin/headcount.js", ".gemini/settings.json",
    ".config/opencode/opencode.json",
)  # fmt: skip
INSTALLS = (("hooks", "install"), ("hooks", "install", "--guard"), ("mcp", "install"))


@pytest.fixture
def stage(daemon: Daemon, tmp_path: Path, agent: Callable[..., Agent]) -> "Stage":
    return Stage(daemon, tmp_path, agent())


class Stage:
    def __init__(self, daemon: Daemon, directory: Path, agent: Agent) -> None:
        self.daemon, self.agent, self.elsewhere = daemon, agent, directory / "elsewhere"
        self.home = daemon.user_home
        for place in (".claude", ".codex", ".config/opencode", ".gemini"):
            (self.home / place).mkdir(exist_ok=True, parents=True)
        self.repository = directory / "web"
        subprocess.run(["git", "init", "-q", str(self.repository)], check=True)

    def as_agent(self, *words: str, before: str = "", elsewhere: bool = False) -> Said:
        home = f"HEADCOUNT_HOME={shlex.quote(str(self.elsewhere))} " if elsewhere else ""
        line = f"env {before} {home}{shlex.join(command(*words))}"
        return shell(self.agent, self.daemon, line, cwd=self.repository)

    def text(self) -> dict[str, str]:
        return {file: path.read_text() for file in FILES if (path := self.home / file).exists()}


def test_an_agent_may_install_and_install_again(stage: Stage) -> None:
    for _ in range(2):
        for words in (*INSTALLS, ("guard", "git", "--install")):
            said = stage.as_agent(*words)
            assert said.code == 0 or "on your PATH; run: codex mcp add headcount" in said.out, said
    assert len(stage.text()) >= 4
    assert stage.as_agent("guard", "git", "--install", "--strict").code == 0


@pytest.mark.parametrize("hide", ["", "-u CLAUDE_CODE_SESSION_ID -u CLAUDE_PID"])
@pytest.mark.parametrize("verb", [("hooks", "install"), ("mcp", "install")])
def test_an_agent_may_not_point_what_is_installed_to_another_home(
    stage: Stage, verb: tuple[str, ...], hide: str
) -> None:
    for words in INSTALLS[:2]:
        person(stage.daemon, *words)
    planned = json.loads(person(stage.daemon, "mcp", "install", "--agent", "opencode", "--json").out)
    entry = stage.home / ".config/opencode/opencode.json"
    entry.write_text(planned["agents"][0]["by_hand"].split("\n", 1)[1])
    before = stage.text()
    assert len(before) == 5
    said = stage.as_agent(*verb, elsewhere=True, before=hide)
    assert said.code == 3 and "is for people. Use a shell outside it." in said.err, said
    assert stage.text() == before
    assert not stage.elsewhere.exists() or not list(stage.elsewhere.rglob("*.sock"))


def test_a_person_may_point_them_to_another_home(stage: Stage) -> None:
    """The control."""
    person(stage.daemon, "hooks", "install")
    before = stage.text()
    stage.daemon.env["HEADCOUNT_HOME"] = str(stage.elsewhere)
    try:
        assert person(stage.daemon, "hooks", "install").code == 0
    finally:
        stage.daemon.env["HEADCOUNT_HOME"] = str(stage.daemon.home)
    assert stage.text() != before and str(stage.elsewhere) in stage.text()[".claude/settings.json"]


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize(
    "verb", [("hooks", "uninstall"), ("mcp", "uninstall"), ("guard", "git", "--uninstall")]
)
def test_an_agent_may_take_nothing_out(stage: Stage, verb: tuple[str, ...], elsewhere: bool) -> None:
    assert stage.as_agent("guard", "git", "--install").code == 0
    person(stage.daemon, "hooks", "install")
    before = stage.text()
    said = stage.as_agent(*verb, elsewhere=elsewhere)
    assert said.code == 3 and "for people" in said.err, said
    assert stage.text() == before and (stage.repository / ".git" / "hooks" / "pre-commit").exists()


def test_an_agent_may_not_make_a_strict_guard_lax(stage: Stage) -> None:
    assert stage.as_agent("guard", "git", "--install", "--strict").code == 0
    said = stage.as_agent("guard", "git", "--install")
    assert said.code == 3 and "weakening a guard" in said.err, said
    assert "--strict" in (stage.repository / ".git" / "hooks" / "pre-commit").read_text()


def test_marks_on_whoever_started_the_shell_are_seen_without_a_daemon(tmp_path: Path) -> None:
    """The caller took them off itself; the shell above it, which is no agent, carries them."""
    path = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    inner = shlex.join(["env", "-u", "CLAUDE_CODE_SESSION_ID", *command("hooks", "uninstall")])
    env = {**bare(), "HOME": str(tmp_path), "HEADCOUNT_HOME": str(tmp_path / "hc"), **path}
    said = tmp_path / "said"
    for marks, code in (({}, "0"), ({"CLAUDE_CODE_SESSION_ID": "gone"}, "3")):
        said.unlink(missing_ok=True)
        line = f"{inner} >/dev/null 2>&1; echo $? >{said}.new; mv {said}.new {said}"
        subprocess.run(["setsid", "-f", "/bin/sh", "-c", line], env={**env, **marks}, check=True)
        eventually(said.exists, within=30)
        assert said.read_text().strip() == code
