"""The messages of the page's door: a link, a login, an end.

Rules
  1. As in sessions.py: field names are only ever added, and they are plain data.

Not here: what a page reads once it is in (sessions.py, timeline.py).
"""

import msgspec


class PageLink(msgspec.Struct, kw_only=True):
    url: str  # with a code that is good once, for a minute
    plain_url: (
        str | None
    )  # the same at 127.0.0.1, for browsers that do not resolve *.localhost; null: not served there


class PageCode(msgspec.Struct, kw_only=True):
    code: str


class PageCredential(msgspec.Struct, kw_only=True):
    credential: str
    seconds: float  # how long it is good


class PageClosed(msgspec.Struct, kw_only=True):
    closed: bool  # false: it was not open
