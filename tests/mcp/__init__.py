"""The MCP server, called by the SDK's own client."""
