"""What a daemon listens on: its unix socket, and loopback once a person opened the page. Asked of the kernel."""

import os
import re
import socket
from pathlib import Path

from tests.rig.browser.page_port import Door
from tests.rig.daemon.real_daemon import Daemon

TABLES = ("tcp", "tcp6", "udp", "udp6", "raw", "raw6")
LISTENING, UNCONNECTED = "0A", "07"  # states of TCP, and of what has no connections


def listeners(pid: int) -> set[tuple[str, str]]:
    """Every IP socket of that process on which something can come in: its table and its address, as the kernel has it."""
    inodes = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found = re.fullmatch(r"socket:\[([0-9]+)\]", os.readlink(each))
        except FileNotFoundError:
            continue
        inodes |= {found[1]} if found else set()
    seen = set()
    for table in TABLES:
        path = Path(f"/proc/{pid}/net/{table}")
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            fields = line.split()
            if fields[9] in inodes and fields[3] in (LISTENING, UNCONNECTED):
                seen.add((table, fields[1].partition(":")[0]))
    return seen


def test_no_listener_is_beyond_loopback_and_none_is_there_before_a_person_opens_the_page(
    daemon: Daemon, tmp_path: Path
) -> None:
    daemon.get("/v1/sessions?settled=1")
    assert listeners(daemon.pid) == set(), "a unix socket and nothing else"
    door = Door(daemon, tmp_path / "errands").log_in()
    assert door.ask("GET", "/v1/sessions").status == 200
    assert listeners(daemon.pid) == {("tcp", "0100007F")}
    daemon.restart()
    assert listeners(daemon.pid) == set(), "a restart opens nothing"


def test_a_listener_beyond_loopback_would_be_seen() -> None:
    with socket.create_server(("0.0.0.0", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("0.0.0.0", 0))
        assert {("tcp", "00000000"), ("udp", "00000000")} <= listeners(os.getpid())
