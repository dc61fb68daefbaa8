"""Processes: read one, prove that it is alive or dead, and watch for its end.

Enters: pids and remembered process identities.
Leaves: facts, verdicts with their evidence, each death once, handles that may be signalled.
"""
