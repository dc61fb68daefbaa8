"""What `doctor` checks around the daemon: settings, the cost of a hook, MCP, the service, the page, notifications.

Rules
  1. The checks read and change nothing. What is not used is a note that says how to use it, never a finding.
  2. What was installed and no longer works is a finding with its next step.
  3. Each check stands alone: if one fails, that is reported and the others are made.
  4. The hook's cost is measured with the installed line, but in a fresh directory beside the mailbox, on the same disk, so
     that nobody reads the trial as a report. The directory is removed.
  5. An empty shell is measured beside it, so that one sees our share. Both are medians, since one slow run proves nothing.

Not here: the daemon, its files and the agents' hooks (facts.py, findings.py), the line itself
  (agents/installing/hook_line_mailbox.py).
"""

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, NamedTuple

from headcount import times
from headcount.clean_text import command
from headcount.cli.doctor.findings import Finding
from headcount.paths import Places

if TYPE_CHECKING:
    from headcount.daemon.config import Config
    from headcount.wire.views import Status

DESKTOP = ("notify-send", "osascript")

RUNS = 20
PAYLOAD = b'{"hook_event_name": "PreToolUse", "tool_input": {"command": "' + b"x" * 500 + b'"}}'


def surroundings(env: Mapping[str, str], status: "Status") -> list[Finding]:
    places = Places.from_environ(env)
    checks: list[tuple[str, Callable[[], list[Finding]]]] = [
        ("settings", lambda: [_settings(places, env)]),
        ("hook cost", lambda: [cost_finding(measure(Path(places.state)))]),
        ("mcp", _mcp),
        ("service", lambda: [service_finding(_service(places), status.get("pid"))]),
        ("page", lambda: [_page(status)]),
        ("notices", lambda: [_notices(places, env)]),
        ("agent", lambda: [_inside()]),
    ]
    return [finding for name, check in checks for finding in _made(name, check)]


def _made(name: str, check: Callable[[], list[Finding]]) -> list[Finding]:
    try:
        return check()
    except Exception as error:
        return [Finding(name, "note", f"could not be looked at: {error}")]


def _settings(places: Places, env: Mapping[str, str]) -> Finding:
    from headcount.daemon.config import BadSetting, Config

    path = Path(places.config)
    try:
        Config.read(path, env)
    except BadSetting as error:
        return Finding(
            "settings", "finding", str(error), f"mend or remove {path}; the daemon does not start with it"
        )
    if not path.exists():
        return Finding("settings", "ok", "none, and none is needed")
    if path.stat().st_mode & 0o077:
        return Finding(
            "settings",
            "note",
            f"others can read {path}",
            f"if it holds a secret: {command('chmod', '600', str(path))}",
        )
    return Finding("settings", "ok", str(path))


class HookCost(NamedTuple):
    line: float  # the median, in seconds
    bare: float  # of a shell that does nothing
    runs: int


def cost_finding(cost: HookCost | None) -> Finding:
    if cost is None:
        return Finding("hook cost", "note", "could not be measured here", "headcount up, then again")
    ours, bare = cost.line * 1000, cost.bare * 1000
    said = f"{ours:.1f} ms per event (median of {cost.runs}; a shell that does nothing takes {bare:.1f} ms)"
    if cost.line - cost.bare > times.HOOK_COST_PROMISED:
        return Finding(
            "hook cost", "note", f"high: {said}", "measure again when the machine is idle; is the disk slow?"
        )
    return Finding("hook cost", "ok", said)


def _mcp() -> list[Finding]:
    from headcount.agents.installing import mcp_server

    targets = mcp_server.targets(os.environ, Path.home())
    states = {each.agent: mcp_server.standing(each) for each in targets}
    return [mcp_finding(states, mcp_server.is_possible(), mcp_server.EXTRA)]


def mcp_finding(states: Mapping[str, str], is_possible: bool, extra: str) -> Finding:
    told = sorted(agent for agent, state in states.items() if state == "installed")
    if told and not is_possible:
        return Finding(
            "mcp", "finding", f"{', '.join(told)} would start it, and the MCP SDK is missing", extra
        )
    if told:
        return Finding("mcp", "ok", f"told to {', '.join(told)}")
    if not is_possible:
        says = "no agent was told of it, and the MCP SDK is missing; it lets agents claim by themselves"
        return Finding("mcp", "note", says, f"{extra}; then: headcount mcp install")
    return Finding(
        "mcp", "note", "no agent was told of it; it lets agents claim by themselves", "headcount mcp install"
    )


def _service(places: Places) -> dict[str, object]:
    from headcount.cli.actions.systemd_service import standing

    return standing(places)


def service_finding(standing: Mapping[str, object], daemon: object) -> Finding:
    if not standing["installed"]:
        return Finding("service", "ok", "none; the daemon starts on first use")
    if not standing["systemd"]:
        return Finding("service", "note", "the unit is there, and no user systemd answers")
    if standing["active"] == "failed":
        return Finding(
            "service",
            "finding",
            "its unit failed",
            "systemctl --user reset-failed headcount, then headcount up",
        )
    if daemon is not None and standing["pid"] != daemon:
        return Finding(
            "service",
            "finding",
            "a daemon runs that systemd does not know",
            "headcount down, then headcount up",
        )
    return Finding("service", "ok", f"{standing['enabled']}, {standing['active']}")


def _page(status: "Status") -> Finding:
    url = status.get("url")
    if not url:
        return Finding("page", "ok", "closed; nothing listens on a port")
    return Finding("page", "ok", f"open on {url}, this machine only")


def _notices(places: Places, env: Mapping[str, str]) -> Finding:
    from headcount.daemon.config import BadSetting, Config

    try:
        return notices_finding(Config.read(Path(places.config), env), which)
    except BadSetting:
        return Finding("notices", "note", "unknown: the settings cannot be read")


def notices_finding(config: "Config", find: Callable[[str], str | None]) -> Finding:
    """Which channels are set, and whether their programs are there."""
    command = config.notify_command
    missing = [command[0]] if command and find(command[0]) is None else []
    if config.notify_desktop and not any(map(find, DESKTOP)):
        missing.append(DESKTOP[0])
    if missing:
        return Finding(
            "notices",
            "finding",
            f"{', '.join(missing)} cannot be found",
            "install it, then: headcount notify test",
        )
    told = [way for way, is_set in {"desktop": config.notify_desktop, "command": command}.items() if is_set]
    return Finding("notices", "ok", f"by {', '.join(told)}" if told else "none are sent")


def _inside() -> Finding:
    from headcount.cli.humans_only import ForPeople, refuse_agents

    try:
        refuse_agents("doctor")
    except ForPeople:
        return Finding(
            "agent",
            "note",
            "you are inside an agent, or Headcount cannot tell: some verbs are for people only",
        )
    return Finding("agent", "ok", "you are outside every agent")


def measure(state: Path, runs: int = RUNS) -> HookCost | None:
    """None: it cannot be measured here (no state directory yet, no shell)."""
    from headcount.agents.installing.hook_line_mailbox import FLAG, SHELL, Unquotable, line

    try:
        place = Path(tempfile.mkdtemp(prefix="trial-", dir=state))
    except OSError:
        return None
    try:
        (place / FLAG).touch()
        ours = [SHELL, "-c", line(place, only_while_listening=True)]
        nothing = [SHELL, "-c", "exit 0"]
        taken = [(_once(nothing), _once(ours)) for _ in range(runs)]  # by turns: both meet the same load
        return HookCost(
            statistics.median(ours for _, ours in taken), statistics.median(bare for bare, _ in taken), runs
        )
    except (OSError, Unquotable, subprocess.SubprocessError):
        return None
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _once(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, input=PAYLOAD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began
