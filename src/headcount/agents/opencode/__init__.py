"""OpenCode: recognise its processes, read its database, translate what our plugin reports, install the plugin.

Enters: process facts, the plugin's payloads, and its SQLite file. One process has many conversations.
Leaves: reports, the conversation that a process was started with, glimpses and lines of conversations.
"""

NAME = "opencode"
