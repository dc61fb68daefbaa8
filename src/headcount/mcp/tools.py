"""The tools: what an agent may ask and do through MCP.

Rules
  1. No tool takes a session to act as. Who is calling is the kernel's answer about this process, which is a child
     of the agent: nothing that a model writes changes it.
  2. A tool is a line in TOOLS; its schema is what it accepts, and nothing else is.
  3. Waiting has an end before the caller's own patience does: one asks again.

Not here: words (tool_results.py), the protocol (server.py), who gets what (the daemon).
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypedDict

from headcount import times
from headcount.client.aio import AsyncClient
from headcount.client.claims import item_here
from headcount.client.faults import ClientFault, NotFound, Refused
from headcount.client.values import Claim, Session
from headcount.core.values.item import BadItem, Item, overlaps, parse_item
from headcount.mcp import tool_results
from headcount.mcp.tool_results import ToolResult

ITEM: dict[str, object] = {"type": "string", "minLength": 3, "maxLength": 1000,
        "description": "kind:value, as task:AUTH-12, branch:api#main, port:5432, path:src/auth/**"}  # fmt: skip
NOTE: dict[str, object] = {
    "type": "string",
    "maxLength": 500,
    "description": "what for; other agents and people see it",
}


class McpArguments(TypedDict, total=False):
    """What a caller may give; each tool's schema says which of these."""

    item: str
    note: str
    seconds: float
    to: str
    fence: int
    directory: str
    ended: bool


Run = Callable[[AsyncClient, McpArguments], Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    says: str
    run: Run
    takes: dict[str, dict[str, object]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    only_reads: bool = False

    @property
    def schema(self) -> dict[str, object]:
        return {
            "type": "object",
            "properties": self.takes,
            "required": list(self.needs),
            "additionalProperties": False,
        }


async def call(tool: Tool, client: AsyncClient, arguments: McpArguments) -> ToolResult:
    """A refusal is an answer; only what keeps anybody from answering is a fault."""
    try:
        return await tool.run(client, arguments)
    except Refused as refused:
        return tool_results.refused(refused.message, refused.hint, refused.code)
    except ClientFault as fault:
        return tool_results.fault(fault.message, fault.hint)


async def _who_is_here(client: AsyncClient, given: McpArguments) -> ToolResult:
    sessions = await client.sessions(ended=bool(given.get("ended")))
    below = str(given.get("directory") or "").rstrip("/")
    if below:
        sessions = [each for each in sessions if f"{each.cwd or ''}/".startswith(f"{below}/")]
    return tool_results.here(sessions, await _me(client), time.time())


async def _who_holds(client: AsyncClient, given: McpArguments) -> ToolResult:
    claims, wanted = await client.claims(), given.get("item")
    if wanted is not None:
        item = parse_item(item_here(wanted), stored=True)
        if isinstance(item, BadItem):
            return tool_results.refused(item.sentence, None, "bad-item")
        claims = [each for each in claims if overlaps(Item(each.item), item)]
    return tool_results.held(claims, wanted, await _me(client))


async def _claim(client: AsyncClient, given: McpArguments) -> ToolResult:
    claim = await client.claim(given["item"], note=given.get("note"))
    return tool_results.asked(claim, await _holder(client, claim), 0.0)


async def _wait_for_claim(client: AsyncClient, given: McpArguments) -> ToolResult:
    wait = min(float(given.get("seconds") or times.MCP_WAIT), times.MCP_WAIT_MOST)
    began = time.monotonic()
    claim = await client.claim(given["item"], note=given.get("note"), wait=wait)
    return tool_results.asked(claim, await _holder(client, claim), time.monotonic() - began)


async def _release(client: AsyncClient, given: McpArguments) -> ToolResult:
    await client.release(given["item"])
    return tool_results.given_back(given["item"])


async def _handoff(client: AsyncClient, given: McpArguments) -> ToolResult:
    return tool_results.handed(await client.handoff(given["item"], given["to"]))


async def _check(client: AsyncClient, given: McpArguments) -> ToolResult:
    return tool_results.checked(
        given["item"], given["fence"], await client.check(given["item"], given["fence"])
    )


async def _my_session(client: AsyncClient, given: McpArguments) -> ToolResult:
    del given
    me = await client.whoami()
    return tool_results.myself(me, await _session(client, me.session if me else None))


async def _me(client: AsyncClient) -> str | None:
    try:
        me = await client.whoami()
    except Refused:
        return None  # it cannot be told who we are; looking needs no name
    return me.session if me is not None else None


async def _holder(client: AsyncClient, claim: Claim) -> Session | None:
    return None if claim.granted or claim.holder is None else await _session(client, claim.holder.session)


async def _session(client: AsyncClient, wanted: str | None) -> Session | None:
    try:
        return await client.session(wanted) if wanted else None
    except NotFound:
        return None


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "who_is_here",
            "Which coding agents are alive on this machine, what each is doing, and which of them is you.",
            _who_is_here,
            {
                "directory": {"type": "string", "description": "only those working at or below this absolute path"},
                "ended": {"type": "boolean", "description": "also those that ended"},
            },
            only_reads=True,
        ),
        Tool(
            "who_holds",
            "Which items are claimed, by whom and since when. With an item: who holds it.",
            _who_holds,
            {"item": ITEM},
            only_reads=True,
        ),
        Tool(
            "claim",
            "Take an item for yourself, so that no other agent works on it. Says at once whether it is yours or who has it.",
            _claim,
            {"item": ITEM, "note": NOTE},
            ("item",),
        ),
        Tool(
            "wait_for_claim",
            "Wait in line for an item that another agent holds. If it is still held afterwards, pick other work or ask again.",
            _wait_for_claim,
            {"item": ITEM, "note": NOTE, "seconds": {"type": "number", "exclusiveMinimum": 0, "description": "how long to wait"}},
            ("item",),
        ),
        Tool("release", "Give an item back that you claimed.", _release, {"item": ITEM}, ("item",)),
        Tool(
            "handoff",
            "Give an item that you hold to another live session.",
            _handoff,
            {"item": ITEM, "to": {"type": "string", "description": "the other session: its id or its name"}},
            ("item", "to"),
        ),
        Tool(
            "check",
            "Whether a claim's number (fence) is still the current one of its item.",
            _check,
            {"item": ITEM, "fence": {"type": "integer", "minimum": 0}},
            ("item", "fence"),
            only_reads=True,
        ),
        Tool("my_session", "Which session you are, how that is known, and what you hold.", _my_session, only_reads=True),
    )
}  # fmt: skip
