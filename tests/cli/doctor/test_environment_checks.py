"""What `doctor` says of hooks, their cost, MCP, the service and the settings."""

import json
from pathlib import Path

import pytest

from headcount.cli.doctor import environment_checks
from headcount.cli.doctor.environment_checks import HookCost
from headcount.cli.doctor.findings import Finding
from headcount.daemon.config import Config
from tests.rig.agents.commands_inside import outside
from tests.rig.daemon.real_daemon import Daemon

NONE: dict[str, str] = {}
UNIT = {"installed": True, "systemd": True, "enabled": "enabled", "active": "active", "pid": 7, "restarts": 0}


@pytest.mark.parametrize(
    ("found", "level"),
    [
        (environment_checks.cost_finding(HookCost(0.0026, 0.001, 20)), "ok"),
        (environment_checks.cost_finding(HookCost(0.020, 0.001, 20)), "note"),
        (environment_checks.cost_finding(HookCost(0.020, 0.018, 20)), "ok"),
        (environment_checks.cost_finding(None), "note"),
        (environment_checks.mcp_finding({"codex": "installed"}, True, "x"), "ok"),
        (environment_checks.mcp_finding({"codex": "installed"}, False, "x"), "finding"),
        (environment_checks.mcp_finding({"codex": "absent"}, True, "x"), "note"),
        (environment_checks.mcp_finding({"codex": "absent"}, False, "x"), "note"),
        (environment_checks.notices_finding(Config(), NONE.get), "ok"),
        (environment_checks.notices_finding(Config(notify_command=("say",)), NONE.get), "finding"),
        (environment_checks.notices_finding(Config(notify_command=("say",)), {"say": "/bin/say"}.get), "ok"),
        (environment_checks.notices_finding(Config(notify_desktop=True), NONE.get), "finding"),
        (environment_checks.notices_finding(Config(notify_desktop=True), {"osascript": "/x"}.get), "ok"),
        (environment_checks.service_finding(UNIT, 7), "ok"),
        (environment_checks.service_finding(UNIT, None), "ok"),
        (environment_checks.service_finding(UNIT, 8), "finding"),
        (environment_checks.service_finding({**UNIT, "active": "failed"}, None), "finding"),
        (environment_checks.service_finding({**UNIT, "systemd": False}, 7), "note"),
        (environment_checks.service_finding({**UNIT, "installed": False}, 7), "ok"),
    ],
)
def test_each_trouble_has_its_level_and_whoever_should_act_is_told_how(found: Finding, level: str) -> None:
    assert found.level == level
    assert level != "finding" or found.next


def test_the_cost_of_the_exact_line_is_measured_and_leaves_nothing(tmp_path: Path) -> None:
    cost = environment_checks.measure(tmp_path, runs=3)
    assert cost is not None and cost.line > 0 and cost.bare > 0 and cost.runs == 3
    assert list(tmp_path.iterdir()) == []
    assert environment_checks.measure(tmp_path / "missing") is None


def test_a_check_that_fails_keeps_no_other_from_being_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken() -> list[Finding]:
        raise RuntimeError("a file that nobody thought of")

    monkeypatch.setattr(environment_checks, "_mcp", broken)
    env = {"HEADCOUNT_HOME": str(tmp_path), "HOME": str(tmp_path)}
    found = {each.check: each for each in environment_checks.surroundings(env, {})}
    assert found["mcp"].level == "note" and "nobody thought of" in found["mcp"].says
    assert {"settings", "hook cost", "service", "page", "notices", "agent"} <= set(found)


def test_doctor_measures_here_and_says_it_all(daemon: Daemon) -> None:
    found = json.loads(outside(daemon, "doctor", "--json").out)
    checks = {each["check"]: each for each in found["checks"]}
    assert {
        "daemon",
        "store",
        "settings",
        "hooks",
        "hook cost",
        "mcp",
        "service",
        "page",
        "notices",
        "agent",
    } <= set(checks)
    assert "ms per event (median of 20" in checks["hook cost"]["says"]
    assert all(each["next"] for each in found["findings"])
    assert daemon.get("/v1/status")["unknown_events"] == {}, "the trial is no report"


def test_a_setting_that_keeps_the_daemon_from_starting_is_found(daemon: Daemon) -> None:
    (daemon.home / "config.toml").write_text("no_such_setting = 1\n")
    found = json.loads(outside(daemon, "doctor", "--json").out)["findings"]
    assert [each["check"] for each in found if "no_such_setting" in each["says"]] == ["settings"]


def test_an_install_that_would_refuse_is_not_advised_without_what_it_needs() -> None:
    assert environment_checks.mcp_finding({}, True, "get it").next == "headcount mcp install"
    assert environment_checks.mcp_finding({}, False, "get it").next == "get it; then: headcount mcp install"
