"""The git guard: real repositories, real hooks, real claims."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import Said, environment, inside, outside, settled, shell
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")


def git(place: Path, *words: str, env: dict[str, str] | None = None) -> Said:
    names = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    done = subprocess.run(
        ["git", *words], cwd=place, env={**(env or os.environ), **names}, capture_output=True, text=True
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "web"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / "src").mkdir()
    for name in ("src/a.py", "src/b é.py", "README"):
        (place / name).write_text("1\n")
    git(place, "add", "-A")
    assert git(place, "commit", "-q", "-m", "first").code == 0
    return place


@pytest.fixture
def holder(daemon: Daemon, agent: Callable[..., Agent]) -> Agent:
    made = agent()
    settled(made, daemon, session_title="auth-refactor")
    return made


def change(repository: Path, name: str) -> None:
    (repository / name).write_text("2\n")
    git(repository, "add", "-A")


def test_a_commit_of_a_claimed_path_is_refused_and_names_the_holder(
    daemon: Daemon, repository: Path, holder: Agent
) -> None:
    assert outside(daemon, "guard", "git", "--install", cwd=repository).code == 0
    inside(holder, daemon, "claim", f"path:{repository}/src/**")
    change(repository, "src/b é.py")
    refused = git(repository, "commit", "-m", "x", env=environment(daemon))
    assert refused.code != 0 and "auth-refactor" in refused.err and "b é.py" in refused.err
    assert "--wait 600" in refused.err and "release" not in refused.err
    assert outside(daemon, "guard", "git", cwd=repository).code == 3
    inside(holder, daemon, "release", f"path:{repository}/src/**")
    assert git(repository, "commit", "-m", "x", env=environment(daemon)).code == 0


def test_other_paths_and_the_holder_itself_are_not_in_the_way(
    daemon: Daemon, repository: Path, holder: Agent
) -> None:
    inside(holder, daemon, "claim", f"path:{repository}/src/a.py")
    change(repository, "README")
    assert outside(daemon, "guard", "git", cwd=repository).code == 0
    change(repository, "src/a.py")
    assert outside(daemon, "guard", "git", cwd=repository).code == 3
    assert inside(holder, daemon, "guard", "git", cwd=repository).code == 0


def test_a_command_under_hold_may_commit_what_its_hold_claimed(daemon: Daemon, repository: Path) -> None:
    change(repository, "src/a.py")
    item = f"path:{repository}/src/a.py"
    words = ["hold", item, "--", "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "x"]
    outside(daemon, "guard", "git", "--install", cwd=repository)
    assert outside(daemon, *words, cwd=repository).code == 0


def test_a_claimed_branch_is_guarded_at_commit_and_push_also_from_a_worktree(
    daemon: Daemon, repository: Path, holder: Agent, tmp_path: Path
) -> None:
    outside(daemon, "guard", "git", "--install", cwd=repository)
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(repository, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(repository, "worktree", "add", "-q", "-b", "i18n", str(tmp_path / "web-i18n"))
    assert git(repository, "push", "-q", "origin", "main", env=environment(daemon)).code == 0
    inside(holder, daemon, "claim", "branch:web#i18n")
    change(tmp_path / "web-i18n", "README")
    refused = git(tmp_path / "web-i18n", "commit", "-m", "x", env=environment(daemon))
    assert refused.code != 0 and "branch:web#i18n" in refused.err
    pushed = git(repository, "push", "origin", "i18n", env=environment(daemon))
    assert pushed.code != 0 and "this push touches" in pushed.err
    assert git(repository, "push", "-q", "origin", "HEAD:refs/heads/other", env=environment(daemon)).code == 0


def test_without_a_daemon_the_guard_warns_and_lets_go_unless_it_is_strict(
    daemon: Daemon, repository: Path
) -> None:
    outside(daemon, "guard", "git", "--install", cwd=repository)
    daemon.stop()
    change(repository, "README")
    done = git(repository, "commit", "-m", "x", env=environment(daemon))
    assert done.code == 0 and "the guard could not ask" in done.err
    change(repository, "src/a.py")
    assert outside(daemon, "guard", "git", "--strict", cwd=repository).code == 4
    assert not daemon.socket.exists()


def test_a_hook_of_the_users_own_is_left_alone_and_uninstalling_takes_out_only_ours(
    daemon: Daemon, repository: Path
) -> None:
    own = repository / ".git/hooks/pre-push"
    own.write_text("#!/bin/sh\nexit 0\n")
    said = outside(daemon, "guard", "git", "--install", cwd=repository)
    assert said.code == 3 and "headcount guard git pre-push || exit $?" in said.out
    assert own.read_text() == "#!/bin/sh\nexit 0\n"
    assert (repository / ".git/hooks/pre-commit").stat().st_mode & 0o111
    assert outside(daemon, "guard", "git", "--uninstall", cwd=repository).code == 0
    assert own.exists() and not (repository / ".git/hooks/pre-commit").exists()


def test_a_guard_whose_program_is_gone_does_not_lock_the_repository(daemon: Daemon, repository: Path) -> None:
    outside(daemon, "guard", "git", "--install", cwd=repository)
    hook = repository / ".git/hooks/pre-commit"
    program = hook.read_text().splitlines()[2].split()[2]  # [ -x PROGRAM ] || …
    hook.write_text(hook.read_text().replace(program, "/no/such/program"))
    change(repository, "README")
    assert git(repository, "commit", "-m", "x", env=environment(daemon)).code == 0


def test_outside_a_repository_it_is_a_usage_error(daemon: Daemon, tmp_path: Path) -> None:
    assert outside(daemon, "guard", "git", cwd=tmp_path).code == 2


def test_a_commit_by_another_agent_is_refused_inside_its_shell(
    daemon: Daemon, repository: Path, holder: Agent, agent: Callable[..., Agent]
) -> None:
    other = agent()
    settled(other, daemon)
    outside(daemon, "guard", "git", "--install", cwd=repository)
    inside(holder, daemon, "claim", "branch:web#main")
    change(repository, "README")
    line = "git -c user.name=a -c user.email=a@b commit -m x"
    assert shell(other, daemon, line, cwd=repository).code != 0
    assert shell(holder, daemon, line, cwd=repository).code == 0


def test_whoever_installs_over_a_strict_hook_is_told_that_it_is_strict_no_longer(
    daemon: Daemon, repository: Path
) -> None:
    strict = outside(daemon, "guard", "git", "--install", "--strict", cwd=repository)
    assert strict.code == 0 and "no longer" not in strict.out
    loosened = outside(daemon, "guard", "git", "--install", cwd=repository)
    assert loosened.code == 0 and loosened.out.count("it was strict, and is no longer") == 2
    assert "no longer" not in outside(daemon, "guard", "git", "--install", cwd=repository).out
