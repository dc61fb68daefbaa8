"""Checks of `headcount doctor`, and the redacted report about one session.

Enters: answers of the daemon, files around it.
Leaves: findings with a next step.
"""
