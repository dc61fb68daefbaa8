"""Codex: recognise its processes, read its rollouts and their locks, translate and install its hooks.

Enters: process facts with open files, hook payloads, and rollout files.
Leaves: reports, the conversations that a process has open, glimpses and lines of conversations.
"""

NAME = "codex"
