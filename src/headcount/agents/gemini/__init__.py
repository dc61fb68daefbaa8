"""Gemini CLI: a launcher and its session, told by hooks and by its chats."""
