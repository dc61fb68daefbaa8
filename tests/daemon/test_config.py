"""Settings: their forms, where they come from, what is refused and why, and the note that they were changed."""

import os
import subprocess
from pathlib import Path

import pytest

from headcount.daemon.config import REMOVED, SETTINGS, BadSetting, Config, parse_span, removed_in
from tests.rig.agents.commands_inside import command, outside
from tests.rig.daemon.notification_setup import configure
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.security.second_user import UID, as_second, is_possible

only_root = pytest.mark.skipif(not is_possible(), reason="only root can be another user")


def read(tmp_path: Path, text: str, **env: str) -> Config:
    path = tmp_path / "config.toml"
    path.write_text(text + "\n")
    return Config.read(path, env)


# --- the table and its forms -------------------------------------------------------------------------


def test_without_a_file_every_setting_has_its_default(tmp_path: Path) -> None:
    config = Config.read(tmp_path / "none.toml", {})
    assert config == Config()
    assert {each.field: getattr(config, each.field) for each in SETTINGS} == {
        each.field: each.default for each in SETTINGS
    }
    assert config.idle_limit is None, "nobody is closed"


def test_settings_in_tables_are_known_by_their_whole_name(tmp_path: Path) -> None:
    config = read(tmp_path, '[tmux]\nsessions = ["work"]\nreserved_windows = ["0"]')
    assert (config.tmux_sessions, config.tmux_reserved_windows) == (("work",), ("0",))
    with pytest.raises(
        BadSetting, match=r"unknown setting 'tmux.session'; known are claude_roots, close.idle"
    ):
        read(tmp_path, "[tmux]\nsession = 1")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("web_port = 99999", "web_port must be a port, 1 to 65535"),
        ("web_port = -1", "web_port must be a port, 1 to 65535"),
        ("web_port = 22.5", "web_port must be a port, 1 to 65535"),
        ("web_port = true", "web_port must be a port, 1 to 65535"),
        ('web_port = "80"', "web_port must be a port, 1 to 65535"),
        ("sessions_kept = true", "sessions_kept must be a number above zero"),
        ("sessions_kept = inf", "not beyond 1,000,000,000"),
        ("stall_minutes = 0", "stall_minutes must be a number above zero"),
        ('claude_roots = "/a"', "claude_roots must be a list of strings"),
        ("claude_roots = [1]", "claude_roots must be a list of strings"),
        ("processes = 1", "processes must be a string"),
        ('close.idle_after = "soon"', "close.idle_after must be a span of time"),
        ("close.idle_after = 12", "close.idle_after must be a span of time"),
        ('close.idle_after = "-1h"', "close.idle_after must be a span of time"),
        ('notify.desktop = "yes"', "notify.desktop must be true or false"),
        ("notify.destkop = true", "unknown setting 'notify.destkop'"),
        ('notify.kinds = ["needs_you"]', "notify.kinds has no kind 'needs_you'; the kinds are needs-you, finished"),
        ("web_port = ", "Mend or remove the file."),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_the_file_the_name_and_the_form(
    tmp_path: Path, line: str, word: str
) -> None:
    with pytest.raises(BadSetting) as bad:
        read(tmp_path, line)
    assert str(bad.value).startswith(f"{tmp_path}/config.toml: ") and word in str(bad.value)


@pytest.mark.parametrize("name", REMOVED)
def test_a_setting_of_before_does_nothing_and_is_named_with_what_to_do_instead(
    tmp_path: Path, name: str
) -> None:
    """A daemon that is replaced by an upgrade must start with the file that it had."""
    assert read(tmp_path, f'{name} = "http://127.0.0.1:1/x"') == Config()
    (said,) = removed_in(tmp_path / "config.toml")
    assert said.startswith(f"{name} is no longer a setting: notify.command") and "127.0.0.1" not in said
    assert removed_in(tmp_path / "none.toml") == []


def test_port_0_is_any_free_one(tmp_path: Path) -> None:
    assert read(tmp_path, "web_port = 0").web_port == 0


@pytest.mark.parametrize(
    ("text", "seconds"), [("12h", 43_200.0), ("30m", 1_800.0), ("2d", 172_800.0), ("90", 90.0), ("1s", 1.0)]
)
def test_spans_are_read_as_people_write_them(tmp_path: Path, text: str, seconds: float) -> None:
    assert parse_span(text) == seconds
    assert read(tmp_path, f'close.idle_after = "{text}"').idle_limit == seconds


# --- the environment ---------------------------------------------------------------------------------


def test_a_variable_wins_over_the_file_and_an_empty_one_does_not(tmp_path: Path) -> None:
    line = 'processes = "linux"'
    assert read(tmp_path, line, HEADCOUNT_PROCESSES="portable").processes == "portable"
    assert read(tmp_path, line, HEADCOUNT_PROCESSES="").processes == "linux"
    config = read(tmp_path, line, HEADCOUNT_FLEET_PACE="0.05", HEADCOUNT_WITHOUT="inode")
    assert (config.fleet_pace, config.without) == (0.05, "inode")


@pytest.mark.parametrize("text", ["fast", "nan", "-1"])
def test_a_wrong_variable_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadSetting, match=r"^HEADCOUNT_FLEET_PACE must be a number above zero"):
        read(tmp_path, "", HEADCOUNT_FLEET_PACE=text)


# --- by a daemon -------------------------------------------------------------------------------------


def test_a_wrong_setting_is_a_clear_word_at_the_start(tmp_path: Path) -> None:
    home = tmp_path / "headcount"
    configure(home, destkop=True)
    daemon = Daemon(home).start()
    assert daemon.process is not None
    daemon.process.wait(10)
    assert "unknown setting 'notify.destkop'" in daemon.word


def test_a_daemon_starts_with_a_setting_of_before_and_its_status_says_so(tmp_path: Path) -> None:
    configure(tmp_path / "headcount", webhook_url="http://127.0.0.1:1/x")
    with Daemon(tmp_path / "headcount") as daemon:
        (said,) = [each for each in daemon.get("/v1/status")["warnings"] if "webhook_url" in each]
        assert "notify.command can post with curl" in said


def test_settings_that_were_changed_under_the_daemon_are_told_until_it_reads_them(daemon: Daemon) -> None:
    """Else a channel that was just set is tried out in vain."""
    changed = "settings were changed since the daemon started"
    assert daemon.get("/v1/status")["warnings"] == []
    configure(daemon.home, desktop=True, destkop=True)
    (warning,) = daemon.get("/v1/status")["warnings"]
    assert changed in warning and "headcount doctor" in warning
    assert "destkop" not in warning, "what stands in the file is not for agents"
    configure(daemon.home, command=["/bin/true"])
    assert "headcount down && headcount up" in outside(daemon, "status").out
    assert changed in outside(daemon, "notify", "test").out
    daemon.restart()
    assert daemon.get("/v1/status")["warnings"] == []
    tried = outside(daemon, "notify", "test")
    assert (tried.code, tried.out.strip()) == (0, "command: delivered")


# --- files that another user could have written ------------------------------------------------------


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
    said = _up(tmp_path, home)
    assert said.returncode == 4 and f"may write in it (chmod go-w {home})" in said.stderr
    home.chmod(0o700)  # the advice, and still the file is another's
    said = _up(tmp_path, home)
    assert said.returncode == 4 and "config.toml: not a plain file of your own" in said.stderr
    assert not (tmp_path / "ran").exists()


def _up(user: Path, home: Path) -> "subprocess.CompletedProcess[str]":
    more = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    env = {**more, "HOME": str(user), "HEADCOUNT_HOME": str(home)}
    return subprocess.run(command("up"), env=env, capture_output=True, text=True, timeout=60)


def test_a_pipe_instead_of_settings_is_refused_without_blocking(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home")
    os.mkfifo(daemon.home / "config.toml")
    assert "not a plain file of your own" in daemon.start().word
    daemon.stop()


def test_a_pipe_that_is_put_there_later_does_not_hold_status_up(daemon: Daemon) -> None:
    os.mkfifo(daemon.home / "config.toml")
    assert any("would not start" in each for each in daemon.get("/v1/status")["warnings"])
