"""The MCP face: agents ask and coordinate by tools. A process of its own, started by the agent, over stdio."""
