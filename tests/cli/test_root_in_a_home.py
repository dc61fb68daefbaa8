"""Root in the home of a user leaves nothing there, and is told what to do."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import command
from tests.rig.security.second_user import UID, is_possible

only_root = pytest.mark.skipif(not is_possible(), reason="only root can be another user")


def run(env: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    more = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    return subprocess.run(command(*words), env={**more, **env}, capture_output=True, text=True, timeout=60)


@only_root
@pytest.mark.parametrize(
    "words", [("ps",), ("up",), ("hooks", "install"), ("status",), ("mcp", "install", "--dry-run")]
)
def test_root_in_a_users_home_leaves_nothing_there_and_is_told_what_to_do(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    user = tmp_path / "user"
    (user / ".claude").mkdir(parents=True)
    for each in (user, user / ".claude"):
        os.chown(each, UID, UID)
    said = run({"HOME": str(user)}, *words)
    assert said.returncode == 3 and "You are root" in said.stderr and "without sudo" in said.stderr
    assert said.stderr.endswith(f": sudo -H headcount {' '.join(words)}\n")
    assert sorted(each.name for each in user.rglob("*")) == [".claude"]
    assert run({"HOME": str(user)}, "completion", "bash").returncode == 0
    as_json = run({"HOME": str(user)}, *words, "--json")
    assert json.loads(as_json.stdout)["error"]["code"] == "refused"
