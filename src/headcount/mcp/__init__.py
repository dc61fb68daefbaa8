"""The MCP server: agents ask and coordinate by tools. A process of its own, over stdio.

Enters: tool calls of one agent.
Leaves: results as text and data.
"""
