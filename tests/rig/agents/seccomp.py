"""Run as a wrapper: a command under a real seccomp filter that refuses what the agents' own sandboxes refuse.

    python -m tests.rig.agents.seccomp claude|codex CMD…

Rules of this file
  1. Claude Code's refuses `socket(AF_UNIX)`; Codex's refuses `connect` of any kind. Both answer EPERM, and set variables.
  2. Everything else is allowed: what fails, fails by those two calls alone.
"""

import ctypes
import os
import platform
import struct
import sys
from pathlib import Path

NUMBERS = {"x86_64": {"socket": 41, "connect": 42}, "aarch64": {"socket": 198, "connect": 203}}
MARKS = {"claude": {"SANDBOX_RUNTIME": "1"}, "codex": {"CODEX_SANDBOX_NETWORK_DISABLED": "1"}}
NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16  # in struct seccomp_data
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # SECCOMP_RET_ERRNO with EPERM
AF_UNIX = 1


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def wrapper(whose: str) -> list[str]:
    return [sys.executable, str(Path(__file__)), whose]


def is_possible() -> bool:
    return sys.platform == "linux" and platform.machine() in NUMBERS


def refuse(whose: str) -> None:
    """From here on, also in what is executed."""
    numbers = NUMBERS[platform.machine()]
    if whose == "claude":
        steps = [
            (LOAD, 0, 0, NUMBER_AT),
            (EQUAL, 0, 3, numbers["socket"]),
            (LOAD, 0, 0, FIRST_ARGUMENT_AT),
            (EQUAL, 0, 1, AF_UNIX),
            (RETURN, 0, 0, REFUSE),
            (RETURN, 0, 0, ALLOW),
        ]
    else:
        steps = [
            (LOAD, 0, 0, NUMBER_AT),
            (EQUAL, 0, 1, numbers["connect"]),
            (RETURN, 0, 0, REFUSE),
            (RETURN, 0, 0, ALLOW),
        ]
    program = Program(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((NO_NEW_PRIVS, 1, 0, 0, 0), (SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    _, whose, *command = sys.argv
    refuse(whose)
    os.execvpe(command[0], command, {**os.environ, **MARKS[whose]})
