"""OpenCode: processes, plugin, database."""
