"""Agent CLIs: what their processes, hooks and own files look like, and how our hooks are installed.

Enters: process facts, hook payloads, and the agents' own files.
Leaves: reports, registry records and conversation lines in Headcount's terms; planned changes of settings files.
"""
