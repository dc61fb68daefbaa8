"""All routes, in one table. The application and the OpenAPI document are both made from it."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from headcount.daemon.gate import Gate, Receive, Refused, Scope, Send
from headcount.daemon.routes import daemon, events, hooks, sessions
from headcount.daemon.routes.openapi import document
from headcount.daemon.routes.route import Call, Route, json_response
from headcount.daemon.service import Service
from headcount.wire import messages


async def openapi(call: Call) -> Any:
    return json_response(document(ROUTES))


ROUTES: tuple[Route, ...] = (
    Route("GET", "/healthz", daemon.health, "Whether the daemon answers", messages.Health),
    Route("GET", "/v1/status", daemon.status, "The daemon about itself", messages.Status, ("settled",)),
    Route("POST", "/v1/stop", daemon.stop, "Stop the daemon", status=202),
    Route("GET", "/v1/sessions", sessions.list_sessions, "All sessions", messages.Sessions, ("all",)),
    Route("GET", "/v1/sessions/{id}", sessions.show_session, "One session", messages.SessionRow),
    Route(
        "GET",
        "/v1/sessions/{id}/explain",
        sessions.explain_session,
        "Why we believe it",
        messages.Explanation,
    ),
    Route(
        "POST",
        "/v1/hooks/{agent}",
        hooks.take_report,
        "A hook's report",
        status=202,
        takes="the agent's own payload, as its hook got it",
    ),
    Route(
        "GET",
        "/v1/events",
        events.stream_events,
        "Events as they happen",
        query=("after",),
        media="text/event-stream",
    ),
    Route(
        "GET",
        "/v1/history",
        events.history,
        "Events of the past",
        messages.History,
        ("after", "limit", "session", "type", "since", "newest"),
    ),
    Route("GET", "/metrics", daemon.metrics, "Prometheus metrics", media="text/plain"),
    Route("GET", "/openapi.json", openapi, "This document"),
)


def build_app(service: Service) -> Gate:
    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        route, scope["path_params"] = find_route(scope["method"], scope["path"])
        answer = await route.handler(Call(service, Request(scope, receive, send)))
        response = answer if isinstance(answer, Response) else json_response(answer)
        await response(scope, receive, send)

    return Gate(routed)


def find_route(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """The route and what its path names; raises `Refused` where there is none."""
    wanted = "GET" if method == "HEAD" else method
    route = PLAIN.get((wanted, path))
    if route is not None:
        return route, {}
    pieces = path.split("/")
    takes = []
    for route, template in TEMPLATES:
        named = _named(template, pieces)
        if named is None:
            continue
        if route.method == wanted:
            return route, named
        takes.append(route.method)
    if takes:
        raise Refused(405, "wrong-method", f"{method} is not used here; this route takes {', '.join(takes)}.")
    raise Refused(404, "no-such-route", f"There is no {path[:80]} here.", "See: /openapi.json")


PLAIN = {(route.method, route.path): route for route in ROUTES if "{" not in route.path}
TEMPLATES = tuple((route, route.path.split("/")) for route in ROUTES)


def _named(template: list[str], pieces: list[str]) -> dict[str, str] | None:
    """What the pieces of a path are called in the template; None: they do not fit it."""
    if len(template) != len(pieces):
        return None
    named = {}
    for part, piece in zip(template, pieces, strict=True):
        if part.startswith("{") and piece:
            named[part[1:-1]] = piece
        elif part != piece:
            return None
    return named
