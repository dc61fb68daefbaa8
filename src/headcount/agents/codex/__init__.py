"""Codex: processes, hook events, rollout files and their locks.

Enters: its processes, hook payloads and rollout files.
Leaves: reports, open conversations, conversation lines.
"""

NAME = "codex"
