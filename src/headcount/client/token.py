"""The token of a launched session: read from its file, sent in a header, shown nowhere.

Rules of this file
  1. The environment names a file (`HEADCOUNT_TOKEN_FILE`); the token itself is in no argument, variable,
     listing or log.
  2. A file that is gone or strange is no token: the kernel's word on the caller is what counts anyway.

Not here: making tokens and what they allow (daemon/).
"""

import os
from collections.abc import Mapping

VARIABLE = "HEADCOUNT_TOKEN_FILE"
SCHEME = "Headcount-Session"
TOKEN_MOST = 256


def credential(env: Mapping[str, str]) -> str:
    """The value of the Authorization header; empty without a token."""
    path = env.get(VARIABLE)
    token = _read(path) if path else ""
    good = token.isascii() and token.isprintable() and not any(sign.isspace() for sign in token)
    return f"{SCHEME} {token}" if token and good else ""


def _read(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.read(fd, TOKEN_MOST).decode("ascii", "replace").strip()
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return ""  # the session it was for is over
