"""Claims by the command line: a real daemon, real agents above real shells."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from headcount.cli.commands import launch
from tests.rig.agents.commands_inside import command, environment, inside, outside, shell
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

MakeAgent = Callable[..., Agent]


def test_a_claim_is_granted_once_and_the_refusal_names_the_holder_and_waiting(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    first, second = two
    granted = inside(first, daemon, "claim", "task:AUTH-12", "--note", "login form")
    assert granted.code == 0 and granted.out.startswith("task:AUTH-12 is yours: claim #")
    held = inside(second, daemon, "claim", "task:AUTH-12")
    assert held.code == 3 and held.out == ""
    assert held.err.startswith("Held by ") and "auth-refactor since " in held.err
    assert "(alive, working)" in held.err
    assert "or wait: headcount claim task:AUTH-12 --wait 600" in held.err
    assert "release" not in held.err + held.out


def test_claim_json_has_the_documented_fields(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    first, second = two
    granted = json.loads(inside(first, daemon, "claim", "task:AUTH-12", "--json").out)
    assert {"item", "granted", "fence", "holder", "because"} <= set(granted)
    assert granted["granted"] is True and granted["holder"]["pid"] == first.pid
    again = json.loads(inside(first, daemon, "claim", "task:AUTH-12", "--json").out)
    assert again["fence"] == granted["fence"]
    held = inside(second, daemon, "claim", "task:AUTH-12", "--json")
    assert held.code == 3 and json.loads(held.out)["granted"] is False
    assert json.loads(held.out)["holder"]["conversation"] == first.conversation


def test_claims_json_has_the_documented_fields_and_the_table_the_names(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    inside(two[0], daemon, "claim", "task:AUTH-12", "--note", "login form")
    (row,) = json.loads(outside(daemon, "claims", "--json").out)["claims"]
    assert {"item", "fence", "holder", "since", "note"} <= set(row)
    assert {"session", "conversation", "pid"} <= set(row["holder"])
    table = outside(daemon, "claims").out
    assert "auth-refactor" in table and "login form" in table and f"#{row['fence']}" in table


def test_only_the_holder_releases_and_force_is_for_people(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    first, second = two
    fence = json.loads(inside(first, daemon, "claim", "task:A", "--json").out)["fence"]
    assert inside(second, daemon, "release", "task:A").code == 3
    refused = inside(second, daemon, "release", "task:A", "--force")
    assert refused.code == 3 and "is for people" in refused.err
    assert outside(daemon, "check", "task:A", str(fence)).code == 0
    assert outside(daemon, "release", "task:A", "--force").code == 0
    stale = outside(daemon, "check", "task:A", str(fence))
    assert stale.code == 3 and "stale" in stale.err
    assert inside(first, daemon, "release", "task:A").code == 5
    history = outside(daemon, "claims", "--history", "task:A").out
    assert "granted" in history and "(forced)" in history


def test_a_claim_outside_every_agent_is_refused_with_a_hint(daemon: Daemon) -> None:
    refused = outside(daemon, "claim", "task:A")
    assert refused.code == 3 and "headcount hold" in refused.err and "--as" in refused.err


def test_a_person_acts_for_a_live_session_and_an_agent_may_not(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    first, second = two
    granted = outside(daemon, "claim", "task:A", "--as", "auth-refactor")
    assert granted.code == 0 and "auth-refactor (pid " in granted.out
    assert daemon.session(pid=first.pid)["claims"] == ["task:A"]
    refused = inside(second, daemon, "claim", "task:B", "--as", "auth-refactor")
    assert refused.code == 3 and "is for people" in refused.err
    assert outside(daemon, "release", "task:A", "--as", "auth-refactor").code == 0


@pytest.mark.parametrize(
    "words",
    [("claim", "AUTH-12"), ("claim", "task:A", "--wait", "soon"), ("check", "task:A", "x"), ("claim",)],
)
def test_a_wrong_call_exits_2_with_one_line(daemon: Daemon, words: tuple[str, ...]) -> None:
    said = outside(daemon, *words)
    assert said.code == 2 and said.out == "" and len(said.err.splitlines()) == 1


def test_a_kind_is_suggested(daemon: Daemon) -> None:
    assert "Did you mean task:AUTH-12?" in outside(daemon, "hold", "AUTH-12", "--", "true").err


def test_a_relative_path_means_the_callers_directory(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    said = inside(two[0], daemon, "claim", "path:src/../lib/**", "--json")
    assert json.loads(said.out)["item"] == f"path:{os.path.realpath(two[0].cwd)}/lib/**"


def test_a_waiter_gets_the_claim_when_the_holder_is_killed(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    first, second = two
    before = json.loads(inside(first, daemon, "claim", "task:A", "--json").out)["fence"]
    with ThreadPoolExecutor() as aside:
        waiting = aside.submit(inside, second, daemon, "claim", "task:A", "--wait", "60", "--json")
        eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"])
        first.kill()
        said = waiting.result(20)
    answer = json.loads(said.out)
    assert answer["granted"] is True and answer["fence"] > before
    assert answer["holder"]["pid"] == second.pid


def test_a_handed_claim_is_the_others_with_a_new_number(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    first, second = two
    old = json.loads(inside(first, daemon, "claim", "task:A", "--json").out)["fence"]
    assert inside(first, daemon, "handoff", "task:A", "flaky-ci").code == 0
    (row,) = daemon.get("/v1/claims")["claims"]
    assert row["holder"]["pid"] == second.pid and row["fence"] > old
    assert inside(first, daemon, "handoff", "task:A", "flaky-ci").code == 3
    assert inside(second, daemon, "handoff", "task:A", "nonesuch").code == 5


def test_whoami_is_the_kernels_answer_also_with_a_lying_environment(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    first, second = two
    lie = f"CLAUDE_CODE_SESSION_ID={second.conversation} CLAUDE_PID={second.pid}"
    said = shell(first, daemon, f"env {lie} {' '.join(command('whoami', '--json'))}")
    me = json.loads(said.out)
    assert me["conversation"] == first.conversation and me["pid"] == first.pid
    assert me["resolved_by"] == "peer"
    explained = inside(first, daemon, "whoami", "--explain").out
    assert "peer" in explained and "taken" in explained and "environment" in explained


def test_whoami_outside_every_agent_exits_5(daemon: Daemon) -> None:
    said = outside(daemon, "whoami", "--json")
    assert said.code == 5 and json.loads(said.out)["session"] is None


# --- hold --------------------------------------------------------------------------------------------


def test_hold_runs_the_command_under_a_claim_and_exits_with_its_code(daemon: Daemon, tmp_path: Path) -> None:
    line = f"{' '.join(command('claims', '--json'))} >{tmp_path}/seen; exit 7"
    assert outside(daemon, "hold", "task:A", "--", "sh", "-c", line).code == 7
    (row,) = json.loads((tmp_path / "seen").read_text())["claims"]
    assert row["item"] == "task:A" and row["holder"]["session"] is None
    assert daemon.get("/v1/claims")["claims"] == []


def test_hold_says_127_for_no_command_and_128_and_more_for_a_signal(daemon: Daemon) -> None:
    assert outside(daemon, "hold", "task:A", "--", "no-such-program").code == 127
    assert outside(daemon, "hold", "task:A", "--", "sh", "-c", "kill -KILL $$").code == 128 + signal.SIGKILL
    assert daemon.get("/v1/claims")["claims"] == []


def held_by_a_sleeper(daemon: Daemon) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command("hold", "task:A", "--", "sh", "-c", "echo $$; exec sleep 60"),
        env=environment(daemon),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def test_hold_ends_its_command_when_the_claim_is_taken_away(daemon: Daemon) -> None:
    holding = held_by_a_sleeper(daemon)
    assert holding.stdout is not None
    pid = int(holding.stdout.readline())
    assert outside(daemon, "hold", "task:A", "--", "true").code == 3
    assert outside(daemon, "release", "task:A", "--force").code == 0
    _out, err = holding.communicate(timeout=20)
    assert holding.returncode == 128 + signal.SIGTERM
    assert "was taken away" in err and not is_running(pid)


def test_a_killed_hold_frees_its_claim_and_its_command_ends_with_it(daemon: Daemon) -> None:
    holding = held_by_a_sleeper(daemon)
    assert holding.stdout is not None
    pid = int(holding.stdout.readline())
    holding.kill()
    eventually(lambda: not daemon.get("/v1/claims")["claims"])
    eventually(lambda: not is_running(pid))
    holding.communicate(timeout=20)


def test_a_restarted_daemon_does_not_take_the_claim_away(daemon: Daemon) -> None:
    holding = held_by_a_sleeper(daemon)
    assert holding.stdout is not None
    pid = int(holding.stdout.readline())
    fence = daemon.get("/v1/claims")["claims"][0]["fence"]
    daemon.restart()
    assert daemon.get("/v1/claims")["claims"][0]["fence"] == fence
    assert is_running(pid) and holding.poll() is None
    assert outside(daemon, "release", "task:A", "--force").code == 0
    holding.communicate(timeout=20)
    assert holding.returncode == 128 + signal.SIGTERM


# --- launch ------------------------------------------------------------------------------------------


def test_a_launched_command_is_the_registered_process_and_finds_its_token_file(
    daemon: Daemon, tmp_path: Path
) -> None:
    script = f'echo $$ >{tmp_path}/pid; stat -c %a "$HEADCOUNT_TOKEN_FILE" >{tmp_path}/mode; env >{tmp_path}/env; exec sleep 60'
    launched = subprocess.Popen(
        command("launch", "--agent", "claude-code", "--name", "auth", "--role", "builder", "--group", "api", "--",
                "sh", "-c", script),
        env=environment(daemon),
    )  # fmt: skip
    try:
        eventually(
            lambda: (tmp_path / "env").exists() and "HEADCOUNT_TOKEN_FILE" in (tmp_path / "env").read_text()
        )
        row = daemon.session(name="auth")
        assert row["pid"] == launched.pid == int((tmp_path / "pid").read_text())
        assert (row["role"], row["groups"], row["liveness"]) == ("builder", ["api"], "alive")
        assert (tmp_path / "mode").read_text().strip() == "600"
        path = next(
            line.partition("=")[2]
            for line in (tmp_path / "env").read_text().splitlines()
            if line.startswith("HEADCOUNT_TOKEN_FILE=")
        )
        token = Path(path).read_text().strip()
        seen = (tmp_path / "env").read_text() + json.dumps(daemon.get("/v1/sessions")) + daemon.log()
        seen += Path(f"/proc/{launched.pid}/cmdline").read_text()
        assert len(token) >= 32 and token not in seen
    finally:
        launched.kill()
        launched.wait(10)


@pytest.mark.parametrize(
    ("given", "agent"),
    [
        ("claude", "claude-code"),
        ("claude-code", "claude-code"),
        ("codex", "codex"),
        (None, "sleep"),
        ("my-bot", "my-bot"),
    ],
)
def test_an_agent_is_called_as_its_row_shows_it_or_by_its_name(given: str | None, agent: str) -> None:
    assert launch.agent_of(SimpleNamespace(agent=given, command=["/bin/sleep"])) == agent


def test_an_agent_that_nobody_can_read_is_launched_and_said(daemon: Daemon) -> None:
    """Whoever embeds an agent names it; a slip of the pen looks the same, so the known names are said."""
    done = subprocess.run(
        command("launch", "--agent", "cladue", "--", "true"),
        env=environment(daemon),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and '"cladue"' in done.stderr and "claude-code, codex" in done.stderr
    known = subprocess.run(
        command("launch", "--agent", "claude", "--", "true"),
        env=environment(daemon),
        capture_output=True,
        text=True,
    )
    assert (known.returncode, known.stderr) == (0, "")


def test_a_conversation_that_is_alive_elsewhere_is_not_launched_twice(
    daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path
) -> None:
    words = (
        "--agent",
        "claude-code",
        "--",
        "sh",
        "-c",
        f"touch {tmp_path}/ran",
        "--resume",
        two[0].conversation,
    )
    refused = outside(daemon, "launch", *words)
    assert refused.code == 3 and not (tmp_path / "ran").exists()
    assert daemon.session(pid=two[0].pid)["id"][:4] in refused.err
    assert outside(daemon, "launch", "--anyway", *words).code == 0 and (tmp_path / "ran").exists()


def test_launch_says_127_for_no_command(daemon: Daemon) -> None:
    assert outside(daemon, "launch", "--", "no-such-program").code == 127
    assert outside(daemon, "launch", "--").code == 2


def test_hooks_are_not_uninstalled_from_inside_an_agent_that_left_no_marks(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    refused = inside(two[0], daemon, "hooks", "uninstall")
    assert refused.code == 3 and "hooks uninstall is for people" in refused.err


def test_a_name_with_a_slash_is_found_and_no_name_is_nobodys(daemon: Daemon) -> None:
    with subprocess.Popen(
        command("launch", "--name", "feat/x y?#", "--", "sleep", "60"), env=environment(daemon)
    ) as launched:
        try:
            eventually(lambda: outside(daemon, "show", "feat/x y?#").code == 0)
            shown = outside(daemon, "show", "feat/x y?#", "--json")
            assert json.loads(shown.out)["pid"] == launched.pid
            assert outside(daemon, "explain", "feat/x y?#").code == 0
            nobody = outside(daemon, "show", "")
            assert nobody.code == 5 and 'No session matches ""' in nobody.err
        finally:
            launched.kill()


def test_a_refused_release_names_the_holder(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    first, second = two
    inside(first, daemon, "claim", "task:A")
    for words in (("release", "task:A"), ("handoff", "task:A", "flaky-ci")):
        refused = inside(second, daemon, *words)
        assert refused.code == 3
        assert refused.err.startswith("task:A is not yours. Held by ") and "auth-refactor" in refused.err


def test_the_table_of_claims_fits_every_screen() -> None:
    from headcount.clean_text import width
    from headcount.cli.commands.claims import table
    from headcount.present.screen import Screen

    holder = {"session": "7f3a00000000", "name": "auth-refactor", "pid": 1}
    item = "path:/a/long/directory/of/a/project/**"
    claim = {"item": item, "fence": 1794789584009, "holder": holder, "note": "log" * 9}
    for columns in range(20, 140):
        lines = table([claim], {}, 0.0, Screen(columns, False, True))
        assert all(width(line) <= columns for line in lines)
    assert "log" * 9 in table([claim], {}, 0.0, Screen(None, False, True))[1]
