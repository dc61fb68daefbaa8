"""Our MCP server in the agents' settings: merged, refused untouched, given back."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.agents import mcp_entry
from headcount.agents.installing import mcp_server
from headcount.agents.installing.json_edit import Invalid
from headcount.agents.installing.settings_file import Refusal
from headcount.agents.mcp_entry import NotMergeable, Server

SERVER = Server("/opt/head count/headcount", ("mcp",), {"HEADCOUNT_HOME": '/h "x"\\'})
OTHER = Server("/elsewhere/headcount", ("mcp",))

JSONS = [
    "",
    "{}",
    '{"theme": "dark"}',
    '{\n    "mcpServers": {\n        "other": {"command": "x"}\n    },\n    "z": [1, 2]\n}\n',
    '{"mcpServers": {}, "a": null}',
]
TOMLS = [
    "",
    'model = "x"',
    'model = "x"\n[mcp_servers.other]\ncommand = "y"\n',
    "# only a comment\n",
    '[a]\nb = "# headcount"\n[[c]]\nd = 1\n\n\n',
]


@pytest.mark.parametrize("text", JSONS)
def test_a_json_file_gets_our_entry_and_loses_only_that(text: str) -> None:
    put = mcp_entry.put_json(text, "mcpServers", SERVER.usual())
    assert mcp_entry.find_json(put, "mcpServers") == SERVER.usual()
    assert mcp_entry.put_json(put, "mcpServers", SERVER.usual()) == put, "twice is once"
    renewed = mcp_entry.put_json(put, "mcpServers", OTHER.usual())
    assert mcp_entry.find_json(renewed, "mcpServers") == OTHER.usual()
    back = json.loads(mcp_entry.take_json(put, "mcpServers"))
    before = json.loads(text or "{}")
    assert {k: v for k, v in back.items() if v != {}} == {k: v for k, v in before.items() if v != {}}


@pytest.mark.parametrize("text", TOMLS)
def test_a_toml_file_gets_our_table_and_is_given_back_as_it_was(text: str) -> None:
    put = mcp_entry.put_toml(text, SERVER)
    assert tomllib.loads(put)["mcp_servers"]["headcount"] == SERVER.usual()
    assert put.startswith(text) and mcp_entry.put_toml(put, SERVER) == put
    assert tomllib.loads(mcp_entry.put_toml(put, OTHER))["mcp_servers"]["headcount"] == OTHER.usual()
    assert mcp_entry.take_toml(put).rstrip("\n") == text.rstrip("\n")
    more = put + '\n[later]\nadded = "by somebody"\n'
    assert tomllib.loads(mcp_entry.take_toml(more)) == {
        **tomllib.loads(text),
        "later": {"added": "by somebody"},
    }


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\x00")), st.text(st.characters(codec="utf-8"))
)
def test_any_path_survives_the_way_into_toml(command: str, home: str) -> None:
    server = Server(command, ("mcp",), {"HEADCOUNT_HOME": home})
    assert mcp_entry.find_toml(mcp_entry.put_toml('model = "x"\n', server)) == server.usual()


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { other = { command = "x" } }',
        '[mcp_servers.headcount]\ncommand = "mine"\n',
        "mcp_servers = 3",
    ],
)
def test_toml_that_our_table_does_not_fit_into_is_refused(text: str) -> None:
    with pytest.raises(NotMergeable):
        mcp_entry.put_toml(text, SERVER)


def test_what_only_looks_like_our_table_is_not_taken_out() -> None:
    quoted = f'note = """\n{mcp_entry.MARK}\n[mcp_servers.headcount]\ncommand = "x"\n"""\n'
    with pytest.raises(NotMergeable):
        mcp_entry.take_toml(quoted)
    with pytest.raises(NotMergeable):
        mcp_entry.put_toml(quoted, SERVER)


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": 3}', "{,}", "// comment\n{}"])
def test_json_that_it_does_not_fit_into_is_refused(text: str) -> None:
    with pytest.raises((NotMergeable, Invalid)):
        mcp_entry.put_json(text, "mcpServers", SERVER.usual())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for place in (".codex", ".gemini", ".config/opencode"):
        (tmp_path / place).mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize("agent", ["codex", "opencode", "gemini"])
@pytest.mark.parametrize("there", [None, b"", b"mine"])
def test_uninstalling_gives_back_what_was_there_byte_for_byte(
    home: Path, agent: str, there: bytes | None
) -> None:
    target = mcp_server.targets({}, home)[agent]
    if there == b"mine":
        there = b"x = 1   # mine\r\n" if agent == "codex" else b'{"x":  1}\r\n'
    if there is not None:
        target.path.write_bytes(there)
    state = home / "state"
    planned = mcp_server.install(target, SERVER, state, dry=True)
    assert isinstance(planned, mcp_server.Done) and planned.changed
    assert (target.path.read_bytes() if target.path.exists() else None) == there, "dry writes nothing"
    for renewed in (SERVER, OTHER, OTHER):
        done = mcp_server.install(target, renewed, state, dry=False)
        assert isinstance(done, mcp_server.Done)
    assert not done.changed and mcp_server.standing(target) == "installed"
    assert isinstance(mcp_server.uninstall(target, state, dry=False), mcp_server.Done)
    assert (target.path.read_bytes() if target.path.exists() else None) == there
    assert mcp_server.standing(target) == "absent"


@pytest.mark.parametrize("agent", ["codex", "opencode", "gemini"])
def test_a_file_that_cannot_be_understood_is_untouched(home: Path, agent: str) -> None:
    target = mcp_server.targets({}, home)[agent]
    target.path.write_bytes(b"{ broken = ,\n")
    assert isinstance(mcp_server.install(target, SERVER, home / "state", dry=False), Refusal)
    assert target.path.read_bytes() == b"{ broken = ,\n"
    assert mcp_server.standing(target).startswith("unreadable")


def test_what_somebody_added_meanwhile_stays(home: Path) -> None:
    target = mcp_server.targets({}, home)["gemini"]
    mcp_server.install(target, SERVER, home / "state", dry=False)
    text = target.path.read_text()
    target.path.write_text(text.replace("{", '{"theirs": true, ', 1))
    mcp_server.uninstall(target, home / "state", dry=False)
    assert json.loads(target.path.read_text()) == {"theirs": True}


def test_only_agents_that_are_there_are_told(tmp_path: Path) -> None:
    assert not any(map(mcp_server.is_there, mcp_server.targets({}, tmp_path).values()))
    (tmp_path / ".codex").mkdir()
    found = [each.agent for each in mcp_server.targets({}, tmp_path).values() if mcp_server.is_there(each)]
    assert found == ["codex"]


def test_without_its_own_command_claude_codes_file_is_left_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))
    target = mcp_server.targets({}, home)["claude-code"]
    target.path.write_text('{"projects": {}}')
    done = mcp_server.install(target, SERVER, home / "state", dry=False)
    assert isinstance(done, mcp_server.Done) and not done.ran
    assert done.command[:6] == ("claude", "mcp", "add-json", "--scope", "user", "headcount")
    assert json.loads(done.command[6]) == SERVER.usual()
    assert target.path.read_text() == '{"projects": {}}'


@pytest.mark.parametrize("agent", ["codex", "opencode", "gemini"])
def test_an_agent_that_was_never_used_here_is_not_used_here_afterwards(tmp_path: Path, agent: str) -> None:
    target = mcp_server.targets({}, tmp_path)[agent]
    for server in (SERVER, OTHER):
        mcp_server.install(target, server, tmp_path / "state", dry=False)
    assert mcp_server.is_there(target)
    mcp_server.uninstall(target, tmp_path / "state", dry=False)
    assert not mcp_server.is_there(target) and not target.path.parent.exists()


def test_a_directory_that_somebody_uses_meanwhile_stays(tmp_path: Path) -> None:
    target = mcp_server.targets({}, tmp_path)["codex"]
    mcp_server.install(target, SERVER, tmp_path / "state", dry=False)
    (target.path.parent / "auth.json").write_text("{}")
    mcp_server.uninstall(target, tmp_path / "state", dry=False)
    assert [each.name for each in target.path.parent.iterdir()] == ["auth.json"]


def test_a_directory_that_was_there_stays(home: Path) -> None:
    target = mcp_server.targets({}, home)["codex"]
    mcp_server.install(target, SERVER, home / "state", dry=False)
    mcp_server.uninstall(target, home / "state", dry=False)
    assert target.path.parent.is_dir()
