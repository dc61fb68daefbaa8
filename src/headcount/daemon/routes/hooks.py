"""Hooks over HTTP: for wrappers, other hosts' hooks and older set-ups. The mailbox is the usual way.

Rules
  1. A report is accepted whatever pid it names; a pid that is not believed binds nothing, and
     `explain` says why.
  2. The walk up from the peer is done while the peer waits.
"""

from msgspec.structs import replace

from headcount.agents.catalog import AGENTS
from headcount.agents.interface import Unread
from headcount.daemon.api.route import Call
from headcount.daemon.http.answer import json_answer
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.identity.reporting_process import first_bound

PID_HEADERS = ("x-claude-pid", "x-agent-pid")


async def take_report(call: Call) -> object:
    agent = AGENTS.get(call.path("agent"))
    if agent is None:
        raise HttpRefusal(404, "no-such-agent", f"Known agents: {', '.join(AGENTS)}.")
    anchors, peer = call.parts.anchors, call.peer
    named = [text for name in PID_HEADERS if (text := call.header(name)) is not None]
    anchor = first_bound(
        lambda: anchors.by_peer(agent, peer),
        *(lambda text=text: anchors.by_header(agent, text) for text in named),
    )
    payload = call.payload
    report = agent.translate(payload, call.parts.clock.now(), "http")
    if isinstance(report, Unread):
        raise HttpRefusal(400, "unreadable", f"This is no report of {agent.name}: {report.why}.")
    call.parts.drift.see(agent, report.event, payload)
    facts = None if anchor.alive or peer is None else peer.look(call.parts.processes)
    sender = None if facts is None else facts.identity
    (report,) = await call.parts.worktrees.resolved([replace(report, anchor=anchor)], sender)
    session = await call.parts.loop.ask(report)
    return json_answer({"accepted": True, "session": session}, 202)
