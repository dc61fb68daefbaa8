"""Waiting for something that is named, with a deadline."""

import time
from collections.abc import Callable
from typing import Any


def wait_for(what: str, look: Callable[[], Any], within: float = 30.0, every: float = 0.02) -> Any:
    """The first true answer of `look`; an error that says what did not happen."""
    until = time.monotonic() + within
    while not (found := look()):
        if time.monotonic() > until:
            raise TimeoutError(f"{what}: not within {within} s")
        time.sleep(every)
    return found
