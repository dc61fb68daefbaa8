"""Telling agents about our MCP server: by the agent's own command, checked afterwards, else text to paste."""

import json
import os
import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.agents.installing import mcp_server
from headcount.agents.installing.mcp_server import Done, Server, Target
from headcount.agents.installing.settings_file import Refusal

SERVER = Server("/opt/head count/headcount", ("mcp",), {"HEADCOUNT_HOME": '/h "x"\\'})
OTHER = Server("/elsewhere/python", ("-P", "-m", "headcount", "mcp"))
WITH_COMMAND = ["claude-code", "codex", "gemini"]
FOREIGN = {"command": "/usr/bin/census", "args": ["serve"]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for place in (".codex", ".gemini", ".config/opencode", "bin"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / ".claude.json").write_text("{}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return tmp_path


def target_of(home: Path, agent: str) -> Target:
    (target,) = mcp_server.targets({}, home, agent)
    return target


def holding(target: Target, entry: dict[str, object] | None) -> str:
    """The agent's settings with that entry beside another server."""
    servers: dict[str, object] = {"other": {"command": "y"}, **({"headcount": entry} if entry else {})}
    if target.path.suffix != ".toml":
        return json.dumps({"theme": "dark", target.section: servers})
    rows = [f"[mcp_servers.{name}]\n{toml_rows(each)}" for name, each in servers.items()]
    return "\n".join(rows)


def toml_rows(entry: object) -> str:
    assert isinstance(entry, dict)
    return "".join(f"{name} = {mcp_server._toml(value)}\n" for name, value in entry.items())


def stand_in(home: Path, target: Target, after: str | None, code: int = 0) -> Path:
    """A program that records its words, and leaves those settings behind."""
    record, made = home / "argv", home / "after"
    lines = ["#!/bin/sh", f'for word in "$@"; do printf "%s\\0" "$word"; done >>{shlex.quote(str(record))}']
    lines.append(f"printf '\\n' >>{shlex.quote(str(record))}")
    if after is not None:
        made.write_text(after)
        lines.append(f"cp {shlex.quote(str(made))} {shlex.quote(str(target.path))}")
    lines.append(f"echo it is so >&2; exit {code}")
    program = home / "bin" / target.program
    program.write_text("\n".join(lines))
    program.chmod(0o755)
    return record


def words_of(record: Path) -> list[list[str]]:
    return [line.rstrip("\0").split("\0") for line in record.read_text().splitlines()]


@pytest.mark.parametrize("agent", WITH_COMMAND)
def test_the_agents_own_command_adds_the_server(home: Path, agent: str) -> None:
    target = target_of(home, agent)
    record = stand_in(home, target, holding(target, target.wanted(SERVER)))
    assert isinstance(done := mcp_server.change(target, SERVER, dry=False), Done)
    assert done.changed and done.ran and mcp_server.standing(target) == "installed"
    value = json.dumps({"command": SERVER.command, "args": ["mcp"], "env": SERVER.env})
    variable = f"HEADCOUNT_HOME={SERVER.env['HEADCOUNT_HOME']}"
    assert words_of(record) == [
        {
            "claude-code": ["mcp", "add-json", "--scope", "user", "headcount", value],
            "codex": ["mcp", "add", "headcount", "--env", variable, "--", SERVER.command, "mcp"],
            "gemini": ["mcp", "add", "--scope", "user", "--env", variable, "headcount", SERVER.command, "--", "mcp"],
        }[agent]
    ]  # fmt: skip
    again = mcp_server.change(target, SERVER, dry=False)
    assert isinstance(again, Done) and not again.changed and len(words_of(record)) == 1


@pytest.mark.parametrize("agent", WITH_COMMAND)
def test_the_agents_own_command_removes_the_server(home: Path, agent: str) -> None:
    target = target_of(home, agent)
    target.path.write_text(holding(target, target.wanted(SERVER)))
    record = stand_in(home, target, holding(target, None))
    assert isinstance(done := mcp_server.change(target, None, dry=False), Done) and done.changed
    scope = [] if agent == "codex" else ["--scope", "user"]
    assert words_of(record) == [["mcp", "remove", *scope, "headcount"]]
    again = mcp_server.change(target, None, dry=False)
    assert isinstance(again, Done) and not again.changed and len(words_of(record)) == 1


def test_claude_code_removes_an_entry_before_it_adds_another(home: Path) -> None:
    target = target_of(home, "claude-code")
    target.path.write_text(holding(target, target.wanted(OTHER)))
    record = stand_in(home, target, holding(target, target.wanted(SERVER)))
    assert isinstance(mcp_server.change(target, SERVER, dry=False), Done)
    assert [words[1] for words in words_of(record)] == ["remove", "add-json"]


@pytest.mark.parametrize("agent", mcp_server.AGENTS)
def test_a_dry_run_runs_nothing(home: Path, agent: str) -> None:
    target = target_of(home, agent)
    record = stand_in(home, target, None) if target.program else home / "argv"
    planned = mcp_server.change(target, SERVER, dry=True)
    assert isinstance(planned, Done) and planned.changed and not planned.ran
    assert not record.exists()


@pytest.mark.parametrize("agent", WITH_COMMAND)
@pytest.mark.parametrize("code", [0, 3])
def test_an_agent_that_did_not_do_it_is_reported(home: Path, agent: str, code: int) -> None:
    target = target_of(home, agent)
    stand_in(home, target, None, code)
    refusal = mcp_server.change(target, SERVER, dry=False)
    assert isinstance(refusal, Refusal) and f"`{target.program} mcp add" in refusal.why
    assert ("it is so" if code else "its settings do not show it") in refusal.why


@pytest.mark.parametrize("agent", mcp_server.AGENTS)
@pytest.mark.parametrize("server", [SERVER, None])
def test_an_entry_of_that_name_that_starts_something_else_stays(
    home: Path, agent: str, server: Server | None
) -> None:
    target = target_of(home, agent)
    target.path.write_text(before := holding(target, dict(FOREIGN)))
    record = stand_in(home, target, "") if target.program else home / "argv"
    refusal = mcp_server.change(target, server, dry=False)
    assert isinstance(refusal, Refusal) and "starts something else" in refusal.why
    assert target.path.read_text() == before and not record.exists()


@pytest.mark.parametrize("agent", mcp_server.AGENTS)
def test_a_file_that_cannot_be_read_is_reported_and_no_program_is_run(home: Path, agent: str) -> None:
    target = target_of(home, agent)
    record = stand_in(home, target, "") if target.program else home / "argv"
    wrong = b"mcp_servers = 3" if agent == "codex" else b"[1]"
    for content in (b"{ broken = ,\n", b"\xff", b"[" * 100_000, b"a = " + b"9" * 5000, wrong):
        target.path.write_bytes(content)
        assert isinstance(mcp_server.change(target, SERVER, dry=False), Refusal), content[:20]
        assert mcp_server.standing(target).startswith("unreadable")
        assert target.path.read_bytes() == content and not record.exists()


@pytest.mark.parametrize("agent", mcp_server.AGENTS)
@pytest.mark.parametrize("server", [SERVER, None])
def test_without_the_agents_program_the_user_gets_instructions(
    home: Path, agent: str, server: Server | None
) -> None:
    target = target_of(home, agent)
    if server is None:
        target.path.write_text(holding(target, target.wanted(SERVER)))
    before = target.path.read_bytes() if target.path.exists() else None
    done = mcp_server.change(target, server, dry=False)
    assert isinstance(done, Done) and done.changed and not done.ran
    assert bool(done.command) == (agent != "opencode") and str(target.path) in done.by_hand.splitlines()[0]
    assert (target.path.read_bytes() if target.path.exists() else None) == before
    if server is not None:
        target.path.write_text(done.by_hand.split("\n", 1)[1])
        again = mcp_server.change(target, server, dry=False)
        assert isinstance(again, Done) and not again.changed, "what was pasted is what was asked for"


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\x00")), st.text(st.characters(codec="utf-8"))
)
def test_any_path_survives_quoting_for_toml(command: str, value: str) -> None:
    entry = {"command": command, "args": ["mcp"], "env": {"HEADCOUNT_HOME": value}}
    assert tomllib.loads(toml_rows(entry)) == entry


def test_settings_with_comments_and_last_commas_are_read(home: Path) -> None:
    target = target_of(home, "gemini")
    entry = json.dumps(target.wanted(Server("/a//b/headcount", ("mcp",), {"HEADCOUNT_HOME": "/*,}*/"})))
    target.path.write_text(f'{{ // mine\n/* "x" */ "mcpServers": {{"headcount": {entry},\n}}, // last\n}}')
    assert target.entry() == json.loads(entry)


@pytest.mark.parametrize("agent", mcp_server.AGENTS)
def test_an_entry_that_leads_to_another_home_repoints(home: Path, agent: str) -> None:
    target = target_of(home, agent)
    assert not mcp_server.repoints(target, SERVER)
    target.path.write_text(holding(target, target.wanted(SERVER)))
    assert not mcp_server.repoints(target, SERVER)
    assert mcp_server.repoints(target, OTHER)
    assert mcp_server.repoints(target, Server(SERVER.command, SERVER.args)), "without its HEADCOUNT_HOME"


def test_only_installed_agents_are_changed(tmp_path: Path) -> None:
    assert mcp_server.targets({}, tmp_path) == []
    (tmp_path / ".codex").mkdir()
    assert [each.agent for each in mcp_server.targets({}, tmp_path)] == ["codex"]


def test_gemini_gets_text_to_paste_where_its_own_command_would_cut_a_value(home: Path) -> None:
    """It keeps only what stands before a second `=`."""
    target = target_of(home, "gemini")
    record = stand_in(home, target, None)
    done = mcp_server.change(
        target, Server("/bin/headcount", ("mcp",), {"HEADCOUNT_HOME": "/a=b"}), dry=False
    )
    assert isinstance(done, Done) and not done.ran and "/a=b" in (done.by_hand or "")
    assert not record.exists()


def test_an_entry_that_was_removed_before_a_failed_add_is_named(home: Path) -> None:
    target = target_of(home, "claude-code")
    target.path.write_text(holding(target, target.wanted(OTHER)))
    stand_in(home, target, holding(target, None), code=1)
    failed = mcp_server.change(target, SERVER, dry=False)
    assert isinstance(failed, Refusal) and "Its earlier entry was removed." in failed.why
