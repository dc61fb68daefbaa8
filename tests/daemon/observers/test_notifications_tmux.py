"""Notifications and tmux: the segment in a real status bar, and nothing of the pane that somebody looks at."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.rig.agents.commands_inside import outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.notification_receiver import Receiver
from tests.rig.daemon.notification_setup import ask, configure, kinds
from tests.rig.daemon.real_daemon import Daemon, eventually

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="stand-ins need Linux's /proc")

MakeAgent = Callable[..., Agent]


class Tmux:
    """A server of the test's own, in tmux's own place below the test's directory."""

    def __init__(self, directory: Path) -> None:
        self._env = {**os.environ, "TMUX_TMPDIR": str(directory), "TERM": "xterm"}
        self._env.pop("TMUX", None)
        self.clients: list[subprocess.Popen[bytes]] = []

    def __call__(self, *words: str) -> str:
        return subprocess.run(
            ["tmux", "-f", "/dev/null", *words], env=self._env, capture_output=True, text=True, timeout=20
        ).stdout.strip()

    def look(self) -> None:
        """Somebody attaches, in a terminal of his own."""
        line = "tmux -f /dev/null attach"
        self.clients.append(
            subprocess.Popen(
                ["script", "-qfc", line, "/dev/null"],
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        eventually(lambda: self("list-clients"))

    def close(self) -> None:
        self("kill-server")
        for each in self.clients:
            assert each.stdin is not None
            each.stdin.close()
            each.wait(10)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    made = Tmux(tmp_path)
    yield made
    made.close()


def test_the_segment_is_pushed_on_change_and_emptied_at_the_end(
    tmp_path: Path, agent: MakeAgent, tmux: Tmux
) -> None:
    tmux("new-session", "-d", "-s", "work", "sleep 1000")
    home = tmp_path / "headcount"
    configure(home, tmux_segment=True)
    with Daemon(home, TMUX_TMPDIR=str(tmp_path)) as daemon:
        one = agent()
        settled(one, daemon)
        eventually(lambda: "●" in tmux("show", "-gv", "@headcount"))
        ask(one, daemon)
        eventually(lambda: "▲" in tmux("show", "-gv", "@headcount"))
        # other agents of the machine are counted too, and may come and go in between
        eventually(lambda: outside(daemon, "statusline").out.strip() == tmux("show", "-gv", "@headcount"))
    assert tmux("show", "-gv", "@headcount") == ""


def test_nothing_is_told_of_the_pane_that_somebody_looks_at(
    tmp_path: Path, receiver: Receiver, agent: MakeAgent, tmux: Tmux
) -> None:
    """Two agents in two panes' windows; one is on the screen, the other is not."""
    home = tmp_path / "headcount"
    configure(home, command=receiver.command)
    program = Path(agent().process.args[0])  # type: ignore[index]  # makes the stand-in's program
    assert program.name == "claude"
    script = tmp_path / "stand-in.sh"
    script.write_text('while read -r cue; do /bin/sh "$1" <"$2.$cue.json"; done\n')
    with Daemon(home, TMUX_TMPDIR=str(tmp_path)) as daemon:
        line = tmp_path / "line.sh"
        line.write_text(
            '(umask 077; { read -r s </proc/$PPID/stat; printf "%s\\n" "$s"; exec cat; } '
            f'>>"{daemon.mailbox}/$PPID.$$") 2>/dev/null; exit 0\n'
        )
        for name in ("seen", "unseen"):
            for cue, fields in {
                "start": {"hook_event_name": "SessionStart", "source": "startup"},
                "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "x"},
                "ask": {
                    "hook_event_name": "PermissionRequest",
                    "tool_name": "Bash",
                    "tool_input": {"command": name},
                },
            }.items():
                payload = {
                    "session_id": f"00000000-0000-4000-8000-0000000000{len(name):02d}",
                    "cwd": "/",
                    **fields,
                }
                (tmp_path / f"{name}.{cue}.json").write_text(json.dumps(payload))
            shell = tmp_path / "agents" / "claude"
            command = f"exec {shlex.quote(str(shell))} {script} {line} {tmp_path / name}"
            tmux(*(["new-session", "-d"] if name == "seen" else ["new-window", "-d"]), command)
        tmux.look()
        seen, unseen = tmux("list-panes", "-a", "-F", "#{pane_id}").split()
        for pane in (seen, unseen):
            for cue in ("start", "prompt"):
                tmux("send-keys", "-t", pane, cue, "Enter")
        ids = [
            daemon.session(conversation=f"00000000-0000-4000-8000-0000000000{n:02d}", activity="working")[
                "id"
            ]
            for n in (len("seen"), len("unseen"))
        ]
        for pane in (seen, unseen):  # the one that is looked at first
            tmux("send-keys", "-t", pane, "ask", "Enter")
        eventually(lambda: kinds(receiver, ids[1]) == ["needs-you"])
        assert daemon.session(id=ids[0])["activity"] == "waiting"
        assert kinds(receiver, ids[0]) == []
