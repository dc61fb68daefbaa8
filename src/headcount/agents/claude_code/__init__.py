"""Claude Code: processes, hook events, registry files, transcripts, settings file.

Enters: its processes, hook payloads and files under its configuration directories.
Leaves: reports, registry records, conversation lines.
"""

NAME = "claude-code"
