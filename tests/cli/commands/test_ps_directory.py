"""`ps DIR`: the sessions of a repository or of a directory, named by any path to it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")


def shown(daemon: Daemon, *words: str, cwd: Path) -> set[str]:
    said = outside(daemon, *words, "--json", cwd=cwd)
    assert said.code == 0, said.err
    return {row["conversation"] for row in json.loads(said.out)["sessions"]}


def test_a_path_selects_as_the_dot_does(daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path) -> None:
    repo, plain = tmp_path / "api", tmp_path / "notes"
    for place in (repo / "src" / "deep", plain / "sub", repo / ".git"):
        place.mkdir(parents=True)
    (repo / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "link").symlink_to(repo)
    inner, noter = agent(cwd=repo / "src" / "deep"), agent(cwd=plain / "sub")
    for each in (inner, noter):
        settled(each, daemon)
    for words, cwd, found in (
        (("ps", "."), repo / "src", inner),
        (("ps", str(repo)), tmp_path, inner),
        (("ps", "api"), tmp_path, inner),
        (("ps", "../link/src"), plain, inner),
        ((str(repo),), tmp_path, inner),
        (("./api",), tmp_path, inner),
        (("ps", "."), plain, noter),
        (("ps", str(plain)), repo, noter),
        (("ps", str(plain / "sub"), "--all"), repo, noter),
    ):
        assert shown(daemon, *words, cwd=cwd) == {found.conversation}, (words, cwd)


def test_what_is_no_directory_is_a_wrong_call(daemon: Daemon, tmp_path: Path) -> None:
    said = outside(daemon, "ps", "7f3a", cwd=tmp_path)
    assert said.code == 2 and "headcount show 7f3a" in said.err
