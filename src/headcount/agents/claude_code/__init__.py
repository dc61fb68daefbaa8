"""Claude Code: recognise its processes, read its registry and transcripts, translate and install its hooks.

Enters: process facts, hook payloads, and files below its configuration directories.
Leaves: reports, registry records, glimpses and lines of conversations, the branches of a transcript.
"""

NAME = "claude-code"
