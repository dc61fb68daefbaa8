"""Stand-ins that have conversations open: a Codex that holds writer locks, a toy that keeps its chat open.

Rules of this file
  1. The kernel shows them as the agent: name, executable and open files are an agent's.
  2. They do one thing at a time, when told, and answer when it is done; at the end of their input they exit.
"""

import json
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

OBEY = """
import fcntl, sys
held = {}
print("up", flush=True)
for line in sys.stdin:
    word, path, text = line.rstrip("\\n").split("\\t")
    if word == "close":
        held.pop(path).close()
    else:
        file = held.setdefault(path, open(path, "a"))
        if word == "lock":
            fcntl.flock(file, fcntl.LOCK_EX)
        file.write(text and text + "\\n")
        file.flush()
    print("done", flush=True)
"""


class Host:
    def __init__(self, argv: list[str], executable: Path, cwd: Path) -> None:
        self.process = subprocess.Popen(
            argv,
            executable=executable,
            cwd=cwd,
            env={"PYTHONHOME": sys.base_prefix, "PATH": os.environ["PATH"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None and self.process.stdout.readline() == "up\n"

    @property
    def pid(self) -> int:
        return self.process.pid

    def tell(self, word: str, path: Path, text: str = "") -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{word}\t{path}\t{text}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> "Host":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class CodexHost(Host):
    """An app server of Codex (or, with `run`, a `codex exec`) in the given home of Codex."""

    def __init__(self, place: Path, root: Path, *, run: bool = False) -> None:
        place.mkdir(parents=True, exist_ok=True)
        program = place / "codex"
        if not program.exists():
            shutil.copy(os.path.realpath(sys.executable), program)
        (place / "exec").write_text(OBEY)  # what python is given as its script is Codex's subcommand
        super().__init__(["codex", "exec"] if run else ["codex", "-c", OBEY], program, place)
        self.root = root

    def lock(self, conversation: str) -> Path:
        return self.root / "thread-writer-locks" / f"{conversation}.lock"

    def rollout(self, conversation: str) -> Path:
        return (
            self.root
            / "sessions"
            / "2026"
            / "11"
            / "16"
            / f"rollout-2026-11-16T02-24-15-{conversation}.jsonl"
        )

    def open(self, conversation: str | None = None, cwd: str = "/home/dev/project") -> str:
        conversation = conversation or str(uuid.uuid4())
        lock, rollout = self.lock(conversation), self.rollout(conversation)
        for path in (lock, rollout):
            path.parent.mkdir(parents=True, exist_ok=True)
        self.tell("lock", lock)
        meta = {"id": conversation, "cwd": cwd, "thread_source": "user"}
        self.say(conversation, "session_meta", meta)
        return conversation

    def say(self, conversation: str, type: str, payload: dict[str, object], at: str = "") -> None:
        from datetime import UTC, datetime

        moment = at or datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"timestamp": moment, "type": type, "payload": payload}
        self.tell("write", self.rollout(conversation), json.dumps(line, separators=(",", ":")))

    def close(self, conversation: str) -> None:
        self.tell("close", self.rollout(conversation))
        self.tell("close", self.lock(conversation))


class ToyHost(Host):
    def __init__(self, home: Path) -> None:
        (home / ".toy").mkdir(parents=True, exist_ok=True)
        super().__init__(["toy", "-c", OBEY], Path(sys.executable), home)
        self.home = home

    def chat(self, conversation: str, text: str) -> None:
        self.tell("write", self.home / ".toy" / f"{conversation}.chat", text)
