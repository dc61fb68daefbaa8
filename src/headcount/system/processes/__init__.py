"""Processes: look at one, prove that it lives or died, and hear of its end.

Enters: pids and remembered process identities.
Leaves: facts, verdicts with their evidence, each death once, handles that may be signalled.
"""
