"""Run in mounts of its own: a daemon whose home is a small disk, which gets full or read-only, and recovers.

Rules of this file
  1. It asserts as it goes, and prints `done` and nothing else. The test that started it looks for that.
  2. The disk is really full: nothing is injected.
"""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import eventually
from tests.rig.daemon.without_census import lone_daemon
from tests.rig.network.raw_requests import connect, exchange, files_waiting, hook, read_reply, request


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (4096, 512, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return filler


def full(home: Path, agents: Path, ends: ExitStack) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "none", home], check=True)
    daemon = ends.enter_context(lone_daemon(home))
    living, dying = ends.enter_context(Agent(agents)), ends.enter_context(Agent(agents))
    for each in (living, dying):
        each.hook(daemon.mailbox, "SessionStart", source="startup")
        eventually(lambda each=each: daemon.sessions(conversation=each.conversation, liveness="alive"))
    seq = daemon.get("/v1/status")["store"]["seq"]
    stream = ends.enter_context(connect(daemon.socket))
    stream.sendall(request("GET", "/v1/events", b"", f"Last-Event-ID: {seq}"))
    assert read_reply(stream).status == 200

    assert daemon.process is not None
    daemon.process.send_signal(19)  # SIGSTOP: the reports are written while there is room
    living.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    living.hook(daemon.mailbox, "PreToolUse", tool_name="Bash", tool_input={"command": "make"})
    filler = fill(home)
    daemon.process.send_signal(18)  # SIGCONT
    eventually(lambda: daemon.get("/healthz")["ok"] is False)
    assert len(files_waiting(daemon)) == 2, "reports stay until they are stored"
    (warning,) = [each for each in daemon.get("/v1/status")["warnings"] if "nothing can be stored" in each]
    assert "make room" in warning, warning
    refused = exchange(daemon.socket, hook(b'{"session_id": "refused", "hook_event_name": "Stop"}'))
    assert refused.status == 503 and refused.data["error"]["code"] == "not-stored", refused
    dying.kill()
    row = daemon.session(conversation=living.conversation)
    assert (row["liveness"], row["activity"]) == ("alive", "idle"), row
    assert daemon.get("/v1/status")["store"]["seq"] == seq, "nothing is believed"
    assert daemon.sessions(conversation="refused") == []
    stream.settimeout(1)
    try:
        raise AssertionError(f"told: {stream.recv(65536)!r}")
    except TimeoutError:
        pass

    filler.unlink()
    eventually(lambda: daemon.sessions(conversation=dying.conversation, liveness="ended"))
    eventually(lambda: daemon.sessions(conversation=living.conversation, activity="working"))
    eventually(lambda: files_waiting(daemon) == [])
    assert daemon.session(conversation=living.conversation)["doing"] == "Bash: make"
    assert daemon.get("/healthz")["ok"] is True and daemon.get("/v1/status")["warnings"] in (
        [],
        ["the disk of the store is nearly full"],
    )
    stream.settimeout(10)
    told = b""
    while b"session.ended" not in told or b"Bash: make" not in told:
        told += stream.recv(65536)
    daemon.restart()
    assert daemon.session(conversation=dying.conversation)["ended"]["signal"] == 9


def readonly(home: Path, agents: Path, ends: ExitStack) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "none", home], check=True)
    daemon = ends.enter_context(lone_daemon(home))
    living = ends.enter_context(Agent(agents))
    living.hook(daemon.mailbox, "SessionStart", source="startup")
    eventually(lambda: daemon.sessions(conversation=living.conversation, liveness="alive"))
    daemon.stop()
    subprocess.run(["mount", "-o", "remount,ro", home], check=True)
    daemon.start()
    assert daemon.word.startswith("failed: "), daemon.word
    assert "read-only" in daemon.word.lower(), daemon.word
    subprocess.run(["mount", "-o", "remount,rw", home], check=True)
    daemon.ready()
    assert daemon.session(conversation=living.conversation)["liveness"] == "alive"


if __name__ == "__main__":
    home, agents = Path(sys.argv[2]), Path(sys.argv[3])
    home.mkdir()
    with ExitStack() as ends:
        {"full": full, "readonly": readonly}[sys.argv[1]](home, agents, ends)
    print(json.dumps("done"))
