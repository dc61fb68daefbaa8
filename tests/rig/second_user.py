"""A second user on the same machine, who tries every way in.

Rules of this file
  1. Only root can be another user: a number that nobody has, without groups. Others skip.
  2. Each try says whether it got anything; being refused is the answer that is wanted.
"""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

UID = 54_321
PYTHON = os.path.realpath(sys.executable)


def is_possible() -> bool:
    return os.geteuid() == 0 and shutil.which("setpriv") is not None


def as_second(*words: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    line = ["setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, cwd="/", **more)


TRIES = r"""
import json, os, signal, socket, sys
home, pid, port, credential, asks_alone = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5] == "asks"

def ask(sock, host, more=""):
    sock.settimeout(10)
    head = f"GET /v1/sessions HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n"
    sock.sendall(head.encode())
    got = b""
    while piece := sock.recv(65536):
        got += piece
    if b" 200 " not in got[:20]:
        raise PermissionError(got[:20])

def unix():
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(home + "/headcount.sock")
    ask(sock, "localhost")

def page(more):
    ask(socket.create_connection(("127.0.0.1", port), 10), f"127.0.0.1:{port}", more)

def write(name):
    with open(f"{home}/{name}", "ab") as file:
        file.write(b'1 (x) S\n{"session_id": "second-user", "hook_event_name": "SessionStart"}')

tries = {
    "list its directory": lambda: os.listdir(home),
    "read its store": lambda: open(home + "/headcount.db", "rb").read(1),
    "read its log": lambda: open(home + "/log/headcount.log", "rb").read(1),
    "read its memory of tabs": lambda: open(home + "/web.json", "rb").read(1),
    "write into its directory": lambda: write("x"),
    "drop a report": lambda: write("mailbox/7.8"),
    "plant a link": lambda: os.symlink("/etc/passwd", home + "/mailbox/7.9"),
    "move its store away": lambda: os.rename(home + "/headcount.db", home + "/gone"),
    "remove its socket": lambda: os.unlink(home + "/headcount.sock"),
    "ask on its socket": unix,
    "ask on the page's port": lambda: page(""),
    "ask there with a stolen credential": lambda: page(f"Authorization: Bearer {credential}\r\n"),
    "signal it": lambda: os.kill(pid, signal.SIGTERM),
    "read its environment": lambda: open(f"/proc/{pid}/environ", "rb").read(1),
    "read its open files": lambda: os.listdir(f"/proc/{pid}/fd"),
}
got = {}
for name, attempt in tries.items():
    if asks_alone and not name.startswith(("ask", "drop", "plant")):
        continue
    try:
        attempt()
        got[name] = True
    except OSError:
        got[name] = False
print(json.dumps(got))
"""


def tries(home: Path, pid: int, port: int, credential: str, *, asks: bool = False) -> dict[str, bool]:
    """Each way in, and whether it led anywhere; or only those that ask the daemon for something."""
    words = (str(home), str(pid), str(port), credential, "asks" if asks else "all")
    done = as_second(PYTHON, "-I", "-S", "-c", TRIES, *words)
    assert done.returncode == 0, done.stderr
    found: dict[str, bool] = json.loads(done.stdout)
    return found


def naive_tries(directory: Path) -> int:
    """How many of those lead somewhere where files and socket are made as the umask likes, and nobody asks who calls."""
    directory.mkdir(mode=0o755)
    for name in ("mailbox", "log"):
        (directory / name).mkdir(mode=0o777)
    for name in ("headcount.db", "log/headcount.log", "web.json"):
        (directory / name).touch(mode=0o644)
    (directory / "mailbox").chmod(0o777)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / "headcount.sock"))
        listener.close()
    return sum(tries(directory, os.getpid(), 9, "x").values())


IMPOSTOR = r"""
import os, socket, sys
os.makedirs(sys.argv[1], 0o755, exist_ok=True)
sock = socket.socket(socket.AF_UNIX)
sock.bind(sys.argv[1] + "/headcount.sock")
os.chmod(sys.argv[1] + "/headcount.sock", 0o666)
sock.listen()
print("here", flush=True)
while True:
    link = sock.accept()[0]
    got = link.recv(65536)
    print(len(got), flush=True)
    link.close()
"""


def bytes_told_to_an_impostor(directory: Path) -> tuple[int, int]:
    """Another user listens where a home is expected: how much a client tells it, and how the client ends."""
    directory.mkdir(mode=0o777)
    directory.chmod(0o777)
    home = directory / "home"
    line = ["setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups", PYTHON, "-I", "-S", "-c"]
    with subprocess.Popen(
        [*line, IMPOSTOR, str(home)], stdout=subprocess.PIPE, text=True, cwd="/"
    ) as impostor:
        assert impostor.stdout is not None and impostor.stdout.readline() == "here\n"
        assert stat.S_ISSOCK((home / "headcount.sock").stat().st_mode)
        env = {"PATH": os.environ["PATH"], "HOME": str(directory), "HEADCOUNT_HOME": str(home)}
        done = subprocess.run([sys.executable, "-m", "headcount", "ps"], env=env, capture_output=True)
        impostor.kill()
        told = sum(int(line) for line in impostor.stdout)
    return told, done.returncode
