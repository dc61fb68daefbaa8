"""OpenCode: one process with many conversations, a plugin of ours, an SQLite file of its own.

Enters: its processes, what our plugin reports, its database.
Leaves: reports, open conversations, conversation lines.
"""

NAME = "opencode"
