"""Words and tables for people: one place for the CLI, the terminal UI and MCP.

Enters: rows as the wire has them.
Leaves: lines of cleaned text.
"""
