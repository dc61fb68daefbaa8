"""Crashes: where the traceback of an unexpected fault goes, so that people need not read it.

Not here: expected faults (client/faults.py), the sentence (main.py).
"""

import os
import traceback

from headcount.paths import Places

NAME = "command.log"
MOST = 1_000_000


def write_traceback(error: Exception) -> str:
    """Append it to a private file in the log directory; returns where it is, or that it is nowhere."""
    places = Places.from_environ(os.environ)
    path = f"{places.log_directory}/{NAME}"
    text = "".join(traceback.format_exception(error))
    try:
        places.make()
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(fd).st_size > MOST:
                os.ftruncate(fd, 0)
            os.write(fd, text.encode("utf-8", "replace"))
        finally:
            os.close(fd)
    except OSError as trouble:
        return f"no file, since {path} cannot be written ({trouble.strerror})"
    return path
