"""The MCP SDK's own client, as an agent runs it: a child of the agent starts `headcount mcp` and calls its tools.

Run as a program: `python -m tests.rig.agents.mcp_client CALLS ANSWERS`, both JSON files.
"""

import asyncio
import json
import os
import shlex
import sys
import uuid
from pathlib import Path
from typing import Any

from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon

ROOT = Path(__file__).parents[3]


async def _ask(calls: list[list[Any]]) -> dict[str, Any]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    words = StdioServerParameters(
        command=sys.executable, args=["-m", "headcount", "mcp"], env=dict(os.environ)
    )
    async with stdio_client(words) as (reading, writing), ClientSession(reading, writing) as session:
        met = await session.initialize()
        tools = (await session.list_tools()).tools
        answers = [await session.call_tool(name, given) for name, given in calls]
    return {
        "instructions": met.instructions,
        "tools": [tool.model_dump(mode="json") for tool in tools],
        "answers": [answer.model_dump(mode="json") for answer in answers],
    }


def main() -> None:
    calls, answers = map(Path, sys.argv[1:])
    found = asyncio.run(_ask(json.loads(calls.read_text())))
    answers.with_suffix(".new").write_text(json.dumps(found))
    answers.with_suffix(".new").rename(answers)


class Spoken:
    """What came back: `data[n]` is the structured content of the n-th call, `text[n]` its words."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.instructions: str = found["instructions"]
        self.tools: dict[str, Any] = {tool["name"]: tool for tool in found["tools"]}
        self.data = [answer["structuredContent"] for answer in found["answers"]]
        self.text = [answer["content"][0]["text"] for answer in found["answers"]]
        self.failed = [answer["isError"] for answer in found["answers"]]


def speak(agent: Agent, daemon: Daemon, *calls: tuple[str, dict[str, Any]], env: str = "") -> Spoken:
    """As the agent's child. The agent is told of nothing: only who its parent is says who asks."""
    place = agent.cwd / f"mcp-{uuid.uuid4().hex}"
    place.with_suffix(".calls").write_text(json.dumps(calls))
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in daemon.env.items())
    line = (
        f"cd {shlex.quote(str(ROOT))}; {settings} {env} {shlex.quote(sys.executable)} -m tests.rig.agents.mcp_client "
        f"{place}.calls {place}.answers 2>{place}.err; echo $?"
    )
    code = agent.run(f"/bin/sh -c {shlex.quote(line)}")
    assert code == "0", place.with_suffix(".err").read_text()
    return Spoken(json.loads(place.with_suffix(".answers").read_text()))


if __name__ == "__main__":
    main()
