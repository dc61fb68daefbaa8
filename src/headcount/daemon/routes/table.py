"""All routes, in one table. The application and the OpenAPI document are both made from it.

Rules
  1. A route is a line here and a line of authority (daemon/api/permissions.py). The first that fits is taken.

Not here: what a route does (its own file), who may (daemon/api/permissions.py).
"""

from functools import cache

import msgspec

from headcount.daemon.api.openapi import document
from headcount.daemon.api.route import Call, Route
from headcount.daemon.http.answer import HttpAnswer
from headcount.daemon.routes import (
    claims,
    daemon,
    events,
    fleet,
    guard,
    hooks,
    leftovers,
    peek,
    registration,
    session_context,
    sessions,
    stop_close_reap,
    terminals,
    timeline,
    web_page,
)
from headcount.wire import claims as wire_claims
from headcount.wire import daemon as wire_daemon
from headcount.wire import events as wire_events
from headcount.wire import fleet as wire_fleet
from headcount.wire import leftovers as wire_leftovers
from headcount.wire import registration as wire_registration
from headcount.wire import sessions as wire_sessions
from headcount.wire import stop_close_reap as wire_ending
from headcount.wire import timeline as wire_timeline
from headcount.wire import web_page as wire_page
from headcount.wire.daemon import NotifyTest
from headcount.wire.terminals import Resumption, Whereabouts

LOGIN = "/v1/web/login"
NOTHING_TO_SAY = ((204, None),)


async def openapi(call: Call) -> object:
    return HttpAnswer(200, _openapi())


@cache
def _openapi() -> bytes:
    """The same for every caller: made once, since it takes milliseconds."""
    return msgspec.json.encode(document(ROUTES))


ROUTES: tuple[Route, ...] = (  # tried in this order: what is asked most comes first
    Route(
        "GET",
        "/v1/claims",
        claims.list_claims,
        "Who holds what; with `history` who held an item",
        wire_claims.Claims,
        ("history",),
        also=((200, wire_events.ClaimHistory),),
    ),
    Route(
        "POST",
        "/v1/claims",
        claims.acquire,
        "Ask for an item",
        wire_claims.ClaimAnswer,
        body=wire_claims.ClaimWish,
        also=((409, wire_claims.ClaimAnswer),),
    ),
    Route(
        "POST",
        "/v1/claims/accept-loss",
        claims.accept_loss,
        "Grant again after a lost store",
        wire_claims.LossAccepted,
    ),
    Route(
        "POST",
        "/v1/claims/{item}/check",
        claims.check,
        "Whether a fence is current",
        wire_claims.CheckAnswer,
        body=wire_claims.FenceCheck,
    ),
    Route(
        "POST",
        "/v1/claims/{item}/handoff",
        claims.hand_off,
        "Give a claim to another session",
        wire_claims.ClaimAnswer,
        ("as",),
        body=wire_claims.HandOffWish,
    ),
    Route(
        "DELETE",
        "/v1/claims/{item}",
        claims.release,
        "Give an item back; with `request` withdraw that request",
        wire_claims.ReleaseAnswer,
        ("fence", "force", "as", "request", "own"),
    ),
    Route("GET", "/healthz", daemon.health, "Whether the daemon answers", wire_daemon.Health),
    Route("GET", "/v1/status", daemon.status, "The daemon about itself", wire_daemon.Status, ("settled",)),
    Route("POST", "/v1/stop", daemon.stop, "Stop the daemon", status=202),
    Route("GET", "/v1/sessions", sessions.list_sessions, "All sessions", wire_sessions.Sessions, ("all",)),
    Route("GET", "/v1/sessions/me", sessions.who_am_i, "Who is calling", wire_sessions.Me, ("explain",)),
    Route(
        "POST",
        "/v1/sessions/register",
        registration.register,
        "Announce a session and its process",
        wire_registration.Registered,
        status=201,
        body=wire_registration.Registration,
        also=((409, wire_registration.NotRegistered),),
    ),
    Route(
        "DELETE",
        "/v1/sessions/{id}",
        registration.withdraw,
        "Take a registration back; a living session goes on",
        wire_registration.Withdrawn,
    ),
    Route("GET", "/v1/sessions/{id}", sessions.show_session, "One session", wire_sessions.SessionDetail),
    Route(
        "GET",
        "/v1/sessions/{id}/explain",
        sessions.explain_session,
        "Why we believe it",
        wire_sessions.Explanation,
    ),
    Route(
        "GET",
        "/v1/sessions/{id}/peek",
        peek.peek_session,
        "Its last lines, for a person or for itself; nothing is stored",
        wire_sessions.Peek,
        ("lines", "pane"),
    ),
    Route(
        "POST",
        "/v1/sessions/{id}/visited",
        terminals.note_visit,
        "A person was shown its terminal: what is done is seen",
        wire_sessions.SessionRow,
    ),
    Route(
        "GET", "/v1/reboot", sessions.show_reboot, "What a reboot ended, until told", wire_sessions.Rebooted
    ),
    Route(
        "POST",
        "/v1/reboot/told",
        sessions.told_reboot,
        "A person was shown what a reboot ended",
        wire_sessions.Rebooted,
    ),
    Route(
        "GET",
        "/v1/sessions/{id}/where",
        terminals.find_terminal,
        "Which terminal it is in, looked up now",
        Whereabouts,
    ),
    Route(
        "GET",
        "/v1/sessions/{id}/resume",
        terminals.how_to_resume,
        "The command that goes on with its conversation, and who has it now",
        Resumption,
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
        "/v1/sessions/{id}/stop",
        stop_close_reap.stop,
        "End a session's process",
        wire_ending.StopAnswer,
        body=wire_ending.StopWish,
    ),
    Route(
        "POST",
        "/v1/sessions/{id}/close",
        stop_close_reap.close,
        "End a session's process, then what it left",
        wire_ending.CloseAnswer,
        body=wire_ending.CloseWish,
    ),
    Route(
        "POST",
        "/v1/leftovers/reap",
        stop_close_reap.reap,
        "End processes that were left behind; a dry run unless `yes`",
        wire_ending.ReapAnswer,
        body=wire_ending.ReapWish,
    ),
    Route(
        "GET",
        "/v1/leftovers",
        leftovers.list_leftovers,
        "What ended sessions left behind",
        wire_leftovers.Leftovers,
        ("all", "session", "kind"),
    ),
    Route(
        "POST",
        "/v1/guard/git",
        guard.guard_git,
        "Whether a commit or push touches what another session holds",
        wire_claims.Conflicts,
        body=wire_claims.GitIntent,
    ),
    Route(
        "POST",
        "/v1/guard/{agent}",
        guard.guard_edit,
        "Whether an edit may be made; 204 when nothing is in the way",
        takes="the payload of the agent's PreToolUse hook",
        also=NOTHING_TO_SAY,
    ),
    Route(
        "POST",
        "/v1/context/{agent}",
        session_context.starting_context,
        "What a starting session should know; 204 when there is nothing",
        takes="the payload of the agent's SessionStart hook",
        also=NOTHING_TO_SAY,
    ),
    Route(
        "GET",
        "/v1/events",
        events.stream_events,
        "Events as they happen",
        query=("after", "every"),
        media="text/event-stream",
    ),
    Route(
        "GET",
        "/v1/history",
        events.history,
        "Events of the past",
        wire_events.History,
        ("after", "limit", "session", "type", "since", "newest"),
    ),
    Route(
        "GET",
        "/v1/fleet",
        fleet.status,
        "The hosts that share claims with this one",
        wire_fleet.FleetStatus,
    ),
    Route(
        "GET",
        "/v1/fleet/sessions",
        fleet.list_sessions,
        "Sessions of all hosts, each as its own host showed it",
        wire_fleet.FleetSessions,
    ),
    Route(
        "POST",
        "/v1/fleet/join",
        fleet.join,
        "Share claims through a database",
        wire_fleet.FleetStatus,
        body=wire_fleet.JoinWish,
    ),
    Route(
        "POST",
        "/v1/fleet/leave",
        fleet.leave,
        "Free what this host holds and share no longer",
        wire_fleet.FleetLeft,
        body=wire_fleet.LeaveWish,
    ),
    Route(
        "GET",
        "/v1/timeline",
        timeline.show_timeline,
        "What each session did over a stretch of time",
        wire_timeline.Timeline,
        ("since", "until", "session"),
    ),
    Route("GET", "/v1/today", timeline.show_today, "How long agents waited", wire_timeline.Today, ("since",)),
    Route("POST", "/v1/web", web_page.open_page, "Open the page: a one-time link", wire_page.PageLink),
    Route("DELETE", "/v1/web", web_page.close_page, "Close the page and end its tabs", wire_page.PageClosed),
    Route(
        "POST",
        LOGIN,
        web_page.log_in,
        "A credential for a one-time code",
        wire_page.PageCredential,
        body=wire_page.PageCode,
    ),
    Route(
        "POST",
        "/v1/notify/test",
        daemon.try_channels,
        "One notice by every channel that is set",
        NotifyTest,
    ),
    Route("GET", "/metrics", daemon.metrics, "Prometheus metrics", media="text/plain"),
    Route("GET", "/openapi.json", openapi, "This document"),
)
