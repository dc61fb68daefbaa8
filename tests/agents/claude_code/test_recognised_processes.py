"""Which processes are Claude Code's, and which of those are sessions."""

import pytest

from headcount.agents.claude_code.adapter import is_helper, recognise
from headcount.core.values.process import ProcessFacts, ProcessIdentity

NPM = "/opt/npm/node_modules/@anthropic-ai/claude-code/bin/claude.exe"
NATIVE = "/home/dev/.local/share/claude/versions/2.1.325"


def facts(comm: str, argv: tuple[str, ...], exe: str | None) -> ProcessFacts:
    return ProcessFacts(ProcessIdentity("boot", 1, 100, 5), 1, 1000, comm, argv, exe)


SESSIONS = {
    "typed by a user, npm": ("claude", ("claude",), NPM),
    "resumed": ("claude", ("claude", "--resume", "0f0f"), NPM),
    "-p with a prompt that speaks of helpers": ("claude", ("claude", "-p", "daemon run"), NPM),
    "background fork": ("claude.exe", (NPM, "--session-id", "a", "--fork-session"), NPM),
    "native": ("claude", ("claude",), NATIVE),
    "native after an update": ("claude", ("claude",), NATIVE + " (deleted)"),
    "native by its full path": ("2.1.325", (NATIVE, "--session-id", "a"), NATIVE),
    "native pre-release": ("claude", ("claude",), "/x/claude/versions/2.2.0-beta.1"),
    "a file called claude": ("claude", ("/usr/local/bin/claude",), "/usr/local/bin/claude"),
}

HELPERS = {
    "supervisor": ("claude.exe", (NPM, "daemon", "run", "--origin", "transient"), NPM),
    "pty host": ("claude.exe", ("claude", "bg-pty-host", "x"), NPM),
    "idle spare": ("claude.exe", ("claude", "bg-spare", "--bg-spare", "/tmp/a.sock"), NPM),
    "pty host, as the CLI writes it": (
        "claude.exe",
        ("claude bg-pty-host", "--bg-pty-host", "/tmp/a.sock"),
        NPM,
    ),
    "idle spare, as the CLI writes it": ("claude.exe", ("claude bg-spare", "--bg-spare", "/tmp/a.sock"), NPM),
    "MCP server": ("claude", ("claude", "mcp", "serve"), NPM),
    "the grep inside": ("claude.exe", ("rg", "--files"), NPM),
    "attached viewer": ("claude", ("claude", "attach", "ab12"), NPM),
}

STRANGERS = {
    "a script in a directory called claude": (
        "python3",
        ("python3", "/src/claude/run.py"),
        "/usr/bin/python3.11",
    ),
    "a shell script called claude": ("claude", ("/bin/sh", "/usr/local/bin/claude"), "/bin/dash"),
    "an editor on a file called claude": ("vim", ("vim", "claude"), "/usr/bin/vim"),
    "a grep for it": ("grep", ("grep", "claude"), "/usr/bin/grep"),
    "a hook's shell": ("sh", ("/bin/sh", "-c", "cat >> /x/claude"), "/bin/dash"),
    "one that only calls itself so": ("claude", ("claude",), "/usr/bin/sleep"),
    "another program's versions": ("python3.12", ("python3.12",), "/home/dev/.pyenv/versions/3.12"),
    "unreadable executable": ("claude", ("claude",), None),
    "no command line": ("claude", (), NPM),
    "a name with a line break": ("claude", ("claude",), "/x/versions/1.2\n/bin/evil"),
}


@pytest.mark.parametrize("case", SESSIONS)
def test_a_session_is_recognised(case: str) -> None:
    assert recognise(facts(*SESSIONS[case]))
    assert not is_helper(facts(*SESSIONS[case]))


@pytest.mark.parametrize("case", HELPERS)
def test_a_helper_is_never_a_session(case: str) -> None:
    assert is_helper(facts(*HELPERS[case]))
    assert not recognise(facts(*HELPERS[case]))


@pytest.mark.parametrize("case", STRANGERS)
def test_a_process_name_alone_is_not_recognised(case: str) -> None:
    assert not recognise(facts(*STRANGERS[case]))
    assert not is_helper(facts(*STRANGERS[case]))
