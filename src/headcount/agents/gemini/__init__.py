"""Gemini CLI: a launcher process and its session, hook events, chat files.

Enters: its processes, hook payloads and chat files.
Leaves: reports, conversation lines.
"""

NAME = "gemini"
