"""The C library, for the few calls that Python does not wrap.

Rules
  1. A failed call is an `OSError` with the kernel's errno, as if Python had wrapped it.
  2. It is opened when first needed: on a system without such a call every module can still be imported.

Not here: what the calls mean (files/inotify.py, mount_namespaces.py, processes/boot_and_namespace.py).
"""

import ctypes
import errno
import os
from functools import cache
from typing import Any


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> int:
    """Call the function and return its result. If the library lacks it: ENOSYS, as from a kernel."""
    ctypes.set_errno(0)
    try:
        function = getattr(_library(), name)
    except AttributeError:
        raise OSError(errno.ENOSYS, f"this C library has no {name}") from None
    result = int(function(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
