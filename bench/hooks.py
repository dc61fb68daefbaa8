"""Hooks: what being watched costs the real CLI. A run of 30 tool calls with our hooks and without, interleaved.

Beside it: the daemon killed, stopped (SIGSTOP) and on a full disk; a hook that sends each event with curl, to a
daemon that answers and to one that is hung; and hooks written in Python and for node that append each event to a file,
which is what most tools install.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.figure import Figure, Ratio, Row
from bench.home import scratch
from bench.numbers import median
from headcount.agents.claude_code.reports import EVENTS
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.fake_apis.anthropic_messages import FakeAnthropic
from tests.rig.fake_apis.scripted_api import script
from tests.rig.kernel.small_disk import fill
from tests.rig.naive_ways.naive_claude import curl_line
from tests.rig.real_agents.claude import NEWEST, Claude, installed

ROUNDS = 5
CALLS = 30
HUNG_CALLS = 4  # a second for each event
TARGET = 1.10
SAID = "all is said"

PYTHON = """import sys
with open(sys.argv[1], "ab") as log: log.write(sys.stdin.buffer.read() + b"\\n")
"""
NODE = """const fs = require("fs"); fs.appendFileSync(process.argv[2], fs.readFileSync(0) + "\\n");
"""


@dataclass
class Way:
    """One way to be watched, with a home and a daemon of its own."""

    what: str
    claude: Claude
    daemon: Daemon | None = None
    taken: list[float] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    def run(self, calls: int = CALLS) -> float:
        read = {"use": ["Read", {"file_path": str(self.claude.project / "seen.txt")}]}
        prompt = script({"times": [calls, read]}, {"say": SAID})
        began = time.perf_counter()
        told = self.claude.run_print(prompt, within=300)
        taken = time.perf_counter() - began
        self.taken.append(taken)
        if told != f"{SAID}\n":
            self.printed.append(told)
        return taken


def measure() -> Figure:
    programs = installed()
    if programs is None:
        note = f"Not measured: Claude Code {NEWEST} could not be installed with npm."
        return Figure("hooks", "What being watched costs an agent", (), (), (note,))
    with scratch() as place, FakeAnthropic() as api, ExitStack() as ends:

        def made(name: str, what: str) -> Way:
            return _way(place / name, what, lambda there: Claude(programs, api.url, there), ends)

        none = made("none", "no hooks")
        ours = _ours(made("ours", "our hooks, daemon up"))
        killed = _ours(made("killed", "our hooks, daemon killed"))
        stopped = _ours(made("stopped", "our hooks, daemon stopped (SIGSTOP)"))
        full = _on_small_disk(made("full", "our hooks, its disk full"), ends)
        curl = _curl(made("curl", "curl for each event, daemon up"))
        python = _script(made("python", "a Python hook for each event"), "python3", "hook.py", PYTHON)
        node = _script(made("node", "a node hook for each event"), "node", "hook.js", NODE)
        hung = _curl(made("hung", "curl for each event, daemon stopped"))
        ways = [way for way in (none, ours, killed, stopped, full, curl, python, node) if way is not None]
        _break(killed, stopped, hung)
        for nth in range(ROUNDS + 1):
            for way in ways[nth % len(ways) :] + ways[: nth % len(ways)]:  # nobody is always first
                way.run()
        for way in ways:
            del way.taken[0]  # the first run of a home is another matter
        short = [none.run(HUNG_CALLS), hung.run(HUNG_CALLS)]
        none.taken.pop()
        per_event = (short[1] - short[0]) / (2 * HUNG_CALLS + 4)
        came_back = _read_after_start(killed)
    return _figure(none, ways, hung, per_event, came_back)


def _figure(none: Way, ways: list[Way], hung: Way, per_event: float, came_back: str) -> Figure:
    base = median(none.taken)
    rows = []
    for way in ways:
        took = median(way.taken)
        ratio = _against(none, way)
        is_ours = way.what.startswith("our")
        each = (ratio - 1) * base / (2 * CALLS + 4) * 1000
        cells = (f"{took:.2f} s", f"×{ratio:.2f}", "" if way is none else f"{each:.1f} ms", _printed(way))
        met = ratio <= TARGET and not way.printed if is_ours else None
        rows.append(Row(way.what, cells, f"×{TARGET:.2f}, nothing printed" if is_ours else "", met))
    rows.append(Row(hung.what, ("", "", f"{per_event * 1000:,.0f} ms", _printed(hung))))
    rows.append(
        Row(
            "reports of the down time, read after the next start",
            ("", "", "", came_back),
            "all",
            came_back.startswith("all"),
        )
    )
    spread = (max(none.taken) - min(none.taken)) / base
    notes = (
        f"Claude Code {NEWEST} in `-p` mode, {CALLS} calls of its Read tool against a local stand-in of the API: "
        f"{len(EVENTS.installed)} events are hooked, {2 * CALLS + 4} hooks run. {ROUNDS} rounds, interleaved; medians of the runs, and of the ratios within a round.",
        f"The runs without hooks differ by {spread:.0%} among themselves, and what lies below that is noise, a negative cost too; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.",
        f"The stopped daemon with curl was measured with {HUNG_CALLS} calls: each event costs curl's whole patience of 1 s.",
    )
    columns = ("run", "against none", "for each hook", "printed")
    ratios = tuple(_ratios(none, ways))
    return Figure("hooks", "What being watched costs an agent", columns, tuple(rows), notes, ratios)


def _ratios(none: Way, ways: list[Way]) -> Iterator[Ratio]:
    """How many times a whole run takes; of a hook's own share the noise of a run would say little."""
    ours = _against(none, ways[1])
    for way in ways:
        if way is none or not way.what.startswith("our"):
            target = (f"×{TARGET:.2f} of none", ours <= TARGET) if way is none else ()
            theirs = 1.0 if way is none else _against(none, way)
            yield Ratio(
                "a run of the real CLI with our hooks",
                f"×{ours:.2f}",
                f"{way.what}: ×{theirs:.2f}",
                theirs / ours,
                *target,
            )


def _against(none: Way, way: Way) -> float:
    return median([mine / plain for mine, plain in zip(way.taken, none.taken, strict=True)])


def _printed(way: Way) -> str:
    return "something" if way.printed else "nothing"


def _way(place: Path, what: str, make: Callable[[Path], Claude], ends: ExitStack) -> Way:
    place.mkdir()
    claude = make(place)
    claude.prepare(allow=("Read",))
    (claude.project / "seen.txt").write_text("x\n")
    way = Way(what, claude, Daemon(place / "headcount", HOME=str(claude.home)))
    ends.callback(lambda: way.daemon.stop() if way.daemon else None)
    return way


def _ours(way: Way) -> Way:
    assert way.daemon is not None
    way.daemon.ready()
    command = [sys.executable, "-m", "headcount", "hooks", "install"]
    subprocess.run(command, env=way.daemon.env, check=True, capture_output=True, timeout=60)
    return way


def _curl(way: Way) -> Way:
    assert way.daemon is not None
    way.daemon.ready()
    handler = {"type": "command", "command": curl_line(way.daemon.socket), "timeout": 5}
    way.claude.prepare(
        {"hooks": {row.name: [{"hooks": [handler]}] for row in EVENTS.installed}}, allow=("Read",)
    )
    return way


def _script(way: Way, program: str, name: str, text: str) -> Way | None:
    """A hook as most tools write it: a script that reads its stdin and appends it to a file."""
    path = shutil.which(program)
    if path is None:
        return None
    script = way.claude.project.parent / name
    script.write_text(text)
    command = shlex.join([path, str(script), str(script.with_suffix(".log"))])
    handler = {"type": "command", "command": command, "timeout": 5}
    way.claude.prepare(
        {"hooks": {row.name: [{"hooks": [handler]}] for row in EVENTS.installed}}, allow=("Read",)
    )
    return way


def _on_small_disk(way: Way, ends: ExitStack) -> Way | None:
    """A disk of its own that is really full; where that may not be made, this way is left out."""
    assert way.daemon is not None
    home = way.daemon.home
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "none", home], capture_output=True
    ).returncode:
        return None
    ends.enter_context(_mounted(home, way.daemon))
    _ours(way)
    fill(home)
    return way


@contextmanager
def _mounted(home: Path, daemon: Daemon) -> Iterator[None]:
    try:
        yield
    finally:
        daemon.stop()
        subprocess.run(["umount", home], check=True)


def _break(killed: Way, *stopped: Way) -> None:
    assert killed.daemon is not None
    killed.daemon.kill()
    for way in stopped:
        assert way.daemon is not None
        os.kill(way.daemon.pid, signal.SIGSTOP)


def _read_after_start(way: Way) -> str:
    """Starts it and asks for every conversation that was held while it was down."""
    assert way.daemon is not None
    waiting = [path for path in way.daemon.mailbox.iterdir() if not path.name.startswith(".")]
    held = {json.loads(path.read_bytes().partition(b"\n")[2])["session_id"] for path in waiting}
    way.daemon.ready()
    daemon = way.daemon
    eventually(lambda: all(path.name.startswith(".") for path in daemon.mailbox.iterdir()), within=60)
    known = {row["conversation"] for row in daemon.sessions(activity="done")}
    share = (
        "all"
        if held <= known and len(held) == ROUNDS + 1
        else f"{len(held & known)} of {len(held)} sessions of"
    )
    return f"{share} {len(waiting):,} reports"
