"""Processes: one interface, a Linux adapter on pidfds and a portable one.

Enters: pids and remembered process identities.
Leaves: verdicts with their evidence, deaths, facts about a process.
"""
