"""The words about claims: each says what can be done, by a command that exists; real daemon, real agents."""

import json
import shlex
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import command, environment, inside, outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

MakeAgent = Callable[..., Agent]


# --- handing over ------------------------------------------------------------------------------------


def test_the_hint_of_a_refused_handoff_is_a_command_that_works(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    inside(two[0], daemon, "claim", "task:A")
    refused = outside(daemon, "handoff", "task:A", "flaky-ci")
    assert refused.code == 3 and "--force" not in refused.err
    session = refused.err.split("--as ")[1][:4]
    handed = outside(daemon, "handoff", "task:A", "flaky-ci", "--as", session)
    assert handed.code == 0, handed.err
    assert daemon.get("/v1/claims")["claims"][0]["holder"]["pid"] == two[1].pid


def test_the_hint_of_a_refused_release_names_force(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    inside(two[0], daemon, "claim", "task:A")
    assert "Against it, on record: --force" in outside(daemon, "release", "task:A").err


def test_handing_over_for_another_session_is_for_people(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    inside(two[0], daemon, "claim", "task:A")
    refused = inside(two[1], daemon, "handoff", "task:A", "flaky-ci", "--as", "auth-refactor")
    assert refused.code == 3 and "handoff --as is for people" in refused.err
    assert daemon.get("/v1/claims")["claims"][0]["holder"]["pid"] == two[0].pid


def test_whoever_handed_a_claim_over_is_not_told_that_it_is_theirs(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    inside(two[0], daemon, "claim", "task:A")
    handed = json.loads(inside(two[0], daemon, "handoff", "task:A", "flaky-ci", "--json").out)
    assert handed["because"].startswith("It is theirs now") and handed["code"] == "granted"
    again = json.loads(inside(two[1], daemon, "handoff", "task:A", "flaky-ci", "--json").out)
    assert again["because"] == "It is theirs already."


# --- the line ----------------------------------------------------------------------------------------


def test_whoever_comes_after_one_in_line_is_told_of_that_one_and_of_no_holder(
    daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path
) -> None:
    holds, _ = two
    inside(holds, daemon, "claim", f"path:{tmp_path}/a")
    tree = f"path:{tmp_path}/**"
    words = command("claim", tree, "--wait", "60", "--as", "flaky-ci")
    asked = subprocess.Popen(words, env=environment(daemon), stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"] == 1)
        refused = outside(daemon, "hold", f"path:{tmp_path}/b", "--", "true")
        assert refused.code == 3
        assert "Nobody holds it, but" in refused.err and "flaky-ci" in refused.err
        assert f'came first and waits for "{tree}"' in refused.err and "auth-refactor" not in refused.err
        assert "or wait: headcount hold" in refused.err
        assert inside(holds, daemon, "claim", f"path:{tmp_path}/b").code == 0, "it waits for this one itself"
    finally:
        asked.kill()
        asked.wait()


# --- the list ----------------------------------------------------------------------------------------


def test_the_list_says_how_many_wait_for_an_item_and_only_then(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    inside(two[0], daemon, "claim", "task:A", "--note", "login form")
    inside(two[0], daemon, "claim", "task:B")
    assert "WAITING" not in outside(daemon, "claims").out
    words = command("hold", "task:A", "--wait", "60", "--", "true")
    waits = subprocess.Popen(words, env=environment(daemon), stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: any(each["waiting"] for each in daemon.get("/v1/claims")["claims"]))
        titles, *rows = outside(daemon, "claims").out.splitlines()
        at = titles.index("WAITING")
        assert {row.split()[0]: row[at:].split()[0] for row in rows} == {"task:A": "1", "task:B": "-"}
        assert any("login form" in row for row in rows)
    finally:
        waits.terminate()
        waits.wait(10)


def test_the_list_with_those_who_wait_fits_every_screen() -> None:
    from headcount.clean_text import width
    from headcount.cli.commands.claims import table
    from headcount.present.screen import Screen

    holder = {"session": "7f3a00000000", "name": "auth-refactor", "pid": 1}
    item = "path:/a/long/directory/of/a/project/**"
    claim = {"item": item, "fence": 1794789584009, "holder": holder, "note": "log" * 9, "waiting": 3}
    for columns in range(20, 140):
        lines = table([claim], {}, 0.0, Screen(columns, False, True))
        assert all(width(line) <= columns for line in lines)
        assert "WAITING" in lines[0] or columns < 80


def test_a_lost_store_is_said_with_the_next_step_until_it_is_accepted(daemon: Daemon) -> None:
    daemon.kill(signal.SIGTERM)
    (daemon.home / "headcount.db").write_bytes(b"not a database, and long enough to be looked at" * 99)
    daemon.ready()
    for verb in ("claims", "status", "up"):
        said = outside(daemon, verb).out
        assert "store was lost" in said and "headcount claims --accept-loss" in said, verb
    assert "Nothing is claimed." not in outside(daemon, "claims").out
    assert "granted again" in outside(daemon, "claims", "--accept-loss").out
    again = outside(daemon, "claims", "--accept-loss")
    assert (again.code, again.out) == (0, "No store was lost; there is nothing to accept.\n")
    for verb in ("claims", "status", "up"):
        assert "--accept-loss" not in outside(daemon, verb).out, verb
    assert outside(daemon, "claims").out == "Nothing is claimed.\n"


# --- refusals ----------------------------------------------------------------------------------------


def test_a_refusal_says_what_the_item_is_held_for_and_what_its_holder_does(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    first, second = two
    inside(first, daemon, "claim", "task:A", "--note", 'login "form"\x1b[2J' + "x" * 300)
    first.hook(daemon.mailbox, "UserPromptSubmit", prompt="a secret wish")
    first.hook(daemon.mailbox, "PreToolUse", tool_name="Edit", tool_input={"file_path": "/p/auth.py"})
    doing = eventually(lambda: daemon.session(conversation=first.conversation)["doing"])
    refused = inside(second, daemon, "claim", "task:A")
    assert f'(alive, working: "{doing}"), for "login \'form\'' in refused.err and "auth.py" in doing
    assert "\x1b" not in refused.err and "x" * 100 not in refused.err and "wish" not in refused.err
    told = json.loads(inside(second, daemon, "claim", "task:A", "--json").out)
    assert told["note"].startswith('login "form"')
    assert f'(alive, working: "{doing}") since ' in told["because"]
    assert ", for \"login 'form'" in told["because"] and "\x1b" not in told["because"]


def test_a_refusal_of_what_has_no_note_says_nothing_of_it(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    inside(two[0], daemon, "claim", "task:A")
    assert "for " not in inside(two[1], daemon, "claim", "task:A").err.splitlines()[0].partition("since")[2]
    assert json.loads(inside(two[1], daemon, "claim", "task:A", "--json").out)["note"] is None


def test_a_guards_denial_says_what_the_path_is_held_for(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    first, second = two
    inside(first, daemon, "claim", f"path:{second.cwd}/f.py", "--note", "login form")
    edit = {"tool_name": "Edit", "tool_input": {"file_path": f"{second.cwd}/f.py"}}
    body = json.loads(second.payload("PreToolUse", **edit))
    denied = daemon.call("POST", "/v1/guard/claude-code", body).data["hookSpecificOutput"]
    assert ', for "login form".' in denied["permissionDecisionReason"]


def test_an_agent_is_told_that_its_own_hold_has_it(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    first, second = two
    holding = shlex.join(command("hold", "task:HR", "--", "sleep", "60"))
    settings = shlex.join(f"{name}={value}" for name, value in daemon.env.items())
    first.run(f"env {settings} {holding} >/dev/null 2>&1 & echo started")
    (row,) = eventually(lambda: daemon.get("/v1/claims")["claims"])
    for words in (("release", "task:HR"), ("handoff", "task:HR", "flaky-ci")):
        said = inside(first, daemon, *words)
        assert said.code == 3 and "not yours" not in said.err
        assert f"is held by pid {row['holder']['pid']}, a process of your own" in said.err
        assert "free when that process ends" in said.err
    assert "is not yours. Held by" in inside(second, daemon, "release", "task:HR").err
    assert outside(daemon, "release", "task:HR", "--force").code == 0


# --- paths -------------------------------------------------------------------------------------------


def test_a_path_without_its_kind_is_suggested_as_one_and_the_suggestion_is_taken(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    (two[0].cwd / "p").mkdir(exist_ok=True)
    for text in ("p/auth.py", "./x", "p/"):
        refused = inside(two[0], daemon, "claim", text)
        assert refused.code == 2 and "Did you mean path:" in refused.err, text
        meant = refused.err.split("Did you mean ")[1].split("?")[0]
        assert inside(two[0], daemon, "claim", meant).code == 0, meant
    held = {row["item"] for row in daemon.get("/v1/claims")["claims"]}
    assert held == {f"path:{two[0].cwd.resolve()}/{each}" for each in ("p/auth.py", "x", "p/**")}


def test_whoever_claims_a_directory_by_its_name_alone_learns_what_that_protects(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    first, second = two
    (place := first.cwd / "src dir").mkdir()
    (place / "f.py").touch()
    granted = inside(first, daemon, "claim", f"path:{place}/").out
    tree = shlex.quote(f"path:{place.resolve()}/**")
    assert f"It protects this very path; for all below it: headcount claim {tree}" in granted
    assert inside(first, daemon, "claim", f"path:{place}/**").out.count("protects") == 0
    assert inside(second, daemon, "claim", f"path:{first.cwd}/nonesuch").out.count("protects") == 0


# --- small words -------------------------------------------------------------------------------------


def test_what_the_next_in_line_has_is_not_called_free(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    inside(two[0], daemon, "claim", "task:A")
    words = command("hold", "task:A", "--wait", "60", "--", "sleep", "60")
    waits = subprocess.Popen(words, env=environment(daemon), stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: any(each["waiting"] for each in daemon.get("/v1/claims")["claims"]))
        forced = outside(daemon, "release", "task:A", "--force").out
        assert f"is now process {waits.pid}'s, who waited for it" in forced and "free" not in forced
        assert "is free again" in outside(daemon, "release", "task:A", "--force").out
    finally:
        waits.terminate()
        waits.wait(10)


def test_a_wait_in_vain_has_a_unit(daemon: Daemon, two: tuple[Agent, Agent]) -> None:
    inside(two[0], daemon, "claim", "task:A")
    assert inside(two[1], daemon, "claim", "task:A", "--wait", "1").err.startswith("Waited 1 s, in vain.")
    assert inside(two[1], daemon, "claim", "task:A", "--wait", "1s").err.startswith("Waited 1s, in vain.")


def test_a_number_that_was_never_given_is_not_said_to_be_an_old_one(
    daemon: Daemon, two: tuple[Agent, Agent]
) -> None:
    inside(two[0], daemon, "claim", "task:A")
    for words in (("release", "task:A"), ("handoff", "task:A", "flaky-ci")):
        refused = inside(two[0], daemon, *words, "--fence", "5")
        assert refused.code == 3 and "again since" not in refused.err
        assert "That is not the number of task:A now" in refused.err
        wrong = inside(two[0], daemon, *words, "--fence", "abc")
        assert wrong.code == 2 and '"abc" is no number of a claim' in wrong.err


def test_a_name_that_two_have_asks_for_an_id(daemon: Daemon, agent: MakeAgent) -> None:
    for _ in range(2):
        settled(agent(), daemon, session_title="twin")
    said = outside(daemon, "show", "twin")
    assert said.code == 2 and "Type: " in said.err and " or " in said.err and "a name" not in said.err
