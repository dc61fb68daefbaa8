"""stop, close and release --force ask a person at a terminal first, and nobody else."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from headcount.cli.commands.completion import offers
from tests.rig.agents.commands_inside import environment, inside
from tests.rig.agents.person import person
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import Make, seated
from tests.rig.terminal.tmux_servers import has_ended

ITEM = "task:AUTH-12"


class Typed(NamedTuple):
    code: int
    out: str  # stdout, which is no terminal
    screen: str


def at_a_terminal(daemon: Daemon, answer: str, *words: str) -> Typed:
    """Stdin and stderr are one terminal; stdout is a pipe, as in `headcount stop S --json | jq`."""
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    running = subprocess.Popen(
        [sys.executable, "-m", "headcount", *words],
        env=environment(daemon), stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    out, _ = running.communicate(timeout=60)
    screen = b""
    try:
        while part := os.read(ours, 65_536):
            screen += part
    except OSError:  # everything on the terminal was read
        pass
    os.close(ours)
    return Typed(running.returncode, out, screen.decode())


def holding(daemon: Daemon, claude: Agent) -> str:
    id = str(seated(daemon, claude, session_title="auth-refactor")["id"])
    assert inside(claude, daemon, "claim", ITEM).code == 0
    return id


def stop(id: str) -> tuple[str, ...]:
    return ("stop", id[:6], "--kill-after", "2")


def close(id: str) -> tuple[str, ...]:
    return ("close", id[:6], "--kill-after", "2")


def release(id: str) -> tuple[str, ...]:
    return ("release", ITEM, "--force")


def is_done(daemon: Daemon, claude: Agent) -> bool:
    return has_ended(claude.pid) or not daemon.get("/v1/claims")["claims"]


@pytest.mark.parametrize("verb", [stop, close, release])
def test_a_person_is_told_whom_it_concerns_and_no_is_the_answer_unless_they_say_yes(
    daemon: Daemon, agent: Make, verb: Callable[[str], tuple[str, ...]]
) -> None:
    claude = agent()
    id = holding(daemon, claude)
    for answer in ("n\n", "\n", "\x04"):  # no, Enter, the end of the input
        typed = at_a_terminal(daemon, answer, *verb(id))
        assert (typed.code, typed.out) == (3, ""), typed
        for named in (id[:4], "auth-refactor", f"(pid {claude.pid})", ITEM, "[y/N]"):
            assert named in typed.screen, typed
        assert not is_done(daemon, claude)
    done = at_a_terminal(daemon, "y\n", *verb(id))
    assert done.code == 0, done
    assert f"{id[:4]} auth-refactor (pid {claude.pid})" in done.out  # what it touched
    eventually(lambda: is_done(daemon, claude))


@pytest.mark.parametrize("verb", [stop, close, release])
def test_yes_skips_the_question_and_off_a_terminal_nobody_is_asked(
    daemon: Daemon, agent: Make, verb: Callable[[str], tuple[str, ...]]
) -> None:
    for ask in (
        lambda *words: at_a_terminal(daemon, "", *words, "--yes"),
        lambda *words: person(daemon, *words),
    ):
        claude = agent()
        done = ask(*verb(holding(daemon, claude)))
        assert done.code == 0 and "[y/N]" not in str(done), done
        eventually(lambda claude=claude: is_done(daemon, claude))
        claude.close()
        eventually(lambda: not daemon.get("/v1/claims")["claims"])


def test_ctrl_c_at_the_question_is_a_no(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    words = stop(holding(daemon, claude))
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "headcount", *words],
        env=environment(daemon), stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    screen = b""
    while b"[y/N] " not in screen:
        screen += os.read(ours, 65_536)
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    assert os.read(ours, 65_536).endswith(b"\r\nNothing was done.\r\n") and not has_ended(claude.pid)
    os.close(ours)
    os.close(theirs)


def test_the_question_of_release_says_what_the_holder_keeps(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    holding(daemon, claude)
    assert " keeps " not in at_a_terminal(daemon, "n\n", *release("")).screen
    assert inside(claude, daemon, "claim", "task:OTHER").code == 0
    screen = at_a_terminal(daemon, "n\n", *release("")).screen
    assert f"take {ITEM} from " in screen and ", which keeps task:OTHER? [y/N]" in screen
    assert screen.count(ITEM) == 1, screen


def test_who_is_idle_and_holds_nothing_is_ended_without_a_question(daemon: Daemon, agent: Make) -> None:
    claude = agent()
    id = seated(daemon, claude)["id"]
    done = at_a_terminal(daemon, "", *stop(id))
    assert done.code == 0 and "[y/N]" not in done.screen, done


def test_a_question_beside_json_leaves_one_document_on_stdout(daemon: Daemon, agent: Make) -> None:
    import json

    claude = agent()
    id = holding(daemon, claude)
    no = at_a_terminal(daemon, "n\n", "stop", id, "--json")
    assert no.code == 3 and not has_ended(claude.pid), no
    yes = at_a_terminal(daemon, "y\n", "stop", id, "--kill-after", "2", "--json")
    assert json.loads(yes.out)["ended"] is True


def test_completion_offers_yes() -> None:
    for verb in ("stop", "close", "release"):
        assert "--yes" in offers("bash", ["headcount", verb, "--y"])
