"""Repositories, from files alone."""

import os
from pathlib import Path

import pytest

from headcount.cli.actions import git


@pytest.fixture(autouse=True)
def forget() -> None:
    git._known.clear()


def checkout(top: Path, head: str = "ref: refs/heads/main\n") -> Path:
    (top / ".git").mkdir(parents=True)
    (top / ".git/HEAD").write_text(head)
    return top


def worktree(of: Path, at: Path, branch: str) -> Path:
    own = of / ".git/worktrees" / at.name
    own.mkdir(parents=True)
    (own / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    at.mkdir()
    (at / ".git").write_text(f"gitdir: {own}\n")
    return at


def test_a_directory_is_called_by_its_repository_and_branch(tmp_path: Path) -> None:
    top = checkout(tmp_path / "api", "ref: refs/heads/feature/auth\n")
    (top / "src/deep").mkdir(parents=True)
    assert git.label(str(top / "src/deep")) == "api@feature/auth"


def test_a_detached_head_is_a_short_hash(tmp_path: Path) -> None:
    assert git.label(str(checkout(tmp_path / "api", "0123456789abcdef\n"))) == "api@0123456"


def test_a_worktree_counts_as_its_repository(tmp_path: Path) -> None:
    web = checkout(tmp_path / "web")
    other = worktree(web, tmp_path / "web-i18n", "i18n")
    assert git.label(str(other)) == "web@i18n"
    assert git.is_within(str(other), str(web))


def test_outside_a_repository_the_directory_itself_counts(tmp_path: Path) -> None:
    assert git.label(str(tmp_path / "gone")) == "gone"
    assert git.label("/") == "/"
    assert git.label(None) == "-"
    assert git.is_within(str(tmp_path / "a/b"), str(tmp_path / "a"))
    assert not git.is_within(str(tmp_path / "ab"), str(tmp_path / "a"))


def test_another_repository_is_not_this_one(tmp_path: Path) -> None:
    api, web = checkout(tmp_path / "api"), checkout(tmp_path / "web")
    assert not git.is_within(str(web), str(api))
    assert not git.is_within(None, str(api))


def test_a_pipe_in_place_of_a_file_does_not_hang(tmp_path: Path) -> None:
    top = tmp_path / "trap"
    (top / ".git").mkdir(parents=True)
    os.mkfifo(top / ".git/HEAD")
    assert git.label(str(top)) == "trap"
    other = tmp_path / "trap2"
    other.mkdir()
    os.mkfifo(other / ".git")
    assert git.label(str(other)) == "trap2"


@pytest.mark.parametrize("directory", ["relative", "/nul\0byte", "/\ud800"])
def test_a_hostile_path_is_only_a_name(directory: str) -> None:
    assert isinstance(git.label(directory), str)


def test_a_device_in_place_of_a_file_is_not_read(tmp_path: Path) -> None:
    top = tmp_path / "trap"
    (top / ".git").mkdir(parents=True)
    (top / ".git/HEAD").symlink_to("/dev/zero")
    assert git.label(str(top)) == "trap"
