"""A second user on the same machine, who tries every way in.

Rules of this file
  1. Only root can be another user: an unused uid, without groups. Without root the tests skip.
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
SECOND = ("setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups")


def is_possible() -> bool:
    return os.geteuid() == 0 and shutil.which("setpriv") is not None


def as_second(*words: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*SECOND, *words], capture_output=True, text=True, timeout=60, cwd="/", **more)


def start_as_second(*words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([*SECOND, *words], stdout=subprocess.PIPE, text=True, cwd="/")


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


BURSTS = r"""
import json, socket, struct, sys
port, credential, rounds, targets = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:]
sent = answered = 0
for round in range(rounds):
    for target in targets:
        head = f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {credential}\r\n"
        data = (head + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}").encode()
        burst = []
        for nth in range(16):
            sock = socket.socket()
            try:
                sock.connect(("127.0.0.1", port))
                sock.sendall(data)
                sent += 1
            except OSError:
                pass
            if nth % 4 == 1:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if nth % 4 == 2:
                try:
                    sock.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
            if nth % 4 == 3:
                burst.append(sock)
            else:
                sock.close()
        for sock in burst:
            try:
                answered += bool(sock.recv(1))
            except OSError:
                pass
            sock.close()
print(json.dumps([sent, answered]))
"""


def burst(port: int, credential: str, rounds: int, *targets: str) -> tuple[int, int]:
    """POSTs with that credential whose sender mostly has closed before it is asked who it is: how many were sent, and
    how many of those who stayed were answered."""
    done = as_second(PYTHON, "-I", "-S", "-c", BURSTS, str(port), credential, str(rounds), *targets)
    assert done.returncode == 0, done.stderr
    sent, answered = json.loads(done.stdout)
    return sent, answered


def naive_tries(directory: Path) -> int:
    """How many of those lead somewhere where files and socket are made as the umask likes, and no caller is checked."""
    directory.mkdir(mode=0o755)
    for name in ("mailbox", "log"):
        (directory / name).mkdir(mode=0o777)
    for name in ("headcount.db", "log/headcount.log"):
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
    with start_as_second(PYTHON, "-I", "-S", "-c", IMPOSTOR, str(home)) as impostor:
        assert impostor.stdout is not None and impostor.stdout.readline() == "here\n"
        assert stat.S_ISSOCK((home / "headcount.sock").stat().st_mode)
        env = {"PATH": os.environ["PATH"], "HOME": str(directory), "HEADCOUNT_HOME": str(home)}
        done = subprocess.run([sys.executable, "-m", "headcount", "ps"], env=env, capture_output=True)
        impostor.kill()
        told = sum(int(line) for line in impostor.stdout)
    return told, done.returncode
