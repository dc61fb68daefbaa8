"""The context of a starting session: what it held before, and who works beside it. Opt-in.

Rules of this file
  1. Asked by the one hook that may print. Nothing to say is an empty 204.
  2. It tells what is committed and changes nothing: the start itself is reported by the mailbox.
  3. An answer whose asker has hung up is remembered as not delivered, for `explain`, until the daemon stops. A start at which
     nobody asked (the daemon was down) is not: whether that agent would have asked is not known here.

Not here: the words (briefing.py), the line that asks (agents/ask_line.py).
"""

from typing import Any

from headcount.agents.catalog import AGENTS
from headcount.agents.interface import Unread
from headcount.core.values.report import Report
from headcount.daemon.api.route import Call
from headcount.daemon.http.answer import NOTHING, json_answer
from headcount.daemon.http.request_checks import Refused
from headcount.daemon.routes import session_context
from headcount.daemon.routes.guard import own_of
from headcount.times import CLOCK_SLACK

RELEASES_MOST = 1_000
UNTOLD_MOST = 1_000


async def starting_context(call: Call) -> Any:
    agent = AGENTS.get(call.path("agent"))
    if agent is None:
        raise Refused(404, "no-such-agent", f"Known agents: {', '.join(AGENTS)}.")
    report = agent.translate(call.payload, call.service.clock.now(), "http")
    if isinstance(report, Unread):
        return NOTHING
    lines = await _lines(call, report)
    untold, key = call.service.untold, (report.agent, report.conversation)
    untold.pop(key, None)
    if not lines:
        return NOTHING
    if call.has_hung_up:
        untold[key] = report.at
        while len(untold) > UNTOLD_MOST:
            del untold[next(iter(untold))]
    label = [session_context.LABEL] if any('"' in line for line in lines) else []
    text = "\n".join(["From headcount, which watches the agents on this machine:", *lines, *label])
    return json_answer({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}})


async def _lines(call: Call, report: Report) -> list[str]:
    service, own = call.service, await own_of(call)
    world = service.loop.world
    lines = session_context.open_elsewhere(world, report.agent, report.conversation, own)
    before = session_context.predecessor(world, report.agent, report.conversation, own)
    if before is not None and before.ended is not None:
        releases = await service.store.history(
            types=("claim.released",), since=before.ended.at - CLOCK_SLACK, limit=RELEASES_MOST
        )
        lines += session_context.held_before(world, session_context.freed_at_death(before, releases))
    if cwd := await service.worktrees.spaces.cwd_of(call.actor.caller, report.details.cwd):
        cwds = {each.cwd for each in world.open_sessions() if each.cwd}
        repos = await service.worktrees.repos({cwd, *cwds})
        here = repos.get(cwd)
        lines += session_context.neighbours(world, here, repos, report.conversation, own)
    return lines
