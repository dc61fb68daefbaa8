"""The agents that headcount knows.

Rules of this file
  1. One line an agent. Whoever needs "all agents" walks this table.
"""

from headcount.agents.claude_code.adapter import CLAUDE_CODE
from headcount.agents.port import Agent

AGENTS: dict[str, Agent] = {agent.name: agent for agent in (CLAUDE_CODE,)}
