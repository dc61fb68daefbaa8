"""Agent CLIs: what their processes, hooks and files look like.

Enters: process facts, hook payloads and the agents' own files.
Leaves: reports, registry records and conversation lines in Headcount's terms; planned changes of settings files.
"""
