"""The guard's answers: whether an edit, a commit or a push touches what another live session holds.

Rules of this file
  1. No answer is an answer: nothing in the way is an empty 204, and the agent goes on.
  2. A denial names the holder and waiting. It never tells anybody to release.
  3. The question is not a report: it changes nothing and is not remembered.

Not here: finding claims in the way (guarding.py), the line that asks (agents/ask_line.py).
"""

from typing import Any

from headcount.agents.catalog import AGENTS
from headcount.agents.interface import Unread
from headcount.core.values.claim import Claim
from headcount.core.values.process import ProcessIdentity
from headcount.daemon import guarding
from headcount.daemon.api.route import Call
from headcount.daemon.http.answer import NOTHING, json_answer
from headcount.daemon.http.request_checks import Refused
from headcount.daemon.routes.shared_claims import elsewhere
from headcount.daemon.views.claim_row import held_sentence, holder_row
from headcount.daemon.views.session_row import LIVENESS_WORDS, hosted_by, time_text
from headcount.present.clean_text import ITEM_MOST, command, said
from headcount.system.mount_namespaces import is_ours
from headcount.wire.claims import Conflict, Conflicts, GitIntent

WAIT_SUGGESTED = 600
TOUCHES_MOST = 20


async def guard_edit(call: Call) -> Any:
    agent = AGENTS.get(call.path("agent"))
    if agent is None:
        raise Refused(404, "no-such-agent", f"Known agents: {', '.join(AGENTS)}.")
    service = call.service
    report = agent.translate(call.payload, service.clock.now(), "http")
    if isinstance(report, Unread) or report.would_edit is None or not service.loop.world.book.held_paths:
        return NOTHING
    own = await own_of(call)
    path = await service.worktrees.real_path(report.would_edit, call.actor.caller)
    found = guarding.on_paths(service.loop.world, own, [path], report.conversation)
    if not found:
        return NOTHING
    claim = next(iter(found.values()))[0]
    service.loop.counts["edits_guarded"] += 1
    return json_answer(_denial(call, claim))


async def guard_git(call: Call) -> Conflicts:
    intent = call.body(GitIntent)
    world, own = call.service.loop.world, await own_of(call)
    named = await call.service.worktrees.spaces.named_by(call.actor.caller, intent.paths)
    paths = guarding.on_paths(world, own, filter(is_ours, named.values()))
    conflicts = [_conflict(call, claim, []) for claim in guarding.on_items(world, own, intent.items)]
    conflicts += [_conflict(call, claim, []) for claim in await elsewhere(call, own, intent.items)]
    conflicts += [_conflict(call, claim, touched) for claim, touched in paths.values()]
    return Conflicts(conflicts=conflicts)


async def own_of(call: Call) -> list[ProcessIdentity]:
    actor = await call.who()
    chain = call.seen.chain
    return guarding.own_processes(actor, [facts.identity for facts in chain])


def _denial(call: Call, claim: Claim) -> dict[str, Any]:
    """In the words of the agent's PreToolUse hook."""
    held = held_sentence(claim, call.service.loop.world)
    waiting = command("headcount", "claim", claim.item, "--wait", str(WAIT_SUGGESTED))
    reason = f"{said(claim.item, ITEM_MOST)}: {held} Pick other work, or wait: {waiting}"
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    }


def _conflict(call: Call, claim: Claim, touches: list[str]) -> Conflict:
    world = call.service.loop.world
    session = hosted_by(claim, world)
    return Conflict(
        item=claim.item,
        holder=holder_row(claim, world),
        since=time_text(claim.since),
        liveness=LIVENESS_WORDS[session.liveness] if session else None,
        activity=session.activity.doing.value if session else None,
        touches=touches[:TOUCHES_MOST],
        doing=session.activity.label if session else None,
        note=claim.note,
    )
