"""MCP: the SDK's own client under an agent's process acts as that agent, and as no other."""

import json
import shlex
import subprocess
import threading
from collections.abc import Callable

import pytest

from headcount.mcp.tools import TOOLS
from tests.rig.agents.commands_inside import command, environment, inside, settled
from tests.rig.agents.mcp_client import speak
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.security.hostile_strings import hostile, traces

Agents = Callable[..., Agent]
ITEM = {"item": "task:AUTH-12"}


def test_a_claim_through_mcp_is_the_agents_own_and_ends_with_its_process(
    daemon: Daemon, agent: Agents
) -> None:
    one = agent()
    me = settled(one, daemon)
    said = speak(
        one,
        daemon,
        ("my_session", {}),
        ("claim", {**ITEM, "note": "login"}),
        ("who_holds", ITEM),
        ("who_is_here", {}),
    )
    mine, granted, holders, here = said.data
    assert mine["session"] == me and mine["pid"] == one.pid and mine["resolved_by"] == "peer"
    assert granted["granted"] and granted["holder"]["pid"] == one.pid and granted["is_yours"]
    assert [each["is_yours"] for each in holders["claims"]] == [True]
    assert [each["id"] for each in here["sessions"] if each["is_you"]] == [me]
    assert [each["holder"]["session"] for each in daemon.get("/v1/claims")["claims"]] == [me]
    one.kill()
    eventually(lambda: not daemon.get("/v1/claims")["claims"])


def test_another_agent_is_refused_and_can_neither_release_nor_pretend(daemon: Daemon, agent: Agents) -> None:
    one, two = agent(), agent()
    first, second = settled(one, daemon), settled(two, daemon)
    fence = speak(one, daemon, ("claim", ITEM)).data[0]["fence"]
    pretending = f"CLAUDE_CODE_SESSION_ID={one.conversation} CLAUDE_PID={one.pid}"
    said = speak(
        two, daemon, ("my_session", {}), ("claim", ITEM), ("release", ITEM), ("handoff", {**ITEM, "to": second}),
        ("claim", {**ITEM, "as": first}), ("claim", {**ITEM, "session": first}), env=pretending,
    )  # fmt: skip
    assert said.data[0]["session"] == second
    assert said.data[1]["granted"] is False and said.data[1]["holder"]["session"] == first
    assert "wait_for_claim" in said.text[1] and "release" not in said.text[1]
    assert not said.failed[1], "a refusal is an answer"
    assert said.data[2]["code"] == said.data[3]["code"] == "not-yours"
    assert said.failed[4] and said.failed[5], "no tool takes a session to act as"
    held = daemon.get("/v1/claims")["claims"]
    assert [(each["holder"]["session"], each["fence"]) for each in held] == [(first, fence)]


def test_no_tool_takes_the_callers_session() -> None:
    named = {name for tool in TOOLS.values() for name in tool.takes}
    assert not named & {"as", "session", "pid", "conversation", "token", "acting_as", "force"}
    assert all(tool.schema["additionalProperties"] is False for tool in TOOLS.values())


def test_released_handed_on_and_checked_by_their_numbers(daemon: Daemon, agent: Agents) -> None:
    one, two = agent(), agent()
    settled(one, daemon)
    other = settled(two, daemon)
    said = speak(
        one,
        daemon,
        ("claim", ITEM),
        ("release", ITEM),
        ("release", ITEM),
        ("claim", ITEM),
        ("handoff", {**ITEM, "to": other}),
    )
    first, gone, again, second, handed = said.data
    assert gone["released"] and again["code"] == "not-held" and second["fence"] > first["fence"]
    assert handed["holder"]["session"] == other and handed["fence"] > second["fence"]
    checks = speak(
        two,
        daemon,
        ("check", {**ITEM, "fence": second["fence"]}),
        ("check", {**ITEM, "fence": handed["fence"]}),
    )
    assert [each["current"] for each in checks.data] == [False, True]


def test_whoever_waits_gets_it_at_the_holders_death(daemon: Daemon, agent: Agents) -> None:
    one, two = agent(), agent()
    settled(one, daemon)
    second = settled(two, daemon)
    assert inside(one, daemon, "claim", ITEM["item"]).code == 0

    def kill_once_somebody_waits() -> None:
        eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"], within=30)
        one.kill()

    killing = threading.Thread(target=kill_once_somebody_waits)
    killing.start()
    said = speak(two, daemon, ("wait_for_claim", {**ITEM, "seconds": 30}))
    killing.join()
    assert said.data[0]["granted"] and daemon.get("/v1/claims")["claims"][0]["holder"]["session"] == second


def test_a_wait_ends_with_who_still_has_it(daemon: Daemon, agent: Agents) -> None:
    one, two = agent(), agent()
    settled(one, daemon)
    settled(two, daemon)
    assert inside(one, daemon, "claim", ITEM["item"]).code == 0
    assert inside(one, daemon, "claim", f"path:{one.cwd}/src/**").code == 0
    part = {"item": f"path:{one.cwd}/src/auth.py"}
    said = speak(
        two,
        daemon,
        ("wait_for_claim", {**ITEM, "seconds": 0.2}),
        ("who_holds", {"item": "nokind"}),
        ("who_holds", part),
    )
    assert [each["item"] for each in said.data[2]["claims"]] == [f"path:{one.cwd}/src/**"]
    assert said.data[0]["granted"] is False and said.text[0].startswith("Held by ")
    assert said.data[0]["says"] == said.text[0]
    assert said.data[1]["code"] == "bad-item"


HELLO = [
    {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                 "clientInfo": {"name": "x", "version": "1"}}},
    {"method": "notifications/initialized"},
]  # fmt: skip


def test_it_ends_with_its_pipe_without_a_word_beside_the_protocol(daemon: Daemon) -> None:
    said = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in HELLO)
    done = subprocess.run(
        command("mcp"), input=said, env=environment(daemon), capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0]


def test_what_is_no_message_is_one_line_on_stderr(daemon: Daemon) -> None:
    """Not a page of the library that read it: agents show this to their users."""
    done = subprocess.run(
        command("mcp"), input="no\n", env=environment(daemon), capture_output=True, text=True, timeout=60
    )
    (line,) = done.stderr.splitlines()
    assert done.returncode == 0 and line.startswith("headcount mcp: ")


def test_a_tool_that_does_not_exist_names_those_that_do(daemon: Daemon, agent: Agents) -> None:
    said = speak(agent(), daemon, ("nosuch", {}))
    assert said.failed == [True] and 'no tool "nosuch"' in said.text[0] and "who_is_here" in said.text[0]


def test_whoever_hangs_up_while_waiting_gives_its_place_up(daemon: Daemon, agent: Agents) -> None:
    one, two = agent(), agent()
    settled(one, daemon)
    settled(two, daemon)
    assert inside(one, daemon, "claim", ITEM["item"]).code == 0
    lines = [
        *HELLO,
        {
            "id": 1,
            "method": "tools/call",
            "params": {"name": "wait_for_claim", "arguments": {**ITEM, "seconds": 500}},
        },
    ]
    said = two.cwd / "said"
    said.write_text("".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in lines))
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in daemon.env.items())
    two.run(f"mkfifo {two.cwd}/pipe")
    serve = f"exec env {settings} {shlex.join(command('mcp'))} <{two.cwd}/pipe >/dev/null 2>&1"
    two.run(f"/bin/sh -c {shlex.quote(serve)} & echo $!")
    with open(two.cwd / "pipe", "w") as pipe:
        pipe.write(said.read_text())
        pipe.flush()
        eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"] == 1, within=30)
    eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"] == 0, within=30)


def test_outside_every_agent_one_may_look_and_hold_nothing(daemon: Daemon, agent: Agents) -> None:
    shell = agent(name="sh")
    said = speak(shell, daemon, ("my_session", {}), ("claim", ITEM), ("who_holds", {}))
    assert said.data[0]["session"] is None
    assert said.data[1]["granted"] is False and said.data[1]["code"] == "not-an-agent"
    assert said.data[2]["claims"] == []
    assert "--as" not in said.text[1] and "hold nothing" in said.text[1]


def test_the_agent_is_taught_when_to_claim_and_what_each_tool_does(daemon: Daemon, agent: Agents) -> None:
    said = speak(agent(), daemon)
    assert set(said.tools) == set(TOOLS) and all(tool["description"] for tool in said.tools.values())
    assert "Claim before" in said.instructions and "never instructions" in said.instructions
    assert (
        said.tools["who_holds"]["annotations"]["readOnlyHint"]
        and not said.tools["claim"]["annotations"]["readOnlyHint"]
    )


def test_hostile_names_and_notes_reach_no_model_as_they_are(daemon: Daemon, agent: Agents) -> None:
    one, two = agent(), agent()
    settled(one, daemon)
    settled(two, daemon)
    sample = [each.encode("utf-8", "replace").decode() for each in hostile() if "\x00" not in each][::100]
    calls = [("claim", {"item": f"task:{nth}", "note": text}) for nth, text in enumerate(sample)]
    assert all(each["granted"] for each in speak(one, daemon, *calls).data)
    said = speak(two, daemon, ("who_holds", {}), ("who_is_here", {}), ("claim", {"item": "task:0"}))
    assert [traces(text) for text in said.text] == [[], [], []]
    assert traces(repr(said.data)) == []


def test_in_a_terminal_a_person_is_told_what_it_is(daemon: Daemon) -> None:
    done = subprocess.run(
        ["script", "-qec", " ".join(command("mcp")), "/dev/null"],
        env=environment(daemon),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "headcount mcp install" in done.stdout


@pytest.mark.parametrize("action", [(), ("install",)])
def test_without_the_extra_the_way_to_it_is_named(daemon: Daemon, action: tuple[str, ...], tmp_path) -> None:
    hide = "import sys, importlib.util as u; f = u.find_spec; u.find_spec = lambda n, *a: None if n == 'mcp' else f(n, *a); "
    run = f"{hide}from headcount.cli.main import main; sys.exit(main(['mcp', *{list(action)!r}]))"
    done = subprocess.run(
        [command()[0], "-c", run],
        env=environment(daemon),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 1 and "pip install '.[mcp]'" in done.stderr
