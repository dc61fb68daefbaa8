"""Own files: nothing is written or read through what somebody planted in the place of a file of ours.

Rules
  1. A link, a pipe, a device, another user's file, or one that has a second name is not ours. Where we are to write, it is
     taken away (what it leads to is left alone); where we are to read, it is refused.
  2. Opening never waits: a pipe in the place of a file does not hold anybody up.
  3. A directory in which files are read and removed is a directory itself, no link to one, and of our own user; nobody
     else may write in it, nor in a directory above it (sticky ones above, such as /tmp, are fine).
  4. A file that we act on is not writable by others. Settings may be a link (people keep them elsewhere), may be root's,
     and may be writable by a group that has no other member.
  5. Imports next to nothing: the command line's hot path reads it.

Not here: where files sit (paths.py), other tools' files (agents/installing/settings_file.py).
"""

import errno
import os

REGULAR, KIND = 0o100000, 0o170000  # S_IFREG, S_IFMT
STICKY, BY_GROUP, BY_ALL = 0o1000, 0o020, 0o002


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


def open_to_read(path: str, *, settings: bool = False) -> tuple[int, os.stat_result]:
    """The open file and its facts. Raises OSError, also for what is no plain file of ours."""
    no_link = 0 if settings else os.O_NOFOLLOW
    fd = os.open(path, os.O_RDONLY | no_link | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        facts = os.fstat(fd)
        if not _is_ours(facts, or_roots=settings):
            raise OSError(errno.EINVAL, "not a plain file of your own", path)
    except OSError:
        os.close(fd)
        raise
    return fd, facts


def read(path: str, most: int, *, settings: bool = False) -> bytes:
    """Its bytes. Raises OSError, also for what is no plain file of ours, or may be written by others."""
    fd, facts = open_to_read(path, settings=settings)
    try:
        if _others_may_write(facts):
            raise _open_to_others("others may write it", "go-w", path)
        return os.read(fd, most)
    finally:
        os.close(fd)


def check_owner(path: str) -> None:
    """Raises OSError where that, or what it would be made in, belongs to neither us nor root: `sudo` keeps HOME, and what
    root leaves there its user could neither use nor remove."""
    while not os.path.lexists(path) and path != "/":
        path = path.rpartition("/")[0] or "/"
    owner = os.stat(path).st_uid  # noqa: PTH116
    if owner not in (0, os.getuid()):
        raise OSError(errno.EPERM, f"it belongs to another user (uid {owner})", path)


def check_directory(path: str, *, may_be_link: bool = False, settings: bool = False) -> None:
    """Raises OSError where others could put things in the place of ours."""
    there = os.stat(path, follow_symlinks=may_be_link)  # noqa: PTH116 (importing pathlib costs more than this)
    if there.st_mode & KIND != 0o040000:
        raise OSError(errno.ENOTDIR, "it is not a directory of its own but leads elsewhere", path)
    if there.st_uid != os.getuid() and not (settings and there.st_uid == 0):
        raise OSError(errno.EPERM, f"it belongs to another user (uid {there.st_uid})", path)
    if there.st_mode & BY_ALL:
        raise _open_to_others("everybody may write in it", "go-w", path)
    if there.st_mode & BY_GROUP and not (settings and _is_alone_in(there.st_gid)):
        raise _open_to_others("a group may write in it", "go-w", path)
    above = path
    while above != (above := os.path.dirname(above)):  # noqa: PTH120
        there = os.stat(above)  # noqa: PTH116
        if there.st_mode & STICKY:
            continue
        if there.st_mode & BY_ALL:
            raise _open_to_others("everybody may write in it", "o-w", above)
        if there.st_mode & BY_GROUP and there.st_gid and not _is_alone_in(there.st_gid):
            raise _open_to_others("a group may write in it", "g-w", above)


def _open_to_others(what: str, mode: str, path: str) -> OSError:
    from shlex import join  # not core's `command`: nothing of ours is below this file

    return OSError(errno.EPERM, f"{what} ({join(('chmod', mode, path))})", path)


def _is_ours(there: os.stat_result, *, or_roots: bool = False) -> bool:
    owned = there.st_uid == os.getuid() or (or_roots and there.st_uid == 0)
    return owned and there.st_mode & KIND == REGULAR


def _others_may_write(there: os.stat_result) -> bool:
    return bool(there.st_mode & BY_ALL) or bool(there.st_mode & BY_GROUP and not _is_alone_in(there.st_gid))


def _is_alone_in(group: int) -> bool:
    """Many systems give each user a group of the same name and let it write what the user makes (umask 002)."""
    import grp  # seldom needed
    import pwd

    try:
        name, found = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}
