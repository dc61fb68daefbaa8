"""Authority: what each route needs of its caller, in one table with one check.

Rules
  1. Every route has a line here; an application with a route that has none does not start.
  2. Three needs: any process of this user, somebody (an agent or the operator), the operator. What an agent
     may do to which session is for the route to ask; that it is an agent is asked here. An agent ends (stop, close,
     reap) only what it started.
  3. Nobody is not somebody: a caller whose credential or marks did not hold changes nothing.

Not here: who is calling (daemon/identity/caller.py), what reaches the routes at all (daemon/http/request_checks.py).
"""

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.identity.actor import Actor, ActorKind


class Need(Enum):
    ANYBODY = "any process of this user"
    SOMEBODY = "an agent or the operator"
    OPERATOR = "the operator"


class Rule(Struct, frozen=True):
    need: Need
    verb: str = ""  # as people call it, for the refusal
    for_people: Mapping[str, str] | None = None  # query parameters that make it the operator's -> the verb


ANYBODY = Rule(Need.ANYBODY)

AUTHORITY: dict[tuple[str, str], Rule] = {
    ("GET", "/healthz"): ANYBODY,
    ("GET", "/metrics"): ANYBODY,
    ("GET", "/openapi.json"): ANYBODY,
    ("GET", "/v1/status"): ANYBODY,
    ("GET", "/v1/events"): ANYBODY,
    ("GET", "/v1/timeline"): ANYBODY,
    ("GET", "/v1/today"): ANYBODY,
    ("GET", "/v1/history"): ANYBODY,
    ("GET", "/v1/sessions"): ANYBODY,
    ("GET", "/v1/sessions/me"): ANYBODY,  # it tells a nobody why
    ("GET", "/v1/sessions/{id}"): ANYBODY,
    ("GET", "/v1/sessions/{id}/explain"): ANYBODY,
    ("GET", "/v1/reboot"): ANYBODY,
    ("GET", "/v1/sessions/{id}/where"): ANYBODY,
    ("GET", "/v1/sessions/{id}/resume"): ANYBODY,  # it tells a command; running it is another matter
    ("POST", "/v1/hooks/{agent}"): ANYBODY,  # a report is weighed, never refused
    ("GET", "/v1/claims"): ANYBODY,
    ("POST", "/v1/claims/{item}/check"): ANYBODY,  # whoever guards a resource asks
    ("GET", "/v1/leftovers"): ANYBODY,
    ("POST", "/v1/guard/git"): ANYBODY,  # a guard asks and changes nothing
    ("POST", "/v1/guard/{agent}"): ANYBODY,
    ("POST", "/v1/context/{agent}"): ANYBODY,
    ("POST", "/v1/sessions/register"): Rule(Need.SOMEBODY, "register"),
    ("DELETE", "/v1/sessions/{id}"): Rule(Need.SOMEBODY, "withdraw"),
    ("POST", "/v1/claims"): Rule(Need.SOMEBODY, "claim"),
    ("DELETE", "/v1/claims/{item}"): Rule(
        Need.SOMEBODY, "release", {"force": "release --force", "as": "release --as"}
    ),
    ("POST", "/v1/claims/{item}/handoff"): Rule(Need.SOMEBODY, "handoff", {"as": "handoff --as"}),
    ("POST", "/v1/claims/accept-loss"): Rule(Need.OPERATOR, "claims --accept-loss"),
    ("GET", "/v1/sessions/{id}/peek"): Rule(Need.SOMEBODY, "peek"),  # an agent: its own alone
    ("POST", "/v1/sessions/{id}/visited"): Rule(Need.OPERATOR, "saying that somebody looked"),
    ("POST", "/v1/reboot/told"): Rule(Need.OPERATOR, "hearing of a reboot"),
    ("POST", "/v1/sessions/{id}/stop"): Rule(Need.SOMEBODY, "stop"),  # an agent: what it started
    ("POST", "/v1/sessions/{id}/close"): Rule(Need.SOMEBODY, "close"),  # an agent: what it started
    ("POST", "/v1/leftovers/reap"): Rule(Need.SOMEBODY, "reap"),  # an agent: of what it started
    ("POST", "/v1/web"): Rule(Need.OPERATOR, "web"),
    ("DELETE", "/v1/web"): Rule(Need.OPERATOR, "web --close"),
    ("POST", "/v1/web/login"): ANYBODY,  # whoever has a one-time code
    ("POST", "/v1/notify/test"): Rule(Need.OPERATOR, "notify test"),
    ("POST", "/v1/stop"): Rule(Need.OPERATOR, "down"),
    ("GET", "/v1/fleet"): ANYBODY,
    ("GET", "/v1/fleet/sessions"): ANYBODY,
    ("POST", "/v1/fleet/join"): Rule(Need.OPERATOR, "fleet join"),
    ("POST", "/v1/fleet/leave"): Rule(Need.OPERATOR, "fleet leave"),
}


def check(rule: Rule, actor: Actor, parameters: Mapping[str, str]) -> None:
    """Raises what the caller hears, if it may not."""
    if rule.need is Need.OPERATOR:
        need_operator(actor, rule.verb)
    if rule.need is Need.SOMEBODY and actor.kind is ActorKind.NOBODY:
        raise nobody(actor)
    for name, verb in (rule.for_people or {}).items():
        if parameters.get(name):
            need_operator(actor, verb)


def need_operator(actor: Actor, verb: str) -> None:
    if actor.is_agent:
        assert actor.session is not None
        raise HttpRefusal(
            403,
            "operator-only",
            f"You are inside agent {actor.session[:4]}; {verb} is for people. Use a shell outside it.",
        )
    if actor.kind is ActorKind.NOBODY:
        raise HttpRefusal(
            403,
            "operator-only",
            f"It cannot be told who you are ({actor.refusal}); {verb} is for people. "
            "Use a shell outside every agent.",
            _next_step(actor),
        )


def not_started(actor: Actor, what: str, verb: str, *, itself: bool = False) -> HttpRefusal:
    """Of what an agent may do only to what it started."""
    assert actor.session is not None
    message = f"You are inside agent {actor.session[:4]}, and {what} was not started by it."
    if itself:
        message = "An agent does not end itself."
    return HttpRefusal(403, "operator-only", message, f"Run {verb} in a terminal outside the agent.")


def nobody(actor: Actor) -> HttpRefusal:
    return HttpRefusal(403, "not-verified", f"Not taken: {actor.refusal}.", _next_step(actor))


def _next_step(actor: Actor) -> str:
    see = "See: headcount whoami --explain"
    return f"Next: {actor.way_out}. {see}" if actor.way_out else see
