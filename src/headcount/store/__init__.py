"""Storage: what the daemon asks of a store, the form of rows, and the SQL that both databases use.

Enters: events and rows to commit.
Leaves: what was stored, as core values, or a fault that names the next step.
"""
