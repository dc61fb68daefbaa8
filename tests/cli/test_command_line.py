"""The command as a whole, in a process of its own, against a tiny server on its socket."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount import __version__
from headcount.cli.command_table import VERBS
from headcount.cli.commands import jump
from headcount.cli.main import main
from headcount.wire import exit_codes
from tests.client.scripted_server import WireServer, answer
from tests.present.sample_rows import session

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def headcount(tmp_path: Path) -> Run:
    def run(
        *words: str, env: dict[str, str] | None = None, cwd: Path = tmp_path
    ) -> "subprocess.CompletedProcess[str]":
        environment = {
            **os.environ,
            "HOME": str(tmp_path),
            "HEADCOUNT_HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "LC_ALL": "",
            **(env or {}),
        }
        return subprocess.run(
            [sys.executable, "-m", "headcount", *words],
            env=environment, cwd=cwd, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    return run


def serving(tmp_path: Path, sessions: list[dict[str, Any]]) -> WireServer:
    def script(line: str, *_: object) -> bytes:
        path = line.split()[1]
        if path.startswith("/v1/sessions?") or path == "/v1/sessions":
            return answer({"sessions": sessions}, version=__version__)
        if path == "/v1/sessions/7":
            error = {
                "code": "ambiguous",
                "message": '"7" matches 7f3a, 71c0. Type more, or a name.',
                "hint": None,
            }
            return answer({"error": error}, 400, version=__version__)
        if path == "/v1/sessions/odd":
            return answer(["not a session"], version=__version__)
        error = {"code": "no-such-session", "message": "No such session.", "hint": "See: headcount ps"}
        return answer({"error": error}, 404, version=__version__)

    return WireServer(str(tmp_path / "headcount.sock"), script)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WireServer]:
    inside = tmp_path / "here"
    inside.mkdir()
    rows = [
        session("7f3aaaaa", name="evil\x1b]0;x\x07\u202e", cwd=str(inside)),
        session("71c0aaaa", name="seeds", cwd="/nowhere", activity="idle"),
    ]
    with serving(tmp_path, rows) as running:
        yield running


def test_the_bare_command_is_ps(headcount: Run, server: WireServer) -> None:
    bare, named = headcount(), headcount("ps")
    assert (bare.returncode, bare.stderr) == (0, "")
    assert bare.stdout == named.stdout
    assert "2 alive: 1 working, 1 idle" in bare.stdout


def test_no_escape_of_a_name_is_printed_in_any_form(headcount: Run, server: WireServer) -> None:
    for words in (["ps"], ["ps", "--json"], ["ps", "--wide"], ["ps", "--all", "--json"]):
        out = headcount(*words).stdout
        assert "\x1b" not in out and "\u202e" not in out and "\x07" not in out
    assert json.loads(headcount("ps", "--json").stdout)["sessions"][0]["name"].startswith("evil\x1b")


def test_ps_dot_is_this_repository(headcount: Run, server: WireServer, tmp_path: Path) -> None:
    listed = json.loads(headcount("ps", ".", "--json", cwd=tmp_path / "here").stdout)["sessions"]
    assert [row["id"] for row in listed] == ["7f3aaaaa"]


def test_all_asks_for_the_ended_too(headcount: Run, server: WireServer) -> None:
    headcount("ps", "--all")
    assert server.requests[-1][0] == "GET /v1/sessions?all=1 HTTP/1.1"


def test_an_unknown_session_exits_5_with_the_next_step(headcount: Run, server: WireServer) -> None:
    for verb in (["show", "x/../y"], ["explain", "x"], ["wait", "x", "--until", "done"], ["log", "x"]):
        got = headcount(*verb)
        assert (got.returncode, got.stdout, got.stderr) == (5, "", "No such session.\nSee: headcount ps\n")
    assert any("/v1/sessions/x%2F..%2Fy " in line for line, _, _ in server.requests)


def test_an_ambiguous_prefix_exits_2_and_says_all(headcount: Run, server: WireServer) -> None:
    got = headcount("show", "7")
    assert (got.returncode, got.stderr) == (2, '"7" matches 7f3a, 71c0. Type more, or a name.\n')


def test_an_unexpected_fault_is_one_line_and_a_file(
    headcount: Run, server: WireServer, tmp_path: Path
) -> None:
    got = headcount("show", "odd")
    assert got.returncode == 1
    assert len(got.stderr.splitlines()) == 1 and "Traceback" not in got.stderr
    assert "Traceback" in (tmp_path / "log/command.log").read_text()


def test_a_closed_pipe_is_quiet(server: WireServer, tmp_path: Path) -> None:
    env = {**os.environ, "HEADCOUNT_HOME": str(tmp_path)}
    reading, writing = os.pipe()
    os.close(reading)
    got = subprocess.run(
        [sys.executable, "-m", "headcount", "ps"], env=env, stdout=writing, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writing)
    assert (got.returncode, got.stderr) == (0, b"")


def test_a_wrong_call_exits_2_in_one_line(headcount: Run) -> None:
    for words in (
        ["ps", "--nope"],
        ["wait", "x"],
        ["wait", "x", "--until", "dnoe"],
        ["log", "-n", "-3"],
        ["completion", "tcsh"],
        ["completion", "tcsh", "--"],
    ):
        got = headcount(*words)
        assert got.returncode == 2, words
        assert len(got.stderr.splitlines()) == 1 and "--help" in got.stderr


def test_an_unknown_verb_suggests_the_nearest(headcount: Run) -> None:
    got = headcount("explian")
    assert (got.returncode, got.stderr) == (
        2,
        'headcount: no verb "explian". Did you mean: headcount explain?\n',
    )


def test_a_verb_that_others_have_is_told_by_the_name_it_has_here(headcount: Run) -> None:
    for word, ours in {"list": "ps", "PS": "ps", "kill": "stop"}.items():
        assert headcount(word).stderr == f'headcount: no verb "{word}". Did you mean: headcount {ours}?\n'


def test_help_lists_every_verb_and_each_verb_has_examples(headcount: Run) -> None:
    text = headcount("--help").stdout
    assert all(f"  {name} " in text for name in VERBS)
    for name in VERBS:
        got = headcount(name, "--help")
        assert got.returncode == 0 and "examples:" in got.stdout and f"headcount {name}" in got.stdout
        assert "--json" in got.stdout


def test_version_is_ours(headcount: Run) -> None:
    assert headcount("--version").stdout == f"headcount {__version__}\n"


def offered(headcount: Run, *words: str, shell: str = "bash") -> list[str]:
    got = headcount("completion", shell, "--words", "--", "headcount", *words)
    assert (got.returncode, got.stderr) == (0, "")
    return got.stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shells_stub_asks_for_the_words(headcount: Run, shell: str) -> None:
    text = headcount("completion", shell).stdout
    assert f"headcount completion {shell} --words --" in text
    assert json.loads(headcount("completion", shell, "--json").stdout)["script"] == text.rstrip("\n")
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=text, text=True, timeout=10).returncode == 0


def test_completion_knows_every_verb_and_its_options(headcount: Run) -> None:
    assert offered(headcount, "") == [*VERBS, "--help", "--version"]
    assert offered(headcount, "wh") == ["whoami"]
    assert {"--wide", "--host", "--json", "-a"} <= set(offered(headcount, "ps", ""))
    assert "--words" not in offered(headcount, "completion", "")
    assert {"install", "--agent"} <= set(offered(headcount, "hooks", ""))
    assert offered(headcount, "nonsense", "") == []


def test_completion_offers_only_words_a_shell_takes_as_they_are(headcount: Run, server: WireServer) -> None:
    words = [each for each in offered(headcount, "show", "") if not each.startswith("-")]
    assert words == ["71c0", "7f3a", "seeds"]


def test_status_down_and_doctor_start_nothing(headcount: Run, tmp_path: Path) -> None:
    assert headcount("status").returncode == 4
    assert headcount("down").stdout == "headcount was not running.\n"
    got = headcount("doctor", "--json")
    assert got.returncode == 0 and json.loads(got.stdout)["findings"] == []
    assert all(each.startswith("-") for each in offered(headcount, "show", ""))
    assert list(tmp_path.iterdir()) == []


def test_ps_imports_neither_argparse_nor_anything_slow(server: WireServer, tmp_path: Path) -> None:
    code = (
        "import sys; from headcount.cli.main import main; main(['ps']); "
        "slow = {'argparse','asyncio','dataclasses','datetime','http.client','logging','msgspec','pathlib',"
        "'shutil','socket','subprocess','tempfile','urllib.parse','headcount.wire.views'}; "
        "print(sorted(slow & set(sys.modules)), file=sys.stderr)"
    )
    got = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        env={**os.environ, "HEADCOUNT_HOME": str(tmp_path)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert got.stderr == "[]\n"


@pytest.mark.parametrize(("shell", "apart"), [("zsh", ":"), ("fish", "\t")])
def test_completion_says_what_each_verb_is_for(headcount: Run, shell: str, apart: str) -> None:
    described = [f"{verb.name}{apart}{verb.help}" for verb in VERBS.values()]
    assert offered(headcount, "", shell=shell) == [*described, "--help", "--version"]


@pytest.mark.parametrize("words", [("ps",), ("up",), ("hooks", "install"), ("hold", "task:X", "--", "true")])
def test_a_home_that_cannot_be_made_is_told_with_the_way_out(
    headcount: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    done = headcount(*words, env={"HEADCOUNT_HOME": str(in_the_way), "HOME": str(tmp_path)})
    assert done.returncode == 4
    assert str(in_the_way) in done.stderr and "set HEADCOUNT_HOME" in done.stderr


@pytest.mark.parametrize("number", ["abc", "-5", "1.5"])
def test_watching_since_no_number_is_a_wrong_call(headcount: Run, number: str) -> None:
    done = headcount("watch", f"--since={number}")
    assert done.returncode == 2 and "no event number" in done.stderr


def test_hold_says_what_is_missing(headcount: Run) -> None:
    assert "needs a command" in headcount("hold", "task:X").stderr
    assert '"soon" is no time' in headcount("hold", "task:X", "--wait", "soon", "--", "true").stderr


def test_a_program_that_asked_for_json_gets_the_fault_as_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADCOUNT_HOME", str(tmp_path))
    assert main(["status", "--json"]) == exit_codes.UNAVAILABLE
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["code"] == "unavailable"
    assert "headcount up" in told.err


def test_what_mcp_install_leaves_to_its_user_is_no_success(headcount: Run, tmp_path: Path) -> None:
    nowhere = {"PATH": "/nonexistent"}
    planned = headcount("mcp", "install", "--agent", "claude-code", "--dry-run", env=nowhere)
    assert planned.returncode == 0 and "would run: claude mcp add-json" in planned.stdout
    done = headcount("mcp", "install", "--agent", "claude-code", env=nowhere)
    assert done.returncode == 1 and "no claude on your PATH; run: claude mcp add-json" in done.stdout
    pasted = headcount("mcp", "install", "--agent", "opencode", env=nowhere)
    assert pasted.returncode == 1 and "opencode.json:\n{" in pasted.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["web", "--print", "--close"], "--close closes it"),
        (["explain", "x", "--bundle", ""], "no file was named"),
        (["explain", "x", "--paths"], "--bundle --paths"),
        (["service", "status", "--print"], "service install --print"),
    ],
)
def test_options_that_contradict_each_other_are_a_wrong_call(
    headcount: Run, server: WireServer, words: list[str], said: str
) -> None:
    got = headcount(*words)
    assert got.returncode == exit_codes.USAGE and said in got.stderr


def test_mcp_takes_the_word_that_the_rows_show(headcount: Run) -> None:
    said = json.loads(headcount("mcp", "status", "--agent", "claude", "--json").stdout)
    assert [each["agent"] for each in said["agents"]] == ["claude-code"]


@pytest.mark.parametrize(("resume", "verb"), [("claude --resume x", "resume"), (None, "show")])
def test_an_ended_session_is_gone_on_with_only_where_that_works(resume: str | None, verb: str) -> None:
    raw = session("7f3aaaaa", liveness="ended", ended={"kind": "killed", "signal": 9}, resume=resume)
    assert jump._ended(raw)[1] == f"headcount {verb} 7f3a"


def test_a_service_that_is_not_installed_is_taken_away_without_a_systemd(
    headcount: Run, tmp_path: Path
) -> None:
    alone = {"PATH": "/nonexistent", "XDG_CONFIG_HOME": str(tmp_path / "config")}
    gone = headcount("service", "uninstall", env=alone)
    assert gone.returncode == 0 and "not installed" in gone.stdout
    assert headcount("service", "install", env=alone).returncode == exit_codes.UNAVAILABLE
    status = headcount("service", "status", env=alone).stdout
    assert "no user systemd" in status and "Next" not in status


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ps", "--fleet", "--host", "ws"], "two lists"),
        (["ps", "--host", ""], "No host was named"),
        (["fleet", "status", "--name", "x"], "--name is of fleet join"),
        (["fleet", "join", "postgresql://h/d", "--anyway"], "--anyway is of fleet leave"),
        (["fleet", "join", "--anyway", "postgresql://h/d"], "--anyway is of fleet leave"),
        (["fleet", "--name", "", "join", "postgresql://h/d"], "a host has a name"),
        (["fleet", "leave", "postgresql://h/d"], "an address is of fleet join"),
        (["fleet", "join", "postgresql://h/d", "--name", ""], "a host has a name"),
    ],
)
def test_an_option_that_would_be_ignored_is_a_wrong_call(
    headcount: Run, server: WireServer, words: list[str], said: str
) -> None:
    got = headcount(*words)
    assert got.returncode == exit_codes.USAGE and said in got.stderr


def test_down_on_a_host_of_a_fleet_says_what_becomes_of_shared_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADCOUNT_HOME", str(tmp_path))
    monkeypatch.setattr("headcount.client.daemon_access.DaemonAccess.stop", lambda self: True)
    assert main(["down"]) == 0
    assert "fleet" not in capsys.readouterr().out
    (tmp_path / "fleet.json").write_text("{}")
    assert main(["down"]) == 0
    assert "open to others in 45 s" in capsys.readouterr().out
