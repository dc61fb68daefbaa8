"""Processes that take and give back claims as fast as they are answered, each its own holder.

Rules of this file
  1. A caller is a process of its own with an item of its own; all begin at one moment and stop at one.
  2. `client` speaks through `headcount.Client`; `raw` sends bytes made before and reads one answer, which is
     as little as a caller can do.
  3. A pair counts when both answers came, so that both are on the disk.

Run as a program: how, home, item, seconds. It prints `ready`, waits for a line, and prints its count.
"""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import headcount
from headcount.client.transport.connection import connect_unix


def rate(home: Path, how: str, callers: int, seconds: float) -> float:
    """Pairs a second, of all callers together."""
    words = [sys.executable, "-m", "bench.claim_callers", how, str(home)]
    running = [
        subprocess.Popen(
            [*words, f"task:bench-{nth}", str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for nth in range(callers)
    ]
    for process in running:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [json.loads(process.communicate()[0]) for process in running]
    return sum(pairs / taken for pairs, taken in said)


def by_client(home: str, item: str, seconds: float) -> tuple[int, float]:
    with headcount.Client(home, autostart=False) as client:
        client.claims()
        _wait_for_the_start()
        began = time.perf_counter()
        pairs = 0
        while (taken := time.perf_counter() - began) < seconds:
            client.claim(item, own=True).release()
            pairs += 1
        return pairs, taken


def by_socket(home: str, item: str, seconds: float) -> tuple[int, float]:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connect_unix(sock, f"{home}/headcount.sock")
    body = json.dumps({"item": item, "own": True})
    acquire = (
        f"POST /v1/claims HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n{body}"
    ).encode()
    release = f"DELETE /v1/claims/{item} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n".encode()
    _wait_for_the_start()
    began = time.perf_counter()
    pairs = 0
    while (taken := time.perf_counter() - began) < seconds:
        for asked in (acquire, release):
            sock.sendall(asked)
            answer = sock.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200"), answer
        pairs += 1
    return pairs, taken


def _wait_for_the_start() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    _, how, home, item, seconds = sys.argv
    work = {"client": by_client, "raw": by_socket}[how]
    print(json.dumps(work(home, item, float(seconds))))
