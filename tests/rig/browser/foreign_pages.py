"""Foreign pages: the headers that browsers send for them, and places where a credential does not belong.

Rules of this file
  1. A place is what a browser would send for a page there, or more than it could; never the page's own request.
  2. Half of them know the credential of an open tab, which no page can: the gate must not hang on that alone.
"""

from collections.abc import Callable
from typing import NamedTuple

Headers = tuple[tuple[str, str], ...]


class Page(NamedTuple):
    place: str
    host: str
    headers: Headers


REBOUND = (
    "evil.test", "127.0.0.1.nip.io", "localhost.evil.test", "localhost.", "LOCALHOST", "127.1", "0.0.0.0", "0",
    "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "[::]", "127.0.0.2", "127.0.0.1.", "ⓛocalhost", "xn--localhost",
)  # fmt: skip
"""Names and literals that lead here, or that somebody made to lead here (DNS rebinding)."""

ORIGINS = (
    "https://evil.test", "http://evil.test", "null", "http://localhost", "http://127.0.0.1", "https://127.0.0.1:{port}",
    "http://127.0.0.1:{other}", "http://localhost.evil.test:{port}", "http://[::1]:{port}", "file://", "",
    "http://127.0.0.1:{port}.evil.test", "http://127.0.0.1:{port}@evil.test", "chrome-extension://abcdefgh",
)  # fmt: skip

FETCHES: tuple[Headers, ...] = (
    (("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")),
    (("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "script")),
    (("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")),
    (("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"), ("Sec-Fetch-User", "?1")),
    (("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")),
    (("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")),
    (("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "websocket"), ("Upgrade", "websocket"), ("Connection", "Upgrade")),
    (("Sec-Fetch-Site", "nonsense"),),
)  # fmt: skip

FORMS = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "")
"""What a form or a beacon sends without asking first."""

PREFLIGHTS: tuple[Headers, ...] = (
    (("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "authorization, content-type")),
    (("Access-Control-Request-Method", "DELETE"), ("Access-Control-Request-Private-Network", "true")),
)  # fmt: skip

OVERRIDES: tuple[Headers, ...] = (
    (("X-HTTP-Method-Override", "DELETE"), ("X-Method-Override", "POST")),
    (("X-Forwarded-Host", "127.0.0.1:{port}"), ("X-Forwarded-For", "127.0.0.1"), ("Forwarded", "host=localhost")),
    (("X-Original-URL", "/healthz"), ("X-Rewrite-URL", "/healthz")),
)  # fmt: skip


def foreign(port: int, credential: str) -> list[Page]:
    right = f"127.0.0.1:{port}"
    pages = [Page(f"a name that leads here: {name}", f"{name}:{port}", ()) for name in REBOUND]
    pages += [Page(f"no port in the name: {name}", name, ()) for name in ("127.0.0.1", "localhost", "")]
    pages += [
        Page(f"from {origin or 'an empty origin'}", right, (("Origin", _filled(origin, port)), *FETCHES[0]))
        for origin in ORIGINS
    ]
    pages += [
        Page(
            f"from {origin or 'an empty origin'}, an old browser", right, (("Origin", _filled(origin, port)),)
        )
        for origin in ORIGINS
    ]
    pages += [Page(" ".join(value for _, value in each), right, each) for each in FETCHES]
    evil = ("Origin", "https://evil.test")
    pages += [Page(f"a form: {kind}", right, (evil, ("Content-Type", kind))) for kind in FORMS]
    pages += [Page("a preflight", right, (evil, *each)) for each in PREFLIGHTS]
    pages += [Page("headers for proxies", right, (evil, *_all_filled(each, port))) for each in OVERRIDES]
    pages += [
        Page("two hosts", right, (("Host", f"evil.test:{port}"),)),
        Page("two origins", right, (("Origin", f"http://{right}"), evil)),
        Page("a referer of its own", right, (evil, ("Referer", f"http://{right}/"))),
    ]
    known = ("Authorization", f"Bearer {credential}")
    return [
        *pages,
        *(page._replace(place=f"{page.place}, knowing", headers=(*page.headers, known)) for page in pages),
    ]


def own(port: int, credential: str) -> list[Page]:
    """The page itself, by both its names."""
    known = (("Authorization", f"Bearer {credential}"), ("Sec-Fetch-Site", "same-origin"))
    return [Page("itself", f"{name}:{port}", known) for name in ("127.0.0.1", "localhost")]


# --- the right credential in the wrong place -----------------------------------------------------------

Put = Callable[[int, str, str], tuple[Page, str]]


def _header(name: str, form: str) -> Put:
    def put(port: int, credential: str, target: str) -> tuple[Page, str]:
        page = Page(f"in {name}", f"127.0.0.1:{port}", ((name, form.format(credential)),))
        return page, target

    return put


def _query(name: str) -> Put:
    def put(port: int, credential: str, target: str) -> tuple[Page, str]:
        sign = "&" if "?" in target else "?"
        return Page("in the address", f"127.0.0.1:{port}", ()), f"{target}{sign}{name}={credential}"

    return put


WRONG_PLACES: tuple[Put, ...] = (
    _header("Cookie", "credential={0}; token={0}; headcount={0}; session={0}"),
    _header("X-Authorization", "Bearer {0}"),
    _header("X-Api-Key", "{0}"),
    _header("Proxy-Authorization", "Bearer {0}"),
    _header("Authorization", "Basic {0}"),
    _header("Authorization", "Headcount-Session {0}"),
    _header("Authorization", "{0}"),
    _header("Authorization", "Bearer {0}x"),
    _header("Authorization", "Bearer Bearer {0}"),
    _header("Sec-WebSocket-Protocol", "bearer, {0}"),
    _query("access_token"),
    _query("authorization"),
    _query("credential"),
)


def _filled(text: str, port: int) -> str:
    return text.replace("{port}", str(port)).replace("{other}", str(port + 1))


def _all_filled(headers: Headers, port: int) -> Headers:
    return tuple((name, _filled(value, port)) for name, value in headers)
