"""Pass each request through the gate to its route, and serve the web page's own files.

Rules
  1. The gate comes first, then the caller's identity where the route needs it, then the handler.
  2. A path is used as it was sent: an encoded slash belongs to the name that it is in.
  3. A page file is looked up in a table of the files that exist. No path is ever opened because somebody
     asked for it.
  4. Page files need no credential because they contain no user data. What the page shows comes over the wire,
     behind a credential.

Not here: which routes there are (daemon/routes/table.py), what they need (daemon/api/permissions.py), the
  gate and the headers that confine the page (daemon/http/request_checks.py).
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import unquote

import headcount
from headcount.daemon.api.permissions import AUTHORITY, Need, check
from headcount.daemon.api.route import Call, Route
from headcount.daemon.components import Components
from headcount.daemon.http.answer import HttpAnswer, HttpStream, json_answer
from headcount.daemon.http.request import Request
from headcount.daemon.http.request_checks import SAFE, Gate, HttpRefusal
from headcount.daemon.routes.table import LOGIN, ROUTES

PLACE = Path(headcount.__file__).parent / "web" / "static"

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}

File = tuple[bytes, str]

ROUTES_KEPT = 512  # paths whose route is remembered: the same few are asked for again and again
PATH_KEPT = 256  # characters

PLAIN = {(route.method, route.path): route for route in ROUTES if "{" not in route.path}
TEMPLATES = tuple((route, route.path.split("/")) for route in ROUTES)


@cache
def files() -> dict[str, File]:
    """By path on the page's server. Read once: an upgrade restarts the daemon anyway."""
    found = {
        f"/{path.relative_to(PLACE).as_posix()}": (path.read_bytes(), TYPES[path.suffix])
        for path in sorted(PLACE.rglob("*"))
        if path.suffix in TYPES
    }
    found["/"] = found["/index.html"]
    return found


def build_app(parts: Components) -> Gate:
    rules = {route.path + route.method: AUTHORITY[route.method, route.path] for route in ROUTES}

    async def routed(request: Request) -> HttpAnswer | HttpStream:
        if request.line.loopback is not None:
            is_page = request.named.get(b"host") in request.line.loopback.names.page
            file = files().get(unquote(request.path)) if is_page and request.method in SAFE else None
            if file is not None:
                return HttpAnswer(200, *file)
            if not is_page or request.path != LOGIN:
                _check_credential(parts, request)
        route, named = find_route(request.method, request.path)
        call = Call(parts, request, named)
        rule = rules[route.path + route.method]
        if rule.need is not Need.ANYBODY:
            check(rule, await call.who(), call.parameters)
        answer = await route.handler(call)
        return answer if isinstance(answer, HttpAnswer | HttpStream) else json_answer(answer)

    return Gate(routed)


def _check_credential(parts: Components, request: Request) -> None:
    """On loopback the kernel does not say which process calls: a tab's credential does, for all but the login."""
    said = request.named.get(b"authorization")
    if not parts.pages.credentials.admits(said.decode("latin-1") if said is not None else None):
        raise HttpRefusal(
            401, "not-logged-in", "This page is not logged in, or no longer.", "For a new link: headcount web"
        )


def find_route(method: str, path: str) -> tuple[Route, Mapping[str, str]]:
    """The route and what its path names; raises `Refused` where there is none."""
    return _find_known(method, path) if len(path) <= PATH_KEPT else _find(method, path)


def _find(method: str, path: str) -> tuple[Route, Mapping[str, str]]:
    """The path is as it was sent: an encoded slash belongs to the name that it is in."""
    wanted = "GET" if method == "HEAD" else method
    pieces = [unquote(piece) for piece in path.split("/")]
    path = "/".join(pieces)
    route = PLAIN.get((wanted, path))
    if route is not None:
        return route, {}
    takes = []
    for route, template in TEMPLATES:
        named = _named(template, pieces)
        if named is None:
            continue
        if route.method == wanted:
            return route, named
        takes.append(route.method)
    if takes:
        raise HttpRefusal(
            405, "wrong-method", f"{method} is not used here; this route takes {', '.join(takes)}."
        )
    raise HttpRefusal(404, "no-such-route", f"There is no {path[:80]} here.", "See: /openapi.json")


_find_known = lru_cache(maxsize=ROUTES_KEPT)(_find)


def _named(template: list[str], pieces: list[str]) -> dict[str, str] | None:
    """What the pieces of a path are called in the template; None: they do not fit it."""
    if "{item}" in template:
        pieces = _with_item(template.index("{item}"), pieces, len(pieces) - len(template))
    if len(template) != len(pieces):
        return None
    named = {}
    for part, piece in zip(template, pieces, strict=True):
        if part.startswith("{") and (piece or part == "{id}"):  # "" is no session, and told so in those words
            named[part[1:-1]] = piece
        elif part != piece:
            return None
    return named


def _with_item(at: int, pieces: list[str], more: int) -> list[str]:
    """An item may hold slashes that were not encoded."""
    if more <= 0:
        return pieces
    return [*pieces[:at], "/".join(pieces[at : at + more + 1]), *pieces[at + more + 1 :]]
