"""Rows of the real Claude Code: model, context, branch, version and cost as its own files say, and no unknown names."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.real.screen_and_unknown_fields import check_every_name_is_known, unknown_names
from tests.rig.agents.callers import Errand, Request, detached
from tests.rig.daemon.real_daemon import eventually
from tests.rig.fake_apis.scripted_api import lasting, script
from tests.rig.real_agents.claude import Claude
from tests.rig.real_agents.cli_with_daemon import Stage


def git(directory: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *words], cwd=directory, check=True, capture_output=True)


def test_a_row_says_model_context_branch_version_and_at_its_end_the_cost(bare: Stage, tmp_path: Path) -> None:
    project = bare.claude.project
    git(project, "init", "-q")
    git(project, "commit", "-q", "--allow-empty", "-m", "first")
    git(project, "checkout", "-q", "-b", "auth-12")
    tui, row = bare.open()
    with tui:
        bare.turn(tui, {"bash": "git checkout -q -b i18n"}, lasting("it is done"), then="idle")
        row = bare.settles(tui.pid, branch="i18n", model="claude-opus-5-5")
        assert (row["repo"], row["version"], row["entrypoint"]) == ("project", "2.1.325", "cli")
        assert row["context_tokens"] > 1_000
        assert row["resume"] == f"claude --resume {row['conversation']}"
        shown = bare.daemon.get(f"/v1/sessions/{row['id']}")
        told = {
            name: shown["sources"][name]["source"] for name in ("model", "version", "branch", "entrypoint")
        }
        assert told == {
            "model": "transcript",
            "version": "registry",
            "branch": "git",
            "entrypoint": "registry",
        }
        ask = Request("GET", f"/v1/sessions/{row['id']}/peek?lines=3")
        lines = detached(Errand(tmp_path / "errands", bare.daemon.socket, [ask]))[0].data["lines"]
        said = [(each["who"], each["text"]) for each in lines]
        assert said[-2:] == [("tool", "Bash: git checkout -q -b i18n"), ("agent", "it is done")]
        tui.type("/exit")
        bare.ended(row["id"])
    ended = eventually(lambda: [each for each in bare.daemon.sessions(id=row["id"]) if each["cost_usd"]])[0]
    assert ended["cost_usd"] > 0 and ended["tokens"]["input"] > 1_000 and ended["tokens"]["output"] > 0
    check_every_name_is_known("claude-code", bare.claude.home)


@pytest.mark.parametrize("version", ["newest", "older"])
def test_every_name_that_it_writes_is_known(request: pytest.FixtureRequest, version: str) -> None:
    claude: Claude = request.getfixturevalue("claude" if version == "newest" else "older")
    claude.run_print(script({"bash": "echo hi"}, {"say": "finished"}))
    check_every_name_is_known("claude-code", claude.home)
    [path] = claude.root.glob("projects/*/*.jsonl")
    with path.open("a") as file:  # the control: what a newer one might write
        file.write(json.dumps({"type": "hologram"}) + "\n")
    assert unknown_names("claude-code", claude.home) == {("record", "hologram")}
