"""Gemini CLI: processes, hooks, chats."""
