"""Own files: nothing is written or read through what somebody planted in the place of a file of ours.

Rules of this file
  1. A link, a pipe, a device, another user's file, or one that has a second name is not ours. Where we are to write, it is
     taken away (what it leads to is left alone); where we are to read, it is refused.
  2. Opening never waits: a pipe in the place of a file does not hold anybody up.
  3. A directory in which files are read and removed is a directory itself, no link to one, and of our own user.
  4. Imports next to nothing: the command line's hot path reads it.

Not here: where files sit (paths.py), other tools' files (agents/settings_file.py).
"""

import errno
import os

REGULAR, KIND = 0o100000, 0o170000  # S_IFREG, S_IFMT
STICKY, BY_ALL = 0o1000, 0o002


def make_room(path: str) -> None:
    """Takes away what is there and is not a plain file of ours alone. Raises OSError where it cannot."""
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return
    if not _is_ours(there) or there.st_nlink > 1:
        os.unlink(path)


def open_to_append(path: str) -> int:
    make_room(path)
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def open_anew(path: str) -> int:
    """A new, empty file in that place, whatever was there."""
    if os.path.lexists(path):
        os.unlink(path)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def read(path: str, most: int) -> bytes:
    """Its bytes. Raises OSError, also for what is no plain file of ours."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not _is_ours(os.fstat(fd)):
            raise OSError(errno.EINVAL, "not a plain file of your own", path)
        return os.read(fd, most)
    finally:
        os.close(fd)


def check_directory(path: str, *, may_be_link: bool = False) -> None:
    """Raises OSError where others could put things in the place of ours."""
    there = os.stat(path, follow_symlinks=may_be_link)  # noqa: PTH116 (importing pathlib costs more than this)
    if there.st_mode & KIND != 0o040000:
        raise OSError(errno.ENOTDIR, "it is not a directory of its own but leads elsewhere", path)
    if there.st_uid != os.getuid():
        raise OSError(errno.EPERM, f"it belongs to another user (uid {there.st_uid})", path)
    if there.st_mode & BY_ALL and not there.st_mode & STICKY:
        raise OSError(errno.EPERM, "everybody may write in it (chmod o-w)", path)


def _is_ours(there: os.stat_result) -> bool:
    return there.st_mode & KIND == REGULAR and there.st_uid == os.getuid()
