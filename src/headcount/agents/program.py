"""The program of a process: where its executable lies, and what it is called.

Not here: whose programs they are (each agent's recognise.py).
"""

from pathlib import PurePosixPath

DELETED = " (deleted)"  # what the kernel appends to a replaced executable that still runs


def path_of(exe: str) -> str:
    return exe.removesuffix(DELETED)


def name_of(exe: str) -> str:
    return base(path_of(exe))


def base(path: str) -> str:
    return PurePosixPath(path).name
