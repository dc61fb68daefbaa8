"""Gemini CLI: recognise its launcher and its sessions, read its chats, translate and install its hooks.

Enters: process facts, hook payloads, and chat files.
Leaves: reports, glimpses and lines of conversations.
"""

NAME = "gemini"
