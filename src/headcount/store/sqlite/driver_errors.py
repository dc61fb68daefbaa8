"""Translate the database driver's errors into `StoreFault`.

Rules
  1. SQLite's error code decides, never the text of a message.
  2. A kind says what helps: room (full), the disk (io), rights (readonly), closing another program (busy), a
     restart that sets the file aside (corrupt, gone). Nothing helps against a value that cannot be stored
     (value): retrying it for ever would keep everything else from being stored.

Not here: what the daemon does about it.
"""

import errno
import os
import sqlite3
from pathlib import Path

from headcount.store.interface import FaultKind, StoreFault

PRIMARY = 0xFF  # an extended result code carries its primary code in the low byte

BY_CODE: dict[int, FaultKind] = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_IOERR: "io",
    sqlite3.SQLITE_CANTOPEN: "io",
    sqlite3.SQLITE_READONLY: "readonly",
    sqlite3.SQLITE_PERM: "readonly",
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
    sqlite3.SQLITE_TOOBIG: "value",
    sqlite3.SQLITE_MISMATCH: "value",
}

# What Python itself raises when it cannot hand a parameter over: text with a lone surrogate, a number of 2^63 and
# more, a type that SQLite has not.
UNBOUND = (UnicodeError, OverflowError, sqlite3.InterfaceError, sqlite3.ProgrammingError)

BY_ERRNO: dict[int, FaultKind] = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EROFS: "readonly",
    errno.EACCES: "readonly",
    errno.EPERM: "readonly",
    errno.EIO: "io",
}

NEXT_STEP: dict[FaultKind, str] = {
    "full": "make room on the disk that holds {path}; headcount goes on by itself",
    "io": "check the disk that holds {path} (dmesg names its errors)",
    "readonly": "make {path} and its directory writable for you",
    "busy": "close the other program that holds {path}",
    "corrupt": "restart headcount: it sets {path} aside and rebuilds from the living",
    "gone": "start headcount again: it says what was lost",
    "value": "this one value was set aside; run `headcount doctor`",
    "other": "run `headcount doctor`",
}


def translate(error: BaseException, path: Path) -> StoreFault:
    if isinstance(error, StoreFault):
        return error
    kind = _kind(error, path)
    return StoreFault(kind, f"{_said(error)}: {NEXT_STEP[kind].format(path=path)}")


def _kind(error: BaseException, path: Path) -> FaultKind:
    if isinstance(error, OSError):
        return BY_ERRNO.get(error.errno or 0, "other")
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        if isinstance(error, sqlite3.OperationalError):
            return "corrupt"  # Python's own complaint, of a text column that holds no text
        return "value" if isinstance(error, UNBOUND) else "other"
    if code == sqlite3.SQLITE_IOERR_CORRUPTFS:
        return "corrupt"
    kind = BY_CODE.get(code & PRIMARY, "other")
    # SQLite calls a full disk an I/O error when it was the shared-memory file that found no room,
    # and a read-only file system "unable to open".
    return _finer(path) or kind if kind == "io" else kind


def _finer(path: Path) -> FaultKind | None:
    try:
        room = os.statvfs(path.parent)
    except OSError:
        return None
    if room.f_flag & os.ST_RDONLY or not os.access(path.parent, os.W_OK):
        return "readonly"
    return "full" if room.f_bavail == 0 else None


def _said(error: BaseException) -> str:
    if isinstance(error, sqlite3.Error):
        return f"{error} ({getattr(error, 'sqlite_errorname', type(error).__name__)})"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
