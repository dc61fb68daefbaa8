"""`headcount fleet` in words, and the address that is read from stdin."""

import json
import subprocess
import sys

import pytest

from headcount.cli.commands.fleet import lines_of
from tests.rig.daemon.fleet import Host

HOST = {
    "name": "ws",
    "here": True,
    "state": "alive",
    "age_s": 3.2,
    "sessions": 4,
    "claims": 2,
    "version": "0.1.0",
}
FLEET = {"joined": True, "database": "host=db", "name": "ws", "vouched": True, "fault": None, "hosts": [HOST]}


def test_each_host_has_its_state_and_its_age():
    lines = lines_of(
        {**FLEET, "hosts": [HOST, {**HOST, "name": "far", "here": False, "state": "unknown", "age_s": 90}]}
    )
    assert lines[0] == "ws in the fleet at host=db"
    assert lines[2].split() == ["ws", "(here)", "alive", "3s", "ago", "4", "2", "0.1.0"]
    assert "unknown" in lines[3] and "1m ago" in lines[3]


def test_a_fleet_that_cannot_be_reached_says_why():
    lines = lines_of({**FLEET, "vouched": False, "fault": "no route\x1b[31m", "hosts": []})
    assert lines[1].startswith("! shared claims cannot be vouched for: no route")
    assert "\x1b" not in lines[1]


def test_without_a_fleet_the_next_step_is_named():
    assert "headcount fleet join" in lines_of({"joined": False})[0]


def test_joining_by_an_address_from_stdin_status_ps_and_leaving(tmp_path, postgres):
    with Host(tmp_path, "alpha", postgres) as alpha:

        def run(*words: str, given: str = "") -> "subprocess.CompletedProcess[str]":
            """As the operator: nobody's child, so that it is not taken for an agent's."""
            return subprocess.run(
                ["setsid", "-w", sys.executable, "-m", "headcount", *words],
                env=alpha.daemon.env, input=given, capture_output=True, text=True, check=False,
            )  # fmt: skip

        assert run("fleet", "status").returncode == 0
        assert run("fleet", "join").returncode == 2
        joined = run("fleet", "join", "-", "--name", "ws", given=f"{alpha.address}\n")
        if "for people" in joined.stderr:
            pytest.skip("these tests run inside an agent")
        assert (joined.returncode, joined.stdout) == (0, "Joined as ws; 0 other hosts.\n"), joined.stderr
        assert (
            run("fleet", "join", "-", given=f"{alpha.address}\n").returncode == 0
        )  # with a new password, say
        assert run("fleet", "join", "-", given=f"{alpha.address}x\n").returncode == 3
        status = json.loads(run("fleet", "status", "--json").stdout)
        assert [(host["name"], host["here"]) for host in status["hosts"]] == [("ws", True)]
        assert "sessions" in json.loads(run("ps", "--fleet", "--json").stdout)
        assert run("fleet", "leave").stdout == "Left. 0 claims of this host freed.\n"
        assert run("fleet", "leave").returncode == 3
        assert run("ps", "--fleet").returncode == 3
