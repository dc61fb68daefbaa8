"""Read, replace and restore other tools' settings files.

Rules
  1. A file is replaced atomically: written beside it, synced, renamed. Mode and owner stay; a symbolic
     link stays a link, and its target is replaced.
  2. A change that was not read is never overwritten: a file that changed meanwhile is left alone.
  3. The previous content is remembered in our state directory, with a hash of what we wrote. It is restored
     byte for byte only if the file is unchanged since.
  4. The remembered content may hold secrets from the settings: 0600 in a 0700 directory.

Not here: what is put into a file (json_hooks.py).
"""

import base64
import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path

from msgspec import Struct

from headcount.private_files import check_directory

LARGEST = 8 * 1024 * 1024  # larger than any settings file


class Refusal(Struct, frozen=True):
    """Why nothing was written."""

    path: Path
    why: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        where = f"{self.path.name} line {self.line}, column {self.column}" if self.line else self.path.name
        return f"{where}: {self.why}. Nothing written."


class OriginalFile(Struct, frozen=True):
    original: bytes | None  # None: there was no file
    written: str  # sha256 of what we wrote
    made_directory: bool = False


def read(path: Path) -> bytes | Refusal | None:
    """The file's bytes; None when there is no file."""
    try:
        there = path.stat()
        if not stat.S_ISREG(there.st_mode):  # opening a pipe would block for ever
            return Refusal(path, "not a plain file")
        if there.st_size > LARGEST:
            return Refusal(path, "too large to be a settings file")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        return Refusal(path, f"cannot be read ({error.strerror})")


def replace(path: Path, before: bytes | None, after: bytes | None) -> Refusal | None:
    """Replace `before` by `after`, or remove the file. Returns None once that is durable."""
    target = path.resolve()
    try:
        if after is not None:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if read(target) != before:
            return Refusal(path, "another program changed it at this moment; try again")
        if after is None:
            target.unlink(missing_ok=True)
        else:
            _write_beside_and_rename(target, after)
        _sync_directory(target.parent)
    except OSError as error:
        return Refusal(path, f"cannot be written ({error.strerror})")
    return None


def fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def memory_path(state: Path, agent: str, settings: Path) -> Path:
    return (
        state / "hooks" / f"{agent}-{fingerprint(str(settings).encode('utf-8', 'surrogateescape'))[:16]}.json"
    )


def recall(memory: Path) -> OriginalFile | None:
    """The content before our change; None: it is not known."""
    try:
        found = json.loads(memory.read_bytes())
        original = base64.b64decode(found["original"]) if found["original"] is not None else None
        return OriginalFile(original, str(found["written"]), bool(found.get("made_directory")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(memory: Path, what: OriginalFile, settings: Path) -> None:
    memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_directory(str(memory.parent))
    original = base64.b64encode(what.original).decode() if what.original is not None else None
    record: dict[str, object] = {"settings": str(settings), "original": original, "written": what.written}
    record["made_directory"] = what.made_directory
    _write_beside_and_rename(memory, json.dumps(record).encode())
    _sync_directory(memory.parent)


def forget(memory: Path) -> None:
    memory.unlink(missing_ok=True)


def _write_beside_and_rename(target: Path, content: bytes) -> None:
    fd, beside = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".headcount", dir=target.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            _keep_mode_and_owner(target, fd)
            file.write(content)
            file.flush()
            os.fsync(fd)
        Path(beside).replace(target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _keep_mode_and_owner(target: Path, fd: int) -> None:
    try:
        there = target.stat()
    except FileNotFoundError:
        return  # a new file keeps 0600
    made = os.fstat(fd)
    if (there.st_uid, there.st_gid) != (made.st_uid, made.st_gid):
        os.fchown(fd, there.st_uid, there.st_gid)
    os.fchmod(fd, there.st_mode & 0o7777)


def _sync_directory(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
