"""Truth on disk: what the daemon asks of a store, and what both databases share.

Enters: events and rows to commit.
Leaves: what was stored, as core values.
"""
