"""Headcount: which coding agents on this machine are alive, and what each is doing.

Rules
  1. Importing the package costs nothing: the clients are imported when they are first named.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headcount.client.aio import AsyncClient as AsyncClient
    from headcount.client.sync import Client as Client

__version__ = "0.1.0"

_LAZY = {"Client": "headcount.client.sync", "AsyncClient": "headcount.client.aio"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_LAZY]
