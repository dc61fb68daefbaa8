"""Writing hooks and MCP entries into agents' settings files, and the shell lines of the hooks."""
