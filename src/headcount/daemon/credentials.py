"""Credentials of the page: a one-time code that a person got in a shell becomes a credential of one tab.

Rules of this file
  1. A code is good once, for a minute. A credential is good for a day. Both are 32 random bytes, and only their
     hashes are kept.
  2. A code that was tried is over, whatever came of it.
  3. What is over is not remembered: an unknown, an old and a forged one are refused alike.
  4. They are kept in memory only: all of them end with the daemon.

Not here: what a credential may do (daemon/api/permissions.py).
"""

import secrets

from headcount.daemon.identity.tokens import hash_of
from headcount.system.clock import Clock
from headcount.times import PAGE_CODE_WITHIN, PAGE_CREDENTIAL

BYTES = 32
CODES_MOST = 16
CREDENTIALS_MOST = 64  # tabs; the oldest gives way
TEXT_MOST = 256
SCHEME = "bearer "


class Credentials:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._codes: dict[str, float] = {}  # hash -> until when
        self._tabs: dict[str, float] = {}

    def mint_code(self) -> str:
        self._drop_old()
        while len(self._codes) >= CODES_MOST:
            del self._codes[next(iter(self._codes))]
        code = secrets.token_urlsafe(BYTES)
        self._codes[hash_of(code)] = self._clock.now() + PAGE_CODE_WITHIN
        return code

    def log_in(self, code: str) -> str | None:
        """The credential that this code buys; None: it buys none."""
        until = self._codes.pop(hash_of(code), 0.0) if _is_plausible(code) else 0.0
        if self._clock.now() >= until:
            return None
        self._drop_old()
        while len(self._tabs) >= CREDENTIALS_MOST:
            del self._tabs[next(iter(self._tabs))]
        credential = secrets.token_urlsafe(BYTES)
        self._tabs[hash_of(credential)] = self._clock.now() + PAGE_CREDENTIAL
        return credential

    def admits(self, authorization: str | None) -> bool:
        if authorization is None or not authorization.lower().startswith(SCHEME):
            return False
        credential = authorization[len(SCHEME) :].strip()
        return _is_plausible(credential) and self._tabs.get(hash_of(credential), 0.0) > self._clock.now()

    def end_all(self) -> None:
        self._codes.clear()
        self._tabs.clear()

    def _drop_old(self) -> None:
        now = self._clock.now()
        self._codes = {hash: until for hash, until in self._codes.items() if until > now}
        self._tabs = {hash: until for hash, until in self._tabs.items() if until > now}


def _is_plausible(text: str) -> bool:
    return 0 < len(text) <= TEXT_MOST and text.isascii()
