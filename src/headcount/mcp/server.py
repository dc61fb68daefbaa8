"""The server: our tools in the words of the MCP SDK, over stdio.

Rules of this file
  1. One process for one agent, its child; it ends when the agent closes the pipe.
  2. Nothing but the protocol is written to stdout.
  3. A call that the agent cancels is cancelled here, and its place in line is given up.

Not here: what a tool does (tools.py), what it says (answers.py).
"""

import asyncio
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from headcount import __version__
from headcount.client.aio import AsyncClient
from headcount.mcp.answers import Answer
from headcount.mcp.skill import SKILL
from headcount.mcp.tools import TOOLS, Tool, call


def run() -> None:
    asyncio.run(_serve())


async def _serve() -> None:
    async with AsyncClient() as client, stdio_server() as (reading, writing):
        server = server_of(client)
        await server.run(reading, writing, server.create_initialization_options())


def server_of(client: AsyncClient) -> "Server[Any, Any]":
    server: Server[Any, Any] = Server("headcount", version=__version__, instructions=SKILL)

    @server.list_tools()  # type: ignore[no-untyped-call, untyped-decorator]
    async def listed() -> list[types.Tool]:
        return [_described(tool) for tool in TOOLS.values()]

    @server.call_tool()  # type: ignore[untyped-decorator]
    async def called(name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        return _result(await call(TOOLS[name], client, arguments))

    return server


def _described(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        readOnlyHint=tool.only_reads, destructiveHint=False, idempotentHint=True, openWorldHint=False
    )
    return types.Tool(name=tool.name, description=tool.says, inputSchema=tool.schema, annotations=hints)


def _result(answer: Answer) -> types.CallToolResult:
    """Some agents show their model the text, some the data: both have the words."""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        structuredContent={"says": answer.text, **answer.data},
        isError=answer.is_fault,
    )
