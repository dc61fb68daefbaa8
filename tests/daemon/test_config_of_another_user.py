"""Settings that another user could have written run nothing, and nothing in their place holds a start up."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from headcount.daemon.config import BadSetting, Config
from tests.rig.agents.commands_inside import command
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.security.second_user import UID, as_second, is_possible

only_root = pytest.mark.skipif(not is_possible(), reason="only root can be another user")


def run(env: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    more = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    return subprocess.run(command(*words), env={**more, **env}, capture_output=True, text=True, timeout=60)


@only_root
@pytest.mark.parametrize("mode", [0o1777, 0o770])
def test_a_command_that_another_user_planted_is_not_run(tmp_path: Path, mode: int) -> None:
    for above in (tmp_path, *list(tmp_path.parents)[:3]):
        above.chmod(above.stat().st_mode | 0o011)
    home = tmp_path / "home"
    home.mkdir()
    if mode == 0o770:
        os.chown(home, -1, UID)
    home.chmod(mode)
    planted = f'notify.command = ["touch", "{tmp_path}/ran"]'
    assert as_second("sh", "-c", f"printf '%s' '{planted}' >{home}/config.toml").returncode == 0
    said = run({"HOME": str(tmp_path), "HEADCOUNT_HOME": str(home)}, "up")
    assert said.returncode == 4 and f"may write in it (chmod go-w {home})" in said.stderr
    home.chmod(0o700)  # the advice, and still the file is another's
    said = run({"HOME": str(tmp_path), "HEADCOUNT_HOME": str(home)}, "up")
    assert said.returncode == 4 and "config.toml: not a plain file of your own" in said.stderr
    assert not (tmp_path / "ran").exists()


def test_a_pipe_in_the_place_of_settings_is_refused_and_nobody_waits(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home")
    os.mkfifo(daemon.home / "config.toml")
    assert "not a plain file of your own" in daemon.start().word
    daemon.stop()


def test_a_pipe_that_is_put_there_later_does_not_hold_status_up(daemon: Daemon) -> None:
    os.mkfifo(daemon.home / "config.toml")
    assert any("would not start" in each for each in daemon.get("/v1/status")["warnings"])


def test_settings_that_others_may_write_are_refused_and_a_link_to_ones_own_is_not(tmp_path: Path) -> None:
    config, real = tmp_path / "c" / "config.toml", tmp_path / "dotfiles.toml"
    config.parent.mkdir()
    real.write_text("web_port = 4321\n")
    config.symlink_to(real)
    assert Config.read(config, {}).web_port == 4321
    real.chmod(0o666)
    with pytest.raises(BadSetting, match=f"others may write it .chmod go-w {config}."):
        Config.read(config, {})
    real.chmod(0o644)
    config.parent.chmod(0o777)
    with pytest.raises(BadSetting, match=f"everybody may write in it .chmod go-w {config.parent}."):
        Config.read(config, {})


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
