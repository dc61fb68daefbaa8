"""All routes, in one table. The application and the OpenAPI document are both made from it.

Rules of this file
  1. A route is a line here and a line of authority (authority.py). The first that fits is taken.

Not here: what a route does (its own file), who may (authority.py).
"""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute
from starlette.routing import Router

from headcount.daemon.authority import AUTHORITY, Need, check
from headcount.daemon.gate import Gate, Receive, Refused, Scope, Send
from headcount.daemon.routes import claims, context, daemon, events, guard, hooks, register, sessions, whoami
from headcount.daemon.routes.openapi import document
from headcount.daemon.routes.route import Call, Route, json_response
from headcount.daemon.service import Service
from headcount.wire import messages


async def openapi(call: Call) -> Any:
    return json_response(document(ROUTES))


ROUTES: tuple[Route, ...] = (  # tried in this order: what is asked most comes first
    Route("GET", "/v1/claims", claims.list_claims, "Who holds what", messages.Claims, ("history",)),
    Route(
        "POST",
        "/v1/claims",
        claims.acquire,
        "Ask for an item",
        messages.ClaimAnswer,
        takes="ClaimWish: item, request, note, wait, as, until_empty, own",
    ),
    Route(
        "POST",
        "/v1/claims/accept-loss",
        claims.accept_loss,
        "Grant again after a lost store",
        messages.LossAccepted,
    ),
    Route(
        "POST",
        "/v1/claims/{item}/check",
        claims.check,
        "Whether a fence is current",
        messages.CheckAnswer,
        takes="FenceCheck: fence",
    ),
    Route(
        "POST",
        "/v1/claims/{item}/handoff",
        claims.hand_off,
        "Give a claim to another session",
        messages.ClaimAnswer,
        takes="HandOffWish: to, fence",
    ),
    Route(
        "DELETE",
        "/v1/claims/{item}",
        claims.release,
        "Give an item back",
        messages.ReleaseAnswer,
        ("fence", "force", "as"),
    ),
    Route("GET", "/healthz", daemon.health, "Whether the daemon answers", messages.Health),
    Route("GET", "/v1/status", daemon.status, "The daemon about itself", messages.Status, ("settled",)),
    Route("POST", "/v1/stop", daemon.stop, "Stop the daemon", status=202),
    Route("GET", "/v1/sessions", sessions.list_sessions, "All sessions", messages.Sessions, ("all",)),
    Route("GET", "/v1/sessions/me", whoami.who_am_i, "Who is calling", messages.Me, ("explain",)),
    Route(
        "POST",
        "/v1/sessions/register",
        register.register,
        "Announce a session and its process",
        messages.Registered,
        status=201,
        takes="a Registration: agent, conversation, pid, name, role, groups, anyway, launch",
    ),
    Route(
        "DELETE",
        "/v1/sessions/{id}",
        register.withdraw,
        "Take a registration back; a living session goes on",
        messages.Withdrawn,
    ),
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
        "POST",
        "/v1/guard/git",
        guard.guard_git,
        "Whether a commit or push touches what another session holds",
        messages.Conflicts,
        takes="GitIntent: paths, items",
    ),
    Route(
        "POST",
        "/v1/guard/{agent}",
        guard.guard_edit,
        "Whether an edit may be made; 204 when nothing is in the way",
        takes="the payload of the agent's PreToolUse hook",
    ),
    Route(
        "POST",
        "/v1/context/{agent}",
        context.starting_context,
        "What a starting session should know; 204 when there is nothing",
        takes="the payload of the agent's SessionStart hook",
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
    router = Router(
        [
            StarletteRoute(_pattern(route), _endpoint(service, route), methods=[route.method])
            for route in ROUTES
        ],
        redirect_slashes=False,
    )

    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = router  # the router raises its 404 and 405 instead of answering them in plain text
        try:
            await router(scope, receive, send)
        except HTTPException as fault:
            raise _as_refused(fault, scope) from fault

    return Gate(routed)


def _pattern(route: Route) -> str:
    """An item may hold slashes, and a percent-encoded one is a plain one by the time it is routed."""
    return route.path.replace("{item}", "{item:path}")


def _endpoint(service: Service, route: Route) -> Any:
    rule = AUTHORITY[route.method, route.path]

    async def endpoint(request: Request) -> Response:
        call = Call(service, request)
        if rule.need is not Need.ANYBODY:
            check(rule, await call.who(), request.query_params)
        answer = await route.handler(call)
        return answer if isinstance(answer, Response) else json_response(answer)

    return endpoint


def _as_refused(fault: HTTPException, scope: Scope) -> Refused:
    path = scope["path"]
    if fault.status_code == 405:
        allowed = ", ".join(route.method for route in ROUTES if _matches(route.path, path))
        return Refused(
            405, "wrong-method", f"{scope['method']} is not used here; this route takes {allowed}."
        )
    return Refused(fault.status_code, "no-such-route", f"There is no {path[:80]} here.", "See: /openapi.json")


def _matches(template: str, path: str) -> bool:
    parts, given = template.split("/"), path.split("/")
    if "{item}" in parts:
        at = parts.index("{item}")
        given[at : at + len(given) - len(parts) + 1] = ["item"]
    return len(parts) == len(given) and all(
        part == piece or part.startswith("{") for part, piece in zip(parts, given, strict=True)
    )
